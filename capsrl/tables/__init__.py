"""Tables of texts and of propositions: CSV, TSV, JSON lines, Parquet, pandas and polars.

documents  read the texts of tables, text files and folders
records    read the rows of CSV files and JSON lines, the bad ones included
"""

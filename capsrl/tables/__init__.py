"""Tables of texts and of propositions: CSV, TSV, JSON lines, Parquet, pandas and polars.

documents  read the texts of tables, text files and folders
records    read the rows of CSV files and JSON lines, the bad ones included
parquet    read Parquet files
columns    the columns of tables of propositions
cells      make rows of them from sentences
labeled    a sentence and its document, on the way from the reader to a table
writing    write rows as CSV, TSV and Parquet
frame      make DataFrames
"""

"""Tables of texts and of propositions: CSV, TSV, JSON lines, Parquet, pandas and polars.

documents  read the texts of tables, text files and folders
reading    Document, and what all inputs share
records    read the rows of CSV files and JSON lines, the bad ones included
parquet    read Parquet files
columns    the columns of tables of propositions
cells      make rows of them from sentences
pipeline   split, label and count documents, for `capsrl label` and `capsrl bulk`
writing    write rows as CSV, TSV and Parquet
frame      make DataFrames
"""

"""Search labeled files: a query becomes SQL, which DuckDB runs over rows of arguments."""

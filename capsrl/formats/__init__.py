"""Read and write corpus files in several formats."""

"""Make unlabeled English text from public repositories, for distillation.

sources    the table: repositories, commits, files, licenses, whom to cite
checkout   reads the files of a commit from a git repository on disk
readers    turn a file into sentences, one function per kind of file
markup     finds the prose in HTML and Markdown
choosing   keeps sentences of prose, once each, that no held-out sentence overlaps
making     writes one file per source, and a README with counts, commits and licenses

    python -m corpora text --help
"""

"""Distillation: teachers label text with their probabilities, from which students learn.

text.py         reads unlabeled text
label.py        labels sentences with the probabilities of teachers
soft_labels.py  the soft labels of some sentences as arrays, and their file
shards.py       a folder of such files with a manifest
corpus.py       turns the files of a folder into training batches
"""

"""Teachers: models that label text with their probabilities, from which a student learns.

text.py      reads unlabeled text
ensemble.py  several networks as one that averages their probabilities
label.py     labels sentences with the probabilities of teachers
noise.py     replaces some sentences by noisy ones, which noisy_words.py makes
shards.py    writes a folder of soft labels, which `capsrl.train.soft_labels` reads

This package is not installed with capsrl. Run it from a clone:

    python -m teachers TEACHER... --text FILE --out FOLDER
"""

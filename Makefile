# make demo, make test: each sets up what it needs in .venv and runs. Nothing but Python 3.11 and make is assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: install demo test test-all check bench clean

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: install
	$(BIN)/capsrl label "Mira sold her bicycle to a neighbour because she never used it."
	$(BIN)/capsrl label --trace "She read her son a story before dinner."

test: install
	$(BIN)/pytest -m "not slow and not gpu"

test-all: install
	$(BIN)/pytest -m "not gpu"

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# benchmarks/text.py and benchmarks/raw_text.py want a treebank as argument.
bench: install
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/routing.py
	$(BIN)/python benchmarks/elmo.py
	$(BIN)/python benchmarks/label.py
	$(BIN)/python benchmarks/serve.py

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache

# make demo labels two sentences, make test runs the tests. Each installs what it needs into .venv;
# Python 3.11 and make are all that must be there.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo install test test-all test-light test-wheel check bench challenge clean

# What labeling needs.
$(VENV)/label: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

# What developing needs besides.
$(VENV)/dev: $(VENV)/label
	$(PIP) -e ".[dev]"
	touch $@

install: $(VENV)/dev

demo: $(VENV)/label
	$(BIN)/capsrl label "Mira sold her bicycle to a neighbour because she never used it."
	$(BIN)/capsrl label --trace "I consider Omar a friend."

# Two processes; each file of tests stays in one of them, since its fixtures are shared.
test: install
	$(BIN)/pytest -m "not slow and not gpu" -n 2 --dist loadfile --cov=capsrl --cov-report=term:skip-covered

test-all: install
	$(BIN)/pytest -m "not gpu" -n 2 --dist loadfile

# The parts that need no torch, in an environment without it: for other versions of Python.
test-light:
	$(PYTHON) -m venv .venv-light
	.venv-light/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e . hypothesis jsonschema pytest
	.venv-light/bin/pytest -q tests/text tests/data tests/score tests/show tests/test_sentence.py

# The package as users install it: built, installed into an empty environment, used elsewhere.
test-wheel:
	rm -rf build dist/wheel
	$(PYTHON) -m venv --clear dist/wheel
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist/wheel .
	dist/wheel/bin/pip install --quiet --disable-pip-version-check -c constraints.txt \
		"capsrl @ file://$(CURDIR)/$$(ls dist/wheel/capsrl-*.whl)"
	cd dist/wheel && ./bin/capsrl label "Hiti signed the contract." | grep -A 3 "sign.0"
	cd dist/wheel && ./bin/python -c "import capsrl; print(capsrl.load().label('Dogs bark.')[0])"

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# benchmarks/text.py and benchmarks/raw_text.py need a treebank as argument.
bench: install
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/score.py
	$(BIN)/python benchmarks/routing.py
	$(BIN)/python benchmarks/elmo.py
	$(BIN)/python benchmarks/label.py
	$(BIN)/python benchmarks/serve.py

# The share of the challenge set that the shipped model gets right.
challenge: install
	$(BIN)/python -m benchmarks.challenge

clean:
	rm -rf $(VENV) .venv-light build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

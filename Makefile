# make demo labels two sentences, make test runs the tests. Each installs what it needs into .venv;
# Python 3.11 and make are all that must be there.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := pip install --quiet --disable-pip-version-check -c constraints.txt
PIP := $(BIN)/$(PIP_INSTALL)
# Runs a command without a network, where the system allows that.
OFFLINE = $(shell unshare --map-root-user --net true 2>/dev/null && echo unshare --map-root-user --net)

# An old Python would end in a long error of pip.
define CHECK_PYTHON
import sys
if sys.version_info < (3, 11):
    sys.exit("error: expected Python 3.11 or newer, got %d.%d; name another: make PYTHON=python3.11 ..." % sys.version_info[:2])
endef
export CHECK_PYTHON
NEW_VENV := $(PYTHON) -c "$$CHECK_PYTHON" && $(PYTHON) -m venv

.PHONY: demo install test test-slow test-gpu test-all test-light wheel test-wheel hashes check bench torture challenge clean

# What labeling needs.
$(VENV)/label: pyproject.toml constraints.txt
	$(NEW_VENV) $(VENV)
	$(PIP) -e .
	touch $@

# What developing needs besides.
$(VENV)/dev: $(VENV)/label
	$(PIP) -e ".[dev]"
	touch $@

install: $(VENV)/dev

demo: $(VENV)/label
	$(BIN)/capsrl label "Mira sold her bicycle to a neighbour because she never used it."
	$(BIN)/capsrl label --trace "They elected her president."

# Two processes; each file of tests stays in one of them, since its fixtures are shared.
test: install
	$(BIN)/pytest -m "not slow and not gpu" -n 2 --dist loadfile --cov=capsrl --cov-report=term:skip-covered

# Those that take more than ten seconds: kills of bulk runs, resumed trainings, whole corpora.
test-slow: install
	$(BIN)/pytest -m "slow and not gpu" -n 2 --dist loadfile

test-gpu: install
	@$(BIN)/python -c "import sys, torch; torch.cuda.is_available() or sys.exit('error: torch finds no GPU on this machine')"
	$(BIN)/pytest -m gpu

test-all: test test-slow

# All that needs no torch, in an environment without it: for other versions of Python.
LIGHT := $(addprefix tests/,text files formats frames score show tables predict test_challenge.py test_genre_texts.py test_device.py test_label_text.py \
	test_models.py test_options.py test_senses.py test_sentence.py)
test-light:
	$(NEW_VENV) .venv-light
	.venv-light/bin/$(PIP_INSTALL) -e ".[tables]" hypothesis jsonschema pandas polars pytest pytest-xdist tokenizers
	.venv-light/bin/pytest -q -m "not slow and not gpu" -n 2 --dist loadfile $(LIGHT)

.venv-release/tools: constraints.txt
	$(NEW_VENV) .venv-release
	.venv-release/bin/$(PIP_INSTALL) build twine
	touch $@

# The sdist, and the wheel that is built from it: into dist, checked, ready to upload.
wheel: .venv-release/tools
	rm -rf dist
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt .venv-release/bin/python -m build
	.venv-release/bin/python -m release.contents dist
	.venv-release/bin/twine check --strict dist/*

# The package as users get it: the wheel in an empty environment, without a clone or a network, with
# the dependencies whose hashes are listed; `pip check` misses one that is not.
test-wheel: wheel
	$(NEW_VENV) --clear .venv-wheel
	.venv-wheel/bin/$(PIP_INSTALL) --require-hashes -r release/requirements.txt
	.venv-wheel/bin/$(PIP_INSTALL) --no-deps dist/capsrl-*.whl
	.venv-wheel/bin/pip check
	$(OFFLINE) .venv-wheel/bin/python -I release/smoke.py

# The hashes of what labeling needs, after constraints.txt has changed.
hashes: .venv-release/tools
	.venv-release/bin/python -m release.hashes release/requirements.txt

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
	$(BIN)/python benchmarks/serve.py

# Mutated inputs for all readers and model files, kills, faults and load: docs/reliability.md.
COUNT ?= 30000
KILLS ?= 100
LOAD ?= 3600
SEED ?= 1
torture: install
	$(BIN)/python -m torture --count $(COUNT) --seed $(SEED)
	$(BIN)/python -m torture.kills --count $(KILLS) --seed $(SEED)
	$(BIN)/pytest tests/files/test_faults.py tests/test_isolation.py
	$(BIN)/python benchmarks/serve.py --seconds $(LOAD)

# The share of the challenge set that the shipped model gets right.
challenge: install
	$(BIN)/python -m benchmarks.challenge

clean:
	rm -rf $(VENV) .venv-light .venv-release .venv-wheel build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

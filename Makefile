# The README's two commands: `make demo` and `make test`. `make test-all` adds the heavy engines and two browsers,
# `make test-oldest` the oldest versions that pyproject.toml allows. `make audit` holds what is installed against locks/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported (most of them never are) and kept, although containers often say
# otherwise: every process would compile all that it imports, which takes it seconds.
unexport PYTHONDONTWRITEBYTECODE
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
INSTALL := $(BIN)/python $(PIP)
# Every install uses the versions that the project is tested with, and files whose hashes are in locks/. The wheels of
# torch come per device, each with a hash of its own, so that torch is held at its version alone.
WITH_TORCH := dev browser heavy docs
SETTINGS := pyproject.toml constraints.txt
LOCKS := $(wildcard locks/*.txt)
SIDE_BY_SIDE := -n auto --dist loadfile
# Of marked tests only the files are collected that have some.
having = -m $(1) $(shell grep -rlE --include='test_*.py' 'mark\.$(1)\b' tests)
QUICK := not heavy and not browser and not docs and not thorough and not slow and not validity and not attack

RELEASE_VENV := .venv-release
OLDEST_VENV := .venv-oldest
OLDEST := $(OLDEST_VENV)/bin
# What meets dependencies: tables, files, plots, pages, estimators.
WITH_OLDEST := tests/reading tests/cohorts tests/show tests/datasets tests/test_columns.py tests/test_selector.py \
	tests/cli/test_run.py tests/cli/test_ask.py

.PHONY: audit coverage demo docs lint lock test test-all test-attacks test-slow test-bounds test-browser test-heavy test-validity test-oldest bench bench-quick paper release fuzz reliability format clean

demo: $(VENV)/.demo
	$(BIN)/misfeat demo --out misfeat-demo --open

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# Kernels are compiled while the code is looked at.
test: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint $(VENV)/.tried
	$(BIN)/pytest -m "$(QUICK)" $(SIDE_BY_SIDE)

# The same with the share of lines and branches that tests reach, which takes half as long again; below 95 % it fails.
# Draws the badges of the README from it.
coverage: $(VENV)/.tried
	$(BIN)/pytest -m "$(QUICK)" $(SIDE_BY_SIDE) --cov --cov-report=term --cov-report=json
	$(BIN)/python docs/images/make_badges.py

test-all: test-slow test-validity test-bounds test-browser test-heavy test-attacks

# Real tables, statistics, and tests that fit many times.
test-slow: $(VENV)/.tried
	$(BIN)/pytest $(call having,slow) $(SIDE_BY_SIDE)

# Processes that are killed or starved, drawn tables: some cases of each slow attack, one and a half CPU minutes; `make reliability` has them all.
test-attacks: $(VENV)/.tried
	$(BIN)/pytest $(call having,attack) $(SIDE_BY_SIDE)

# Coverage, unbiasedness and order against known populations, with tolerances from the binomial.
test-validity: $(VENV)/.tried
	$(BIN)/pytest -m validity tests/validity $(SIDE_BY_SIDE)

# 100,000 drawn cases (an hour or two): tables, questions and files of every kind.
fuzz: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.attacks.fuzz --cases 100000 --seed 1 --out benchmarks/reliability/after

# All attacks, and the page that tells how their cases ended; one and a half hours, most of it fuzzing.
ATTACKS := $(filter-out __init__ tally fuzz,$(basename $(notdir $(shell grep -l run_script tests/attacks/*.py))))
reliability: fuzz
	for attack in $(ATTACKS); do $(BIN)/python -m tests.attacks.$$attack --out benchmarks/reliability/after || exit 1; done
	$(BIN)/python benchmarks/reliability/make_page.py

# The engines that take long to start: Spark, Dask, Ibis, PostgreSQL.
test-heavy: $(VENV)/.heavy
	$(BIN)/pytest $(call having,heavy) -n 2 --dist loadgroup

# The report in real browsers: Chromium and Firefox from the system's packages.
test-browser: $(VENV)/.browser
	$(BIN)/pytest $(call having,browser) -n 2 --dist loadgroup

# The compiled kernels once more, with every index checked (and a cache of its own).
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR=$(VENV)/numba-bounds \
		$(BIN)/pytest $(SIDE_BY_SIDE) -m "$(QUICK)" tests/information tests/lattice \
		tests/completion/transfer tests/completion/test_nearest_neighbours.py \
		tests/completion/test_markov_blanket.py tests/estimation

# Lower bounds are true: an environment of its own with the lowest version of every direct dependency.
OWN_KERNELS := NUMBA_CACHE_DIR=$(abspath $(OLDEST_VENV))/numba
test-oldest: $(OLDEST_VENV)/.test
	$(OWN_KERNELS) $(OLDEST)/misfeat doctor --quiet > $(OLDEST_VENV)/doctor.txt || { cat $(OLDEST_VENV)/doctor.txt; exit 1; }
	$(OWN_KERNELS) $(OLDEST)/pytest -m "$(QUICK)" $(SIDE_BY_SIDE) \
		$(WITH_OLDEST)

# How long fit, answers and report take, beside np.bincount and scikit-learn.
bench-quick: $(VENV)/.dev
	$(BIN)/python -m benchmarks speed --quick

# Every experiment of the paper, and the page of the documentation that shows them; goes on where it was stopped.
paper: $(VENV)/.dev
	$(BIN)/python -m benchmarks paper --out benchmarks/paper
	$(BIN)/python benchmarks/make_pages.py

# Answers held against a known truth (hours; JOBS=16 processes), and their pages. Real tables: MISFEAT_DATA.
JOBS ?= -1
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks population --jobs $(JOBS) --out benchmarks/population
	$(BIN)/python -m benchmarks downstream --jobs $(JOBS) --out benchmarks/downstream
	$(BIN)/python -m benchmarks completion --out benchmarks/completion/size3
	$(BIN)/python benchmarks/make_pages.py

# A release up to the upload: built, checked, and tried in clean environments on every Python that is here.
release: $(RELEASE_VENV)/.tools
	$(RELEASE_VENV)/bin/python .ci/release.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The documentation site in site/: spelling, every script of the gallery, pages (warnings are errors), and what was built.
docs: $(VENV)/.docs
	$(BIN)/codespell README.md CHANGELOG.md docs examples src tests benchmarks
	$(BIN)/codespell --dictionary docs/american.txt README.md CHANGELOG.md $(shell find docs -name '*.md')
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/pytest -m docs tests/docs

# What is installed is what the locks say, and the files that they name still have their hashes.
audit: $(VENV)/.dev
	$(BIN)/python .ci/audit.py

# The locks anew, after a change of pyproject.toml or constraints.txt.
lock: $(VENV)/.dev
	$(BIN)/python .ci/lock.py

clean:
	rm -rf $(VENV) $(OLDEST_VENV) $(RELEASE_VENV) dist misfeat-demo site test-artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		.import_linter_cache .coverage

# A stamp says that the environment holds an extra; it is renewed when the settings change.
$(BIN)/python $(OLDEST)/python $(RELEASE_VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "misfeat needs Python 3.11 or newer"'
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(VENV)/.demo $(VENV)/.dev $(VENV)/.browser $(VENV)/.heavy $(VENV)/.docs: $(VENV)/.%: $(SETTINGS) $(LOCKS) | $(BIN)/python
	@echo "Installing misfeat[$*] into $(VENV) ($(if $(filter demo,$*),about a minute,a few minutes) the first time)"
	$(INSTALL) --no-deps --require-hashes --requirement locks/$*.txt
	$(if $(filter $*,$(WITH_TORCH)),$(INSTALL) --constraint constraints.txt torch)
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.tried: $(VENV)/.dev
	@echo "Trying misfeat out, which compiles the kernels once"
	@$(BIN)/misfeat doctor --quiet > $(VENV)/doctor.txt || { cat $(VENV)/doctor.txt; exit 1; }
	@$(BIN)/python .ci/compile.py
	@touch $@

$(OLDEST_VENV)/.test: $(SETTINGS) .ci/oldest.py | $(OLDEST)/python
	@echo "Installing the oldest versions that misfeat allows into $(OLDEST_VENV)"
	$(OLDEST)/python $(PIP) --constraint constraints.txt packaging
	$(OLDEST)/python .ci/oldest.py > $(OLDEST_VENV)/constraints.txt
	$(OLDEST)/python $(PIP) --constraint $(OLDEST_VENV)/constraints.txt --editable '.[test]'
	@touch $@

$(RELEASE_VENV)/.tools: $(SETTINGS) locks/release.txt | $(RELEASE_VENV)/bin/python
	$(RELEASE_VENV)/bin/python $(PIP) --no-deps --require-hashes --requirement locks/release.txt
	@touch $@

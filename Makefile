# The README's two commands: `make demo` and `make test`. `make test-all` adds the heavy engines and a browser.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every install uses the pinned versions that the project is tested with.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
SETTINGS := pyproject.toml constraints.txt

.PHONY: demo test test-all test-bounds test-browser format clean

demo: $(VENV)/.demo
	$(BIN)/misfeat demo --out misfeat-demo --open

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not heavy and not browser and not thorough" -n auto --dist loadfile --cov --cov-report=term

test-all: $(VENV)/.heavy test-bounds test-browser
	$(BIN)/pytest -m heavy

# The report in a real browser: Chromium from the system's packages.
test-browser: $(VENV)/.browser
	$(BIN)/pytest -m browser tests/show/report

# The compiled kernels once more, with every index checked (and a cache of its own).
test-bounds: $(VENV)/.dev
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/numba-bounds \
		$(BIN)/pytest -m "not heavy and not browser" tests/information tests/lattice \
		tests/completion/transfer tests/completion/baselines/knn

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) misfeat-demo test-artefacts .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

# A stamp says that the environment holds an extra; it is renewed when the settings change.
$(BIN)/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "misfeat needs Python 3.11 or newer"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo $(VENV)/.dev $(VENV)/.browser $(VENV)/.heavy: $(VENV)/.%: $(SETTINGS) | $(BIN)/python
	@echo "Installing misfeat[$*] into $(VENV) (a few minutes the first time)"
	$(INSTALL) --editable '.[$*]'
	@echo "Trying it out, which compiles the kernels once"
	@$(BIN)/misfeat doctor --quiet > $(VENV)/doctor.txt || { cat $(VENV)/doctor.txt; exit 1; }
	@touch $@

# Two commands matter: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
BIN := .venv/bin
C_SOURCES := $(wildcard firmware_model/c/*.c firmware_model/c/*.h firmware_model/batch/*.[ch] firmware_model/_binding_build.py \
    host_sim/c/*.c host_sim/c/*.h host_sim/_sim_build.py)

.PHONY: demo test test-fast lint fuzz soak spec vectors tables clean

demo: .venv/.installed
	@$(BIN)/adamb run oil-laplace --budget 4KiB --seeds 10 --record --plot --out runs/demo --force
	@$(BIN)/adamb report runs/demo --out runs/demo/report.html

test: .venv/.installed-test lint
	$(BIN)/python -m pytest -n 2

test-fast: .venv/.installed-test
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: .venv/.installed-test
	$(BIN)/ruff check .
	@mkdir -p build/mypy/adamb
	@for folder in firmware_model host_sim budgets tools; do ln -sfn ../../../$$folder build/mypy/adamb/$$folder; done
	$(BIN)/mypy -p adamb.firmware_model -p adamb.host_sim -p adamb.budgets -p adamb.tools

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "setuptools>=77" "cffi>=1.16"
	@touch $@

.venv/.installed: .venv/.created pyproject.toml setup.py $(C_SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e .
	@touch $@

.venv/.installed-test: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e ".[device,cluster,web,dev]"
	@touch $@

# Ten million hostile inputs, about 20 minutes on one core; FUZZ_SECONDS=60 FUZZ_RUNS=0 for a minute.
FUZZ_RUNS ?= 10000000
FUZZ_SECONDS ?= 0
FUZZ_SEED ?= 1
FUZZ_ENGINE ?= own
fuzz:
	$(PYTHON) tests/fault/fuzzing.py --engine $(FUZZ_ENGINE) --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# A million episodes with drift, changes and power cuts, twice, under the sanitizers: less than a minute.
SOAK_EPISODES ?= 1000000
SOAK_SEED ?= 1
soak:
	@mkdir -p build
	$(CC) -std=c99 -g -O2 -fsanitize=address,undefined -fno-sanitize-recover=all -Ifirmware_model/c firmware_model/c/*.c \
	    tests/fault/soak.c -o build/soak
	build/soak $(SOAK_EPISODES) $(SOAK_SEED)

spec: .venv/.installed
	$(BIN)/python tools/generate_spec.py

vectors: .venv/.installed-test
	$(BIN)/python tests/vectors/generate.py

tables: .venv/.installed
	$(BIN)/python -m adamb.tools.documents README.md $(wildcard docs/*.md)

clean:
	rm -rf .venv build runs *.egg-info firmware_model/*.so host_sim/*.so

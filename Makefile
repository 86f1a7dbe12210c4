# Three commands matter: `make demo`, `make device` (tools for boards) and `make test`. Each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes -r requirements
C_SOURCES := $(wildcard firmware_model/c/*.c firmware_model/c/*.h firmware_model/host/batch/*.[ch] firmware_model/host/_binding_build.py \
    host_sim/c/*.[ch] host_sim/c/*/*.[ch] host_sim/_sim_build.py)

.PHONY: demo device chip clock native test campaigns lint analyse prove fuzz fuzz-hour soak mutants release lock floor spec vectors tables size clean

demo: .venv/.installed
	@$(BIN)/adamb run oil-laplace --budget 4KiB --seeds 10 --record --plot --out runs/demo --force
	@$(BIN)/adamb report runs/demo --out runs/demo/report.html

device: .venv/.installed-device

# The tests of the simulated chip; the first start of its WebAssembly tools takes minutes.
chip: .venv/.installed-test .venv/.installed-chip
	$(BIN)/python -m pytest -n 2 tests/chip
	$(BIN)/python tests stores --target cortex-m0

# A benchmark: the clock of engines and chips, placed and routed; renews the tables of docs/chip.md. Minutes.
clock: .venv/.installed-chip
	$(BIN)/python -m adamb.tools.maintain.clock

# The C core under MicroPython, built from its sources: in MPY_DIR, or fetched from Debian. Builds take minutes.
native: .venv/.installed-test
	$(BIN)/python -m adamb.tools.device.micropython.sources
	$(BIN)/python -m adamb.tools.device.micropython.pico
	MICROPYTHON=$$($(BIN)/python -c 'from adamb.tools.device.micropython.sources import unix_program as p; print(p(native=False))') \
	    $(BIN)/python -m pytest tests/device/native tests/device/loop/test_on_micropython.py tests/device/loop/test_on_board.py

test: .venv/.installed-test lint
	$(BIN)/python -m pytest -n 2

# What the tests promise again, with more seeds, machines, geometries, mutants and problems. Where Debian has no compiler
# for a processor zig makes the programs: the first time takes a minute.
campaigns: .venv/.installed-test
	ADAMB_MACHINES_BY_ZIG=1 $(BIN)/python -m pytest -n 2 -m campaign

lint: .venv/.installed-test
	$(BIN)/ruff check .
	@mkdir -p build/mypy/adamb
	@for folder in firmware_model host_sim budgets tools; do ln -sfn ../../../$$folder build/mypy/adamb/$$folder; done
	$(BIN)/mypy -p adamb.firmware_model -p adamb.host_sim -p adamb.budgets -p adamb.tools
	$(BIN)/python tools/maintain/analyse.py

# The C part of lint alone.
analyse: .venv/.installed-test
	$(BIN)/python tools/maintain/analyse.py

# Proofs of the C core by CBMC, the long ones too; PROVE="--quick" leaves them out.
PROVE ?=
prove:
	$(PYTHON) tests prove $(PROVE)

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=...")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/.installed: .venv/.created pyproject.toml setup.py requirements/demo.txt $(C_SOURCES)
	$(LOCKED)/demo.txt
	$(INSTALL) --no-build-isolation --no-deps -e .
	@touch $@

.venv/.installed-device: .venv/.installed requirements/device.txt
	$(LOCKED)/device.txt -r requirements/demo.txt
	@mkdir -p build
	@$(BIN)/python -c 'from adamb.tools.device.micropython.interpreter import interpreter_module; interpreter_module()' \
	    2>build/micropython.log || echo "MicroPython is not here yet, it comes with its first use: build/micropython.log"
	@touch $@

.venv/.installed-chip: .venv/.installed-device requirements/chip.txt
	$(LOCKED)/chip.txt -r requirements/device.txt -r requirements/demo.txt
	@touch $@

.venv/.installed-test: .venv/.installed requirements/device.txt requirements/test.txt
	$(LOCKED)/test.txt -r requirements/device.txt -r requirements/demo.txt
	@touch $@

# Ten million hostile inputs, about 20 minutes on one core; FUZZ_SECONDS=60 FUZZ_RUNS=0 for a minute.
FUZZ_RUNS ?= 10000000
FUZZ_SECONDS ?= 0
FUZZ_SEED ?= 1
FUZZ_ENGINE ?= own
fuzz:
	$(PYTHON) tests fuzzing --engine $(FUZZ_ENGINE) --runs $(FUZZ_RUNS) --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

# The hour before a release, with the search of libFuzzer; Debian has it in clang and libclang-rt-14-dev.
FUZZ_HOUR ?= 3600
fuzz-hour:
	$(PYTHON) tests fuzzing --engine libfuzzer --seconds $(FUZZ_HOUR) --seed $(FUZZ_SEED)

# A million episodes with drift, changes and power cuts, twice, under the sanitizers; then a thousand million calls, with
# counters that begin near their ends; then a hundred thousand flipped bits. A minute each.
SOAK_EPISODES ?= 1000000
SOAK_CALLS ?= 1000000000
SOAK_SEED ?= 1
soak:
	@mkdir -p build
	$(CC) -std=c99 -g -O2 -fsanitize=address,undefined -fno-sanitize-recover=all -Ifirmware_model/c firmware_model/c/*.c \
	    tests/fault/soak.c -o build/soak
	build/soak $(SOAK_EPISODES) $(SOAK_SEED)
	$(CC) -std=c99 -O2 -Ifirmware_model/c firmware_model/c/*.c tests/fault/long_run.c -o build/long_run
	build/long_run $(SOAK_CALLS) $(SOAK_SEED)
	$(PYTHON) tests flips --seed $(SOAK_SEED)

# Small changes of the core, each of which a test must notice; what survives has a reason in a list. About ten minutes.
# MUTANTS_SINCE=REVISION takes all that are in lines changed since then.
MUTANTS_N ?= 400
MUTANTS_SEED ?= 1
MUTANTS_JOBS ?= 1
MUTANTS_SINCE ?=
mutants: .venv/.installed-test
	$(BIN)/python tests mutants --n $(MUTANTS_N) --seed $(MUTANTS_SEED) --jobs $(MUTANTS_JOBS) \
	    $(if $(MUTANTS_SINCE),--since $(MUTANTS_SINCE))

# Tests, campaigns and all that searches; its figures go to SECURITY.md, and none may be worse than there. Hours.
release: .venv/.installed-test
	$(BIN)/python tools/maintain/release.py

# Versions and hashes of what `make demo`, `device`, `test` and `chip` install, from the ranges in pyproject.toml: one
# resolution, cut into what each needs beside the files before it. A part of west has no wheel: CI alone installs it.
COMPILE := $(BIN)/uv pip compile --quiet --no-annotate --custom-compile-command "make lock" --generate-hashes \
    --universal --python-version 3.11
beside = --constraint build/lock.txt \
    $$(sed -n '/win32/!s/^\([a-z0-9.-]*\)==.*/--no-emit-package \1/p' $(1:%=requirements/%.txt))
lock: .venv/.installed-test
	@mkdir -p build
	echo setuptools | $(COMPILE) --upgrade --all-extras pyproject.toml - -o build/lock.txt
	echo setuptools | $(COMPILE) --constraint build/lock.txt pyproject.toml - -o requirements/demo.txt
	$(COMPILE) $(call beside,demo) --extra device pyproject.toml -o requirements/device.txt
	$(COMPILE) $(call beside,demo device) --extra dev --extra web --extra cluster pyproject.toml -o requirements/test.txt
	$(COMPILE) $(call beside,demo device) --extra chip pyproject.toml -o requirements/chip.txt
	echo west | $(COMPILE) --constraint build/lock.txt - -o .ci/west.txt
	@for python in 3.11 3.12 3.13; do \
	    $(BIN)/uv pip compile --quiet --python-version $$python --only-binary :all: requirements/*.txt >/dev/null || exit; done

# The lowest versions that pyproject.toml allows, in an environment of their own; warnings of old ones are theirs.
FLOOR := build/floor
floor: .venv/.installed-test
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(FLOOR)/env
	$(BIN)/uv pip compile --quiet --no-header --no-annotate --resolution lowest-direct --only-binary :all: \
	    --extra device --extra cluster --extra web pyproject.toml --output-file $(FLOOR)/lowest.txt
	rm -rf $(FLOOR)/wheel
	$(BIN)/python -m build --no-isolation --wheel --outdir $(FLOOR)/wheel . >$(FLOOR)/build.log
	$(BIN)/uv pip install --quiet --python $(FLOOR)/env/bin/python -r $(FLOOR)/lowest.txt $(FLOOR)/wheel/*.whl \
	    pytest pytest-xdist hypothesis
	$(FLOOR)/env/bin/python -m pytest -q -n 2 -o filterwarnings=default -p no:cacheprovider \
	    tests/cli/test_run.py tests/cli/test_report.py tests/host/sweep tests/host/test_runner.py tests/device/harness

spec: .venv/.installed
	$(BIN)/python tools/maintain/generate_spec.py

vectors: .venv/.installed-test
	$(BIN)/python tests generate

tables: .venv/.installed
	$(BIN)/python -m adamb.tools.maintain.documents README.md firmware_model/DESIGN.md $(wildcard docs/*.md)

# How large the house is.
size: .venv/.installed
	@$(BIN)/python tools/maintain/size.py

clean:
	rm -rf .venv build runs *.egg-info firmware_model/host/*.so host_sim/*.so

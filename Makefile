# Three commands matter: `make demo`, `make device` (tools for boards) and `make test`. Each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes -r requirements
MAINTAIN := $(BIN)/python -m adamb.tools.maintain
C_SOURCES := $(wildcard firmware_model/c/*.c firmware_model/c/*.h firmware_model/host/batch/*.[ch] firmware_model/host/_binding_build.py \
    host_sim/c/*.[ch] host_sim/c/*/*.[ch] host_sim/_sim_build.py)

.PHONY: demo device test lint docs campaigns core release lock size

demo: .venv/.installed
	@rm -rf runs/demo
	@$(BIN)/adamb run oil-laplace --budget 4KiB --seeds 10 --record --plot --out runs/demo
	@$(BIN)/adamb report runs/demo --out runs/demo/report.html

device: .venv/.installed-device

test: .venv/.installed-test lint
	$(BIN)/python -m pytest -n 2

lint: .venv/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check -q .
	@mkdir -p build/mypy/adamb
	@for folder in firmware_model host_sim budgets tools; do ln -sfn ../../../$$folder build/mypy/adamb/$$folder; done
	$(BIN)/mypy -p adamb.firmware_model -p adamb.host_sim -p adamb.budgets -p adamb.tools
	$(MAINTAIN) analyse

# The documentation as a site: build/site/index.html.
docs: .venv/.installed-test
	@$(MAINTAIN) site

# What the tests promise again, with more seeds, machines, geometries, mutants and problems, and what searches for
# faults: ONLY=list lists it, ONLY=NAME ARGS="--help" says more of one.
ONLY ?=
ARGS ?=
campaigns: .venv/.installed-test $(if $(filter chip,$(ONLY)),.venv/.installed-chip)
	@$(BIN)/python tests $(ONLY) $(ARGS)

# After a change of the core: all that follows from it, and a summary of what moved. ONLY="vectors tables" are stages.
core: .venv/.created
	@$(BIN)/python tools/maintain/generate_spec.py
	@$(MAKE) --no-print-directory .venv/.installed-test
	@$(MAINTAIN) core $(ONLY)

# The files of a release, in dist/. `make campaigns ONLY=release` comes before one and takes hours.
release: .venv/.installed-test
	@$(MAINTAIN) release

# How large the house is.
size: .venv/.installed
	@$(MAINTAIN) size

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
	@$(BIN)/python -c 'from adamb.tools.device.micropython import interpreter; interpreter.interpreter_module()' \
	    >build/micropython.log 2>&1 || echo "MicroPython is not here yet, it comes with its first use: build/micropython.log"
	@touch $@

.venv/.installed-chip: .venv/.installed-device requirements/chip.txt
	$(LOCKED)/chip.txt -r requirements/device.txt -r requirements/demo.txt
	@touch $@

.venv/.installed-test: .venv/.installed requirements/device.txt requirements/test.txt
	$(LOCKED)/test.txt -r requirements/device.txt -r requirements/demo.txt
	@touch $@

# Versions and hashes of what `make demo`, `device`, `test` and the chip's tools install, from the ranges in pyproject.toml:
# one resolution, cut into what each needs beside the files before it, with the hashes of what the machines named in lock.py
# install. A part of west has no wheel: CI alone installs it.
COMPILE := $(BIN)/uv pip compile --quiet --no-annotate --custom-compile-command "make lock" --generate-hashes \
    --universal --python-version 3.11
beside = --constraint build/lock.txt \
    $$(sed -n '/win32/!s/^\([a-z0-9.-]*\)==.*/--no-emit-package \1/p' $(1:%=requirements/%.txt))
lock: .venv/.installed-test
	@mkdir -p build
	printf 'setuptools\nwest\n' | $(COMPILE) --upgrade --all-extras pyproject.toml - -o build/lock.txt
	echo setuptools | $(COMPILE) --constraint build/lock.txt pyproject.toml - -o requirements/demo.txt
	$(COMPILE) $(call beside,demo) --extra device pyproject.toml -o requirements/device.txt
	$(COMPILE) $(call beside,demo device) --extra dev --extra web --extra cluster --extra site pyproject.toml -o requirements/test.txt
	$(COMPILE) $(call beside,demo device) --extra chip pyproject.toml -o requirements/chip.txt
	echo west | $(COMPILE) --constraint build/lock.txt - -o .ci/west.txt
	printf 'setuptools\nwest\n' | $(COMPILE) --constraint build/lock.txt --all-extras pyproject.toml - \
	    --format pylock.toml -o build/pylock.toml
	$(MAINTAIN) lock build/pylock.toml requirements/*.txt .ci/west.txt
	@for python in 3.11 3.12 3.13; do \
	    $(BIN)/uv pip compile --quiet --python-version $$python --only-binary :all: requirements/*.txt >/dev/null || exit; done

# Two commands matter: `make demo` and `make test`. Both make what they need, and are quick when it is there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# tests/conftest.py puts the long groups first
# a browser or a time limit keeps one worker waiting, so they are more than the two cores
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder -q
CLIENT := vscode-client
CLIENT_STAMP := $(CLIENT)/node_modules/.installed
VSIX := $(CLIENT)/compile-lens.vsix
# what it is made of, as in tests/e2e/workbench.py
PACKED := $(shell find $(addprefix $(CLIENT)/,src images media scripts bundled/tool) server/compile_lens -type f ! -name '*.pyc') \
  $(addprefix $(CLIENT)/,package.json package-lock.json requirements.txt README.md esbuild.mjs .vscodeignore)
TARGETS ?= linux-x64 linux-arm64 alpine-x64 darwin-x64 darwin-arm64 win32-x64
# any Python with pip packs the extension
BUNDLE_PYTHON = $(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON))
EXAMPLES := examples/transformer_block.py examples/training_step.py examples/clean_model.py
# never the user's own caches, nor one that another checkout uses
export COMPILE_LENS_CACHE_DIR ?= $(CURDIR)/.cache/compile-lens
# where the environment forbids it, each of a thousand processes compiles the same modules again
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-quick test-nightly compat lint bench growth fuzz soak client vsix lab tables docs setup clean

demo: $(STAMP)  ## the main job on the examples
	$(BIN)/compile-lens check --fail-on never $(EXAMPLES)

test: $(STAMP) client lab  ## all behavior, a real VS Code included
	$(PYTEST) -m "not nightly"

test-quick: $(STAMP)  ## without VS Code, models, searches, hostile programs and what compiles for long
	$(PYTEST) -m "not nightly and not slow and not e2e and not models and not searches and not hostile"

test-nightly: $(STAMP)  ## what is slow and covered more cheaply by `make test`; see CONTRIBUTING.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group editors
	$(PYTEST) -m nightly

compat: $(STAMP)  ## each torch on each Python of this machine, in environments of 6 GB that are made and deleted (hours)
	$(BIN)/python -m tests.compat

lint: $(STAMP) $(CLIENT_STAMP)  ## style, types, and the types of the extension
	$(BIN)/ruff check server tests benchmarks docs
	$(BIN)/ruff format --check server tests benchmarks docs
	$(BIN)/mypy
	cd $(CLIENT) && npm run --silent typecheck

bench: $(STAMP)  ## speed and memory beside baselines, with goals and verdicts: docs/performance.md (20 minutes of a quiet machine)
	$(BIN)/python -m benchmarks

growth: $(STAMP)  ## how costs grow with files, findings, ranks and traces: plots in docs/images (10 minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group plots
	$(BIN)/python -m benchmarks.growth

fuzz: $(STAMP)  ## 200,000 sequences of edits, requests and cancellations, and a million changed inputs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "atheris>=3"
	$(BIN)/python -m tests.reliability.sequences --count 200000 2>/dev/null
	for target in trace agent editor; do $(BIN)/python -m tests.reliability.fuzz $$target --runs 350000 || exit 1; done

soak: $(STAMP)  ## an hour of work and trouble; the server's memory, handles and processes after it
	$(BIN)/python -m tests.reliability.soak --minutes 60

tables: $(STAMP)  ## the bundled tables of explanations, from the torch in .venv (20 s)
	$(BIN)/python tests/knowledge/record_tables.py

docs: $(STAMP)  ## the documentation site: out/docs/index.html
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs -d .cache/doctrees . out/docs

setup: $(STAMP)

# torch first and pinned: any other resolution takes a CUDA build of several gigabytes
$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(CLIENT_STAMP): $(CLIENT)/package-lock.json
	cd $(CLIENT) && npm ci --silent --no-audit --no-fund
	touch $@

client: $(VSIX)  ## the extension for this machine: vscode-client/compile-lens.vsix

$(VSIX): $(CLIENT_STAMP) $(PACKED)
	$(BUNDLE_PYTHON) $(CLIENT)/scripts/bundle.py host
	cd $(CLIENT) && npm run --silent package

vsix: $(CLIENT_STAMP)  ## the extension for each platform, in vscode-client/out; less: make vsix TARGETS="linux-x64 darwin-arm64"
	mkdir -p $(CLIENT)/out
	for target in $(TARGETS); do \
	  $(BUNDLE_PYTHON) $(CLIENT)/scripts/bundle.py $$target && \
	  (cd $(CLIENT) && npm run --silent package -- --target $$target --out out/compile-lens-$$target.vsix) || exit 1; \
	done
	$(BUNDLE_PYTHON) $(CLIENT)/scripts/bundle.py host  # what runs from this folder is of this machine

lab: $(STAMP)
	PYTHON=$(CURDIR)/$(BIN)/python bash tests/e2e/install.sh

clean:
	rm -rf $(VENV) .cache $(CLIENT)/node_modules $(CLIENT)/dist $(CLIENT)/bundled/libs $(CLIENT)/examples $(CLIENT)/out $(CLIENT)/*.vsix tests/e2e/shots docs/reference out
	rm -rf .pytest_cache .mypy_cache .ruff_cache

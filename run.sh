#!/usr/bin/env bash
# Builds the newest chapter's engine and runs it.
#
#   ./run.sh                            chat with the default model
#   ./run.sh "question"                 one answer
#   ./run.sh COMMAND …                  any command of the program; ./run.sh --help lists them
#   ./run.sh --chapter 11 COMMAND …     the same with the engine as it stands at the end of chapter 11
#
# RUNG_NO_INSTALL=1 installs and downloads nothing. RUNG_BUILD_DIR (default: build) is where it builds, RUNG_MODEL the model that
# stands in for the default one. Only the program's answer goes to stdout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
caller=$PWD
cd "$root"
# shellcheck source=tools/setup.sh
source tools/setup.sh

shopt -s nullglob
chapters=(chapters/[0-9][0-9]-*)
shopt -u nullglob
[ ${#chapters[@]} -gt 0 ] || die "$root/chapters: holds no chapter"
chapter=${chapters[-1]}
if [[ ${1:-} == --chapter || ${1:-} == --chapter=* ]]; then
  if [[ $1 == *=* ]]; then number=${1#*=}; else number=${2:-}; fi
  chapter=
  if [[ $number =~ ^[0-9]{1,2}$ ]]; then
    for one in "${chapters[@]}"; do [[ $one != chapters/"$(printf %02d "$((10#$number))")"-* ]] || chapter=$one; done
  fi
  [ -n "$chapter" ] || die "--chapter ${number:-(nothing)}: there is no such chapter; there are: $(printf '%s ' "${chapters[@]#chapters/}")"
  if [[ $1 == *=* ]]; then shift; else shift 2; fi
fi
has_command() { [[ $1 != */* && -f $chapter/src/commands/$1.cpp ]]; }

# A single argument that is neither a command nor a flag is a question.
question=
if [ $# -eq 1 ] && [ "${1#-}" = "$1" ] && ! has_command "$1"; then
  question=yes
  has_command chat || die "\"$1\" is no command of ${chapter#chapters/}, and that chapter cannot chat yet; ./run.sh --chapter ${chapter:9:2} --help lists its commands"
fi

install_packages "${RUNG_PACKAGES[@]}"

wants_model=
if [ $# -eq 0 ]; then
  ! has_command chat || wants_model=yes
elif [ -n "$question" ] || has_command "$1"; then
  wants_model=yes
fi
for argument in "$@"; do
  case $argument in -m | --model | -m?* | --model=* | --dummy | --dummy=* | --help | -h) wants_model= ;; esac
done
if [ "${1:-}" = inspect ] && [[ " $* " != *"$RUNG_MODEL_FILE "* ]]; then wants_model=; fi
if [ -z "${RUNG_MODEL:-}" ]; then
  [ -z "$wants_model" ] || fetch_model
  export RUNG_MODEL=$root/models/$RUNG_MODEL_FILE
fi

objects=$(python3 tools/rung_build.py "${chapter#chapters/}" rung) || exit $?

cd "$caller"
if [ -n "$question" ]; then set -- chat -- "$1"; fi
if [ $# -eq 0 ]; then
  if [ ! -f "$root/$chapter/src/commands/chat.cpp" ]; then set -- --help; else set -- chat; fi
fi
exec "$objects/rung" "$@"

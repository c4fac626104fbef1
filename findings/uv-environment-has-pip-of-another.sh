#!/usr/bin/env bash
# uv 0.13.9 (PyPI): in an activated environment of uv, `pip install` installs into another Python.
#
# Expected: after `. .venv/bin/activate`, `pip` installs into that environment, as in one of
# `python3 -m venv`. Seen: `uv venv` puts no pip into it, so the next `pip` of PATH runs, which
# belongs to the system's or pyenv's Python. It installs there, exits with 0, and looks as always;
# `python` in the same shell does not find the package. `python -m pip` fails, and `uv pip install`
# works.
#
# For agent-bash: with recorded changes, the result says how many files changed outside the
# directory of the call.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset VIRTUAL_ENV PIP_REQUIRE_VIRTUALENV
export HOME=$work UV_CACHE_DIR=$work/cache PIP_DISABLE_PIP_VERSION_CHECK=1
# Takes the part of the system's Python, which is first in PATH.
python3 -m venv "$work/system" && "$work/system/bin/pip" --quiet install uv==0.13.9 > "$work/log" 2>&1 \
    || { echo 'cannot run: pip cannot install uv==0.13.9'; exit 2; }
PATH=$work/system/bin:$PATH
# install COMMAND ...: makes an environment, activates it and installs a package there.
install() (
    rm -rf "$work/project"
    mkdir "$work/project"
    cd "$work/project"
    "$@" .venv > "$work/log" 2>&1
    . .venv/bin/activate
    code=0
    pip install --quiet six==1.17.0 > "$work/log" 2>&1 || code=$?
    has() { "$1" -c 'import six' 2> /dev/null && printf yes || printf no; }
    printf 'code %s, the environment has it: %s, the system: %s' "$code" "$(has python)" "$(has "$work/system/bin/python")"
)
venv=$(install python3 -m venv)
uv=$(install uv venv --python "$work/system/bin/python")
echo "pip install after activation: of python3 -m venv: $venv; of uv venv 0.13.9: $uv"
[ "$venv" = 'code 0, the environment has it: yes, the system: no' ]
[ "$uv" = 'code 0, the environment has it: no, the system: yes' ]

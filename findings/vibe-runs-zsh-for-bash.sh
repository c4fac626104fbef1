#!/usr/bin/env bash
# Mistral Vibe 2.26.1 (PyPI, mistral-vibe): the tool `bash` runs commands by zsh if it is installed.
#
# Expected: a tool named `bash` runs bash, or the user's shell ($SHELL, here /bin/bash). Seen: if
# PATH has a zsh, the command runs by `zsh -lc`, otherwise by bash. The model is told "Run a shell
# command", so it writes bash: an unquoted variable is one word and not several, and a pattern
# without a match ends the command. The same prompt fails on one machine and not on the next.
#
# For agent-bash: a call runs in bash, whatever shells are installed.
set -eu
. "$(dirname "$0")/lib/agent.sh"
zsh=$(command -v zsh) || cannot_run 'no zsh'
for python in python3 python3.12 python3.13; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null && break || python=
done
[ -n "$python" ] || cannot_run 'no Python 3.12'
"$python" -m venv "$work/v"
"$work/v/bin/pip" --quiet --disable-pip-version-check install mistral-vibe==2.26.1 > "$work/log" 2>&1 \
    || cannot_run 'pip cannot install mistral-vibe==2.26.1'
# run PATH: prints what the model reads.
run() (
    start_model '[["bash", {"command": "list=\"one two\"; for word in $list; do echo \"$word\"; done"}]]'
    trap 'kill "$model_pid"' EXIT
    mkdir -p "$work/home/.vibe"
    cat > "$work/home/.vibe/config.toml" <<T
active_model = "stand-in"
enable_telemetry = false
enable_update_checks = false
providers = [{ name = "local", api_base = "$url/v1", api_key_env_var = "KEY", backend = "generic" }]
models = [{ name = "stand-in", provider = "local", alias = "stand-in" }]
T
    in_clean_environment KEY=none PATH="$1" "$work/v/bin/vibe" --trust --yolo -p 'go on' \
        || cannot_run "$(tail -n 1 "$work/log")"
    result 0 | python3 -c 'import json, sys; print(json.load(sys.stdin)["stdout"].strip().replace("\n", "/"))'
    rm "$work/port"
)
mkdir "$work/bin" "$work/zsh"
for program in bash env git ps sh uname; do ln -s "$(command -v "$program")" "$work/bin"; done
ln -s "$zsh" "$work/zsh/zsh"
without=$(run "$work/bin")
with=$(run "$work/bin:$work/zsh")
echo "Mistral Vibe 2.26.1: 'for word in \$list': without zsh in PATH: $without, with zsh: $with"
[ "$without,$with" = 'one/two,one two' ]

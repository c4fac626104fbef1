#!/usr/bin/env bash
# go-task 3.54.0 (PyPI, go-task-bin): `$!` of a background command is "g1", and `kill $!` does not
# exist.
#
# Expected: the usual lines of a Makefile work in a Taskfile, which takes shell commands: start a
# server with `&`, test it, then `kill $!`. Seen: task runs the text by a shell of its own. There
# `$!` is a name that only its `wait` knows. `kill` and `jobs` are "unsupported builtin", so
# /bin/kill is not looked for, and `env kill` cannot use the name. The task ends there with the
# exit code 201. All background commands end with the task; below make they run on.
#
# For agent-bash: the lines of a Taskfile have another shell; a call has bash.
set -eu
command -v make > /dev/null || { echo 'cannot run: no make'; exit 2; }
. "$(dirname "$0")/lib/agent.sh"
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install go-task-bin==3.54.0 > /dev/null 2>&1 \
    || cannot_run 'pip cannot install go-task-bin==3.54.0'
cat > "$work/project/Taskfile.yml" <<'Y'
version: '3'
silent: true
tasks:
  id: {cmds: ['sleep 3 & echo "$!"']}
  kill: {cmds: ['sleep 3 & kill "$!"; echo killed']}
  env-kill: {cmds: ['sleep 3 & env kill "$!"; echo killed']}
  start: {cmds: ["sh -c 'sleep 1; echo written > file' &"]}
Y
printf '%s\n' 'kill:' $'\t@sleep 3 & kill "$$!"; echo killed' 'start:' $'\t@sh -c "sleep 1; echo written > file" > /dev/null 2>&1 &' \
    > "$work/project/Makefile"
# outcome COMMAND ...: its exit code, the first line of its output, and whether it wrote a file.
outcome() {
    code=0
    rm -f "$work/project/file"
    in_clean_environment "$@" || code=$?
    sleep 2
    printf "%s '%s'%s" "$code" "$(head -n 1 "$work/log")" "$([ ! -e "$work/project/file" ] || echo ' and a file')"
}
run() { for name in "${@:2}"; do printf '%s %s; ' "$name" "$(outcome "$1" "$name")"; done; }
task=$(run "$work/v/bin/task" id kill env-kill start)
make=$(run make kill start)
echo "go-task 3.54.0: ${task}make: ${make%; }"
[ "$task" = "id 0 'g1'; kill 201 'kill: unsupported builtin'; env-kill 201 'kill: failed to parse argument: 'g1''; start 0 ''; " ]
[ "$make" = "kill 0 'killed'; start 0 '' and a file; " ]

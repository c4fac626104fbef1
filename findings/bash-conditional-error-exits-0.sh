#!/usr/bin/env bash
# bash 5.2.15: a script that stops at `[[ one two ]]` exits with 0.
#
# Expected: a syntax error ends `bash -c` and a script file with a status other than 0, as `if then`
# does (2 with `-c`). Seen: bash reports "conditional binary operator expected", drops the rest of
# the text, and exits with the status of the command before the error, or 0 if it is the first one.
# A test run or a CI step therefore counts as passed. `eval` and `.` of the same text return 2, and
# `bash -n` of it returns 0, too.
#
# For agent-bash: a listed difference from `bash -c`: an evaluated script returns 2.
set -u
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
text=$'true\n[[ one two ]]\necho not reached'
printf '%s\n' "$text" > "$work/script"
output=$(bash -c "$text" 2> /dev/null); as_argument=$output$?
output=$(bash "$work/script" 2> /dev/null); as_file=$output$?
bash -c $'true\nif then' 2> /dev/null; other_error=$?
evaluated=$(bash -c 'eval "$1" 2> /dev/null; echo $?' - "$text")
echo "bash 5.2.15: [[ one two ]]: -c $as_argument, file $as_file, eval $evaluated; 'if then': -c $other_error"
[ "$as_argument $as_file $evaluated $other_error" = '0 0 2 2' ]

#!/usr/bin/env bash
# bash 5.2.15: at the limit of processes, a command takes 15 seconds, and ends the whole script.
#
# Expected: a command that cannot be started fails at once with 126, and `|| echo failed` handles
# it. Seen: bash tries again after 1, 2, 4 and 8 seconds. Then it leaves the script with exit code
# 254, past each `||`, `if` and later line, also without `set -e`; of the script only its EXIT trap
# runs. zsh 5.9 and dash 0.5.12 give up at once, with 1 and 2. With a time limit of 10 seconds, a
# command at the limit (`ulimit -u`, `pids.max` of a container) is a timeout instead of an error.
#
# For agent-bash: such a call can end as `timeout`; its standard error has bash's "fork: retry",
# which names the cause.
set -eu
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Root has no such limit; as an ordinary user, the shell is itself at the limit of 1.
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=54321 --regid=54321 --clear-groups)
at_limit() {
    local code=0 start=$SECONDS
    "${as_user[@]}" prlimit --nproc=1 "$@" > "$work/output" 2> "$work/error" || code=$?
    [ $((SECONDS - start)) -ge 14 ] && start='about 15 s' || start='at once'
    echo "ends $start with $code and prints '$(paste -sd ' ' "$work/output")'"
}
script='trap "echo trap" EXIT; /bin/true || echo failed; echo next line'
bash=$(at_limit bash -c "$script")
retries=$(grep -c 'fork: retry' "$work/error" || true)
dash=$(at_limit dash -c "$script")
echo "at the limit of processes: bash 5.2.15 $bash after $retries retries; dash $dash"
[ "$bash, $retries" = "ends about 15 s with 254 and prints 'trap', 4" ]

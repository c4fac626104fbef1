#!/usr/bin/env bash
# Node 20.20.2 and Debian's bash 5.2.15: `execFile('bash', ['-c', ...])` reads ~/.bashrc in a
# service.
#
# Expected: `bash -c` reads no start file but $BASH_ENV. Seen: Node's default stdio `pipe` is a pair
# of Unix sockets. Debian builds bash to read ~/.bashrc if standard input is a connected socket, as
# rshd had it, and SHLVL is unset, as below systemd or cron. So the same line of JavaScript behaves
# otherwise when it is started from a terminal (SHLVL is set) and when by a service. The file's
# output precedes the command's, and an `exit` in it ends the shell before the command. stdin
# 'ignore' is the cure.
#
# For agent-bash: agents' hooks and shells may have read the start file, or not.
set -eu
[ "${BASH_VERSION%%(*}" = 5.2.15 ] || { echo "cannot run: bash $BASH_VERSION, not 5.2.15"; exit 2; }
version=$(node --version) || { echo 'cannot run: no node'; exit 2; }
[ "$version" = v20.20.2 ] || { echo "cannot run: node $version, not v20.20.2"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 'echo start file' > "$work/.bashrc"
run() {
    env -u BASH_ENV "$@" HOME="$work" node -e '
        const stdin = process.argv[1];
        const run = require("child_process").execFileSync;
        console.log(String(run("bash", ["-c", "echo command"], { stdio: [stdin, "pipe", "inherit"] })));
    ' "$stdin" | paste -sd ' ' | sed 's/ *$//'
}
stdin=pipe; service=$(run -u SHLVL); terminal=$(run SHLVL=1)
stdin=ignore; ignored=$(run -u SHLVL)
echo "node $version: service '$service', terminal '$terminal', service with stdin ignored '$ignored'"
[ "$service/$terminal/$ignored" = 'start file command/command/command' ]

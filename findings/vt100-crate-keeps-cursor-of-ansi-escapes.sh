#!/usr/bin/env bash
# vt100 0.18.1, ansi-escapes 7.3.0 (npm): a cursor that was saved is not restored.
#
# Expected: a crate that knows `ESC 7` and `ESC 8` also knows `CSI s` and `CSI u`, which terminals take
# for the same, and which the npm package ansi-escapes writes on all terminals but Apple's. Seen: the
# crate ignores both. What a program draws after it has restored the cursor is behind the old text
# instead of over it. xterm's own emulator (@xterm/headless 6.0.0) draws over it.
#
# For agent-bash: agent-bash translates these forms in front of the crate, and IND and NEL with them.
set -eu
. "$(dirname "$0")/lib/crate.sh"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" ansi-escapes@7.3.0 @xterm/headless@6.0.0 \
    > "$work/log" 2>&1 || { echo 'cannot run: npm cannot install ansi-escapes@7.3.0'; exit 2; }
cat > "$work/draw.mjs" <<'J'
import escapes from 'ansi-escapes';
import headless from '@xterm/headless';
import { writeFileSync } from 'node:fs';
const output = `A${escapes.cursorSavePosition}old${escapes.cursorRestorePosition}new`;
writeFileSync('output', output);
const terminal = new headless.Terminal({ cols: 20, rows: 2, allowProposedApi: true });
terminal.write(output, () => console.log(terminal.buffer.active.getLine(0).translateToString(true)));
J
xterm=$(cd "$work" && env -u TERM_PROGRAM node draw.mjs) || exit 2
run_with_crates 'vt100 = "=0.18.1"' > "$work/first" <<'R' || exit 2
fn main() {
    let output = std::fs::read("output").unwrap_or_default();
    let mut parser = vt100::Parser::new(2.try_into().unwrap(), 20.try_into().unwrap(), 0);
    parser.process(&output);
    println!("{}", parser.screen().contents());
}
R
crate=$(cd "$work" && target/debug/finding)
echo "the same output in vt100 0.18.1 is $crate, in xterm $xterm"
[ "$crate $xterm" = 'Aoldnew Anew' ]

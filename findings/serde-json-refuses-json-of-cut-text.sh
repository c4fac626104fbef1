#!/usr/bin/env bash
# serde_json 1.0.145 (crates.io), jq 1.6 (Debian): they refuse JSON that Node and Python write.
#
# Expected: what `JSON.stringify` or `json.dumps` returns is JSON for each other parser. Seen: if a
# program cuts a text at a number of characters, JavaScript can cut within an emoji; `JSON.stringify`
# writes the half as "\ud83d". Python writes a file name that is not UTF-8 as "\udce9". Both are
# escapes that the grammar of JSON allows, and Node and Python read both; serde_json refuses the whole
# message, and jq the first. A long tool result with an emoji at the cut, or a list of files with one
# old name, does not reach a server in Rust.
#
# For agent-bash: such a line gets an error with its own id, also over MCP; a hook blocks such a call.
set -eu
. "$(dirname "$0")/lib/crate.sh"
version=$(jq --version 2> /dev/null) || true
[ "$version" = jq-1.6 ] || { echo "cannot run: ${version:-no jq}, not jq-1.6"; exit 2; }
command -v node > "$work/log" || { echo 'cannot run: no node'; exit 2; }
by_node=$(node -e 'console.log(JSON.stringify("done \u{1f600}".slice(0, 6)))')
by_python=$(python3 -c 'import json, os; print(json.dumps(os.fsdecode(b"caf\xe9.txt")))')
run_with_crates 'serde_json = "=1.0.145"' > "$work/errors" <<R || exit 2
fn main() {
    for text in [r#"$by_node"#, r#"$by_python"#, r#""done \ud83d\ude00""#] {
        let read = serde_json::from_str::<String>(text);
        println!("{}", read.map_or_else(|error| error.to_string(), |_| "valid".to_owned()));
    }
}
R
read_by() {
    for text in "$by_node" "$by_python"; do "$@" <<< "$text" > "$work/log" 2>&1 && echo valid || echo error; done | paste -sd ' '
}
node=$(read_by node -e 'JSON.parse(require("fs").readFileSync(0))')
python=$(read_by python3 -c 'import json, sys; json.load(sys.stdin)')
jq=$(read_by jq .)
rust=$(sed 's/ at line.*//' "$work/errors" | paste -sd ',')
echo "$by_node of Node, $by_python of Python: for Node $node, Python $python, jq 1.6 $jq, serde_json $rust"
[ "$by_node $by_python|$node|$python|$jq|$rust" = \
    '"done \ud83d" "caf\udce9.txt"|valid valid|valid valid|error valid|unexpected end of hex escape,lone'\
' leading surrogate in hex escape,valid' ]

#!/usr/bin/env bash
# shlex of Python 3.11, and shlex 2.0.1 (crates.io): a line continued by a backslash has one more
# argument than in a shell.
#
# Expected: both libraries read words as a shell does, so a command that documentation shows on
# several lines, each with `\` at its end, has the same words. Seen: between `docker run \` and `
# --rm image`, Python's `shlex.split` has an argument that is a line end, and the crate of the same
# name an empty one. The program is told of an unknown command or image. Within double quotes,
# Python also keeps the backslash before `$` and a backquote. The crate shell-words reads all of it
# as a shell does.
#
# For agent-bash: bash reads the text of a call.
set -eu
version=$(python3 --version)
case $version in 'Python 3.11.'*) ;; *) echo "cannot run: $version, not 3.11"; exit 2 ;; esac
. "$(dirname "$0")/lib/crate.sh"
printf '%s' 'docker run \
  --rm "costs \$5"' > "$work/command"
bash=$(docker() { printf '<%s>' "$@"; }; . "$work/command")
python=$(python3 -c '
import shlex, sys
print("".join(f"<{word}>" for word in shlex.split(open(sys.argv[1]).read())[1:]).replace("\n", "line end"))' "$work/command")
cat > "$work/main.rs" <<'R'
fn main() {
    let command = std::fs::read_to_string(std::env::var("COMMAND").unwrap()).unwrap();
    let print = |words: Vec<String>| println!("{}", words[1..].iter().map(|word| format!("<{word}>")).collect::<String>());
    print(shlex::split(&command).unwrap());
    print(shell_words::split(&command).unwrap());
}
R
crates=$(COMMAND=$work/command run_with_crates 'shlex = "=2.0.1"
shell-words = "=1.1.1"' < "$work/main.rs") || exit 2
crates=${crates/$'\n'//}
echo "in bash: $bash; $version: $python; the crates shlex 2.0.1 and shell-words 1.1.1: $crates"
[ "$bash/$python/$crates" = \
    '<run><--rm><costs $5>/<run><line end><--rm><costs \$5>/<run><><--rm><costs $5>/<run><--rm><costs $5>' ]

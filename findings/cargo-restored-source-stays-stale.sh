#!/usr/bin/env bash
# cargo 1.95.0: after a source file is restored with its time, the program of the edit still runs.
#
# Expected: cargo builds again when a source file is not the one that it compiled, in either
# direction. Seen: it asks only whether a file is newer than the last build. A file that is restored
# with its time (`cp -p`, `mv` of a backup, `rsync -a`, `tar`, the undo of an editor or a tool) is
# older, so `cargo run` prints no "Compiling", succeeds, and runs the program of the edit that was
# taken back. Tests are as stale. `touch` of the file is the cure. git sets no old times, so it does
# not show this.
#
# For agent-bash: an undo restores times: builds of other calls, by cargo or make, stay those of
# the edit until `touch`.
set -eu
version=$(cargo --version)
case $version in 'cargo 1.95.0 '*) ;; *) echo "cannot run: $version, not 1.95.0"; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export CARGO_TARGET_DIR=$work/target
mkdir src
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
echo 'fn main() { println!("old"); }' > src/main.rs
touch -d '1 hour ago' src/main.rs
first=$(cargo run --quiet)
cp -p src/main.rs backup
echo 'fn main() { println!("new"); }' > src/main.rs
second=$(cargo run --quiet)
mv backup src/main.rs
third=$(cargo run --quiet)
touch src/main.rs
fourth=$(cargo run --quiet)
echo "cargo 1.95.0 runs: $first, after an edit: $second, restored: $third, touched: $fourth"
[ "$first $second $third $fourth" = 'old new new old' ]

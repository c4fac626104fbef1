#!/usr/bin/env bash
# cargo 1.95.0: a target directory that is copied with hard links (`cp -al`) makes builds stale.
#
# Expected: a checkout with its own copy of target/ rebuilds what was edited in it. Files of the
# copy are shared until they are replaced, and build tools replace files, they do not write into
# them. The hash in the file names also differs, because the packages lie at other paths. Seen: the
# hash is the same, since cargo takes the path relative to the workspace. Cargo writes its
# fingerprints into the existing files. A build in one checkout therefore marks the other checkout
# as fresh: `cargo build` there succeeds, does nothing, and the old program runs. `cp -a` instead of
# `cp -al` is the cure; so is removing `.fingerprint` of the workspace's packages.
#
# For agent-bash: checkouts of this repository copy `target/`.
set -eu
wanted='cargo 1.95.0'
version=$(cargo --version | cut -d' ' -f1,2)
[ "$version" = "$wanted" ] || { echo "cannot run: $version, not $wanted"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p first/src
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2024"\n' > first/Cargo.toml
say() { printf 'fn main() { println!("%s"); }\n' "$2" > "$1/src/main.rs"; }
build() { (cd "$1" && unset CARGO_TARGET_DIR && cargo build --quiet --offline && target/debug/finding); }
say first old
build first > /dev/null
run() {
    rm -rf second && mkdir second && cp -r first/src first/Cargo.toml first/Cargo.lock second/
    cp "$1" first/target second/target
    sleep 1.1
    say second edited
    sleep 1.1
    say first other
    build first > /dev/null
    build second
    say first old && sleep 1.1 && build first > /dev/null
}
linked=$(run -al)
copied=$(run -a)
echo "$version: hard links run the program '$linked', a copy runs '$copied'"
[ "$linked" = old ] && [ "$copied" = edited ]

#!/usr/bin/env bash
# rustup 1.29.0: below `cargo run`, cargo in another project ignores its rust-toolchain.toml.
#
# Expected: `cargo` and `rustc` in a directory are those that its rust-toolchain.toml names: that
# is what the file is for. Seen: the first `cargo` is rustup's, and it sets RUSTUP_TOOLCHAIN to the
# toolchain that it has chosen. All processes below inherit the variable, and it wins over the
# file, without a message. A program that was started by `cargo run`, `cargo test` or `cargo
# xtask`, say a test runner or an agent, builds every other project by the toolchain of the first
# one. `rustup show active-toolchain` says so.
#
# For agent-bash: commands inherit the variable like any other; an agent that cargo has started
# needs `env -u RUSTUP_TOOLCHAIN`.
set -eu
version=$(rustup --version 2> /dev/null | cut -d ' ' -f 1-2)
[ "$version" = 'rustup 1.29.0' ] || { echo "cannot run: '$version', not rustup 1.29.0"; exit 2; }
programs=$(dirname "$(command -v rustup)")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work RUSTUP_HOME=$work/rustup CARGO_HOME=$work/cargo PATH="$programs:$PATH"
unset RUSTUP_TOOLCHAIN
# Stand-ins for two toolchains: their cargo runs its arguments.
for name in one two; do
    mkdir -p "$work/$name/bin" "$work/$name/lib" "$work/project-$name"
    printf '#!/bin/sh\necho "rustc of %s"\n' "$name" > "$work/$name/bin/rustc"
    printf '#!/bin/sh\n[ "$1" = run ] || exec echo "cargo of %s"\nshift\nexec "$@"\n' "$name" > "$work/$name/bin/cargo"
    chmod +x "$work/$name/bin/cargo" "$work/$name/bin/rustc"
    rustup -q toolchain link "$name" "$work/$name" 2> "$work/log" || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
    printf '[toolchain]\nchannel = "%s"\n' "$name" > "$work/project-$name/rust-toolchain.toml"
done
cd "$work/project-two"
alone=$(cargo build; rustc --version)
cd "$work/project-one"
below=$(cargo run sh -c 'cd ../project-two; cargo build; rustc --version; rustup show active-toolchain')
without=$(cargo run sh -c 'cd ../project-two; env -u RUSTUP_TOOLCHAIN cargo build')
output="alone $alone, below cargo of one $below, without the variable $without"
output=$(echo "$output" | paste -sd ,)
echo "rustup 1.29.0, in a project of two: $output"
[ "$output" = 'alone cargo of two,rustc of two, below cargo of one cargo of one,rustc of one,'\
'one (overridden by environment variable RUSTUP_TOOLCHAIN), without the variable cargo of two' ]

#!/usr/bin/env bash
# cargo 1.95.0, git 2.47.3: in a repository with reftable, a crate builds and cannot be packed.
#
# Expected: cargo works in each repository that git has made, or ignores one that it cannot read, at
# least with `--allow-dirty`. Seen: cargo reads the repository by a library of its own, which does
# not know the format. `cargo package` fails with "Reference name cannot start with a dot", also with
# `--allow-dirty`; `cargo build` is not affected. With the format "files" both work.
#
# For agent-bash: `cargo xtask package` needs a checkout with the format "files".
set -eu
. "$(dirname "$0")/lib/crate.sh"
cargo --version | grep -q '^cargo 1\.95\.' || { echo 'cannot run: cargo is not 1.95'; exit 2; }
git --version | grep -q ' 2\.47\.' || { echo 'cannot run: git is not 2.47'; exit 2; }
packs() {
    git init --quiet --ref-format="$1" "$work/$1"
    (
        cd "$work/$1"
        mkdir src
        echo 'fn main() {}' > src/main.rs
        printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
        CARGO_TARGET_DIR=$work/target cargo build --quiet 2> "$work/log" || echo 'no build'
        git add .
        git -c user.name=a -c user.email=a@example.invalid commit --quiet -m first
        cargo package --list --allow-dirty > /dev/null 2> "$work/log" && echo yes && exit
        grep -o 'Reference name cannot start with a dot' "$work/log" || tail -n 1 "$work/log"
    )
}
output="files: $(packs files), reftable: $(packs reftable)"
echo "cargo 1.95.0, git 2.47.3: does cargo package work? $output"
[ "$output" = 'files: yes, reftable: Reference name cannot start with a dot' ]

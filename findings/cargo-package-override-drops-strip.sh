#!/usr/bin/env bash
# cargo 1.95.0: `opt-level` for one package turns the profile's `strip = true` off.
#
# Expected: [profile.release.package.NAME] changes what it names, and `strip` of the profile stays.
# Seen: if NAME is the package of the program, its table of symbols stays: cargo passes
# `-C strip=debuginfo` to the compiler, as if the profile said nothing of `strip`. An override of a
# dependency has no such effect. `strip` written again in the override helps.
#
# For agent-bash: the override repeats `strip`, and `cargo xtask static` refuses a program with
# symbols.
set -eu
. "$(dirname "$0")/lib/crate.sh"
cargo --version | grep -q '^cargo 1\.95\.' || { echo 'cannot run: cargo is not 1.95'; exit 2; }
mkdir "$work/src"
echo 'fn main() {}' > "$work/src/main.rs"

# has_symbols LINE ...: builds with these lines at the end of Cargo.toml.
has_symbols() {
    printf '%s\n' '[package]' 'name = "finding"' 'version = "0.1.0"' 'edition = "2021"' \
        '[profile.release]' 'strip = true' "$@" > "$work/Cargo.toml"
    (cd "$work" && touch src/main.rs && CARGO_TARGET_DIR="$work/target" cargo build --quiet --release) 2> "$work/log" \
        || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
    if grep -aq '\.symtab' "$work/target/release/finding"; then echo yes; else echo no; fi
}
output="profile alone: $(has_symbols), other packages: $(has_symbols '[profile.release.package."*"]' 'opt-level = "s"')"
output+=", opt-level: $(has_symbols '[profile.release.package.finding]' 'opt-level = "s"')"
output+=", opt-level and strip: $(has_symbols '[profile.release.package.finding]' 'opt-level = "s"' 'strip = true')"
echo "cargo 1.95.0: is there a table of symbols? $output"
[ "$output" = 'profile alone: no, other packages: no, opt-level: yes, opt-level and strip: no' ]

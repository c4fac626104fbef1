# Sourced by the scripts that run a crate: sets `work`, a temporary directory.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run_with_crates DEPENDENCIES: compiles and runs standard input with these lines of a Cargo.toml.
run_with_crates() {
    mkdir "$work/src"
    cat > "$work/src/main.rs"
    printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n%s\n' "$1" > "$work/Cargo.toml"
    (cd "$work" && CARGO_TARGET_DIR="$work/target" cargo build --quiet) 2> "$work/log" \
        || { echo "cannot run: $(tail -n 1 "$work/log")" >&2; return 2; }
    "$work/target/debug/finding"
}

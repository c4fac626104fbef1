# Sourced by the scripts that run a Python package: sets `work`, a temporary directory.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run_with_packages 'PACKAGE==VERSION ...': installs these packages and runs standard input in an empty directory.
run_with_packages() {
    # shellcheck disable=SC2086 # a list of packages
    python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install $1 > "$work/log" 2>&1 \
        || { echo "cannot run: pip cannot install $1" >&2; return 2; }
    cat > "$work/main.py"
    mkdir "$work/project" "$work/home"
    (cd "$work/project" && HOME=$work/home timeout 120 "$work/v/bin/python" "$work/main.py" 2> "$work/log") \
        || { echo "cannot run: $(tail -n 1 "$work/log")" >&2; return 2; }
}

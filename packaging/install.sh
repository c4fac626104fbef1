#!/bin/sh
# Installs or removes agent-bash for one user: curl -fsSL RELEASE_URL/install.sh | sh
#
# AGENT_BASH_INSTALL_DIR  directory of the program, instead of ~/.local/bin
# AGENT_BASH_VERSION      version to install
# AGENT_BASH_URL          directory that has the archive and SHA256SUMS
set -eu

repository=https://example.invalid/agent-bash
version=${AGENT_BASH_VERSION:-0.1.0}
url=${AGENT_BASH_URL:-$repository/releases/download/v$version}

action=installed
fail() {
    printf 'agent-bash is not %s: %s\n' "$action" "$1" >&2
    exit 1
}

has() {
    command -v "$1" > /dev/null 2>&1
}

download() {
    if has curl; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif has wget; then
        wget -q -O "$2" "$1"
    else
        fail 'curl and wget are missing; install one of them'
    fi || fail "cannot download $1"
}

# Prints the SHA-256 digest of standard input.
digest() {
    sha256sum | {
        read -r digest _
        printf '%s\n' "$digest"
    }
}

# Prints the digest that the list $1 has for the file named $2.
expected_digest() {
    while read -r digest name; do
        case $name in
            "$2" | "*$2") printf '%s\n' "$digest" ;;
        esac
    done < "$1"
}

install_program() {
    [ "$(uname -s)" = Linux ] || fail "$(uname -s) is not supported, only Linux"
    case $(uname -m) in
        x86_64 | amd64) processor=x64 ;;
        aarch64 | arm64) processor=arm64 ;;
        *) fail "there is no program for the processor $(uname -m); build it with cargo" ;;
    esac
    for tool in tar gzip sha256sum mktemp; do
        has "$tool" || fail "$tool is missing; install it"
    done
    # The package for npm has only the program, and gzip exists where xz is missing.
    archive=agent-bash-linux-$processor-$version.tgz

    mkdir -p "$directory" || fail "cannot create $directory; set AGENT_BASH_INSTALL_DIR"
    # A directory in the same file system makes the last step an atomic rename.
    work=$(mktemp -d "$directory/.agent-bash.XXXXXX") ||
        fail "cannot write to $directory; set AGENT_BASH_INSTALL_DIR"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    download "$url/SHA256SUMS" "$work/SHA256SUMS"
    download "$url/$archive" "$work/$archive"
    expected=$(expected_digest "$work/SHA256SUMS" "$archive")
    [ -n "$expected" ] || fail "$url/SHA256SUMS does not list $archive"
    actual=$(digest < "$work/$archive")
    [ "$actual" = "$expected" ] ||
        fail "$archive has the SHA-256 digest $actual, expected $expected; download it again"

    tar -xzf "$work/$archive" -C "$work" package/bin/agent-bash ||
        fail "cannot unpack $archive"
    installed=$("$work/package/bin/agent-bash" --version) ||
        fail "the program of $archive does not start on this machine"
    mv -f "$work/package/bin/agent-bash" "$program" || fail "cannot write $program"

    printf '%s is installed: %s\n' "$installed" "$program"
    case :$PATH: in
        *":$directory:"*) ;;
        *) printf '%s\n' "Add it to PATH, also in ~/.profile:  export PATH=\"$directory:\$PATH\"" ;;
    esac
    has bash || printf 'bash is missing: install it, agent-bash runs commands with it.\n'
    printf 'Next:  agent-bash setup\n'
    printf 'It finds the agents on this machine, and asks what to do with each.\n'
}

uninstall_program() {
    action=removed
    [ -e "$program" ] || fail "$program does not exist"
    # Every command of an agent that still starts the program would fail.
    if "$program" --version > /dev/null 2>&1; then
        "$program" setup --undo --yes < /dev/null ||
            fail "$program stays, because agents may still start it; end the agent named above, or mend what is named, and repeat this"
    else
        printf 'It does not start, so the settings of agents were not restored.\n'
    fi
    rm -f "$program"
    printf '%s is removed.\n' "$program"
    state=${XDG_STATE_HOME:-$HOME/.local/state}/agent-bash
    [ ! -e "$state" ] || printf 'Its records and copies of changed files stay in %s.\n' "$state"
}

# The last line calls a function, so that a script cut off by the network does nothing.
main() {
    directory=${AGENT_BASH_INSTALL_DIR:-${HOME:?}/.local/bin}
    program=$directory/agent-bash
    case "$#:${1-}" in
        0:) install_program ;;
        1:--uninstall) uninstall_program ;;
        *)
            printf 'usage: install.sh [--uninstall]\n' >&2
            exit 2
            ;;
    esac
}

main "$@"

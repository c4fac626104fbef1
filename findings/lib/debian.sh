# Sourced by the scripts that run a Debian package: sets `work`, a temporary directory.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# unpack PACKAGE=VERSION ...: puts the programs of these packages first in PATH, uninstalled.
unpack() {
    (cd "$work" && apt-get -qq download "$@" 2> log && for file in ./*.deb; do dpkg -x "$file" root; done) \
        || { echo "cannot run: apt-get cannot download $*"; exit 2; }
    PATH=$work/root/usr/bin:$PATH
}

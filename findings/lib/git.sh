# git 2.47.3 and an empty directory $work as its home. Sourced after `set -eu`.
version=$(git --version)
[ "$version" = 'git version 2.47.3' ] || { echo "cannot run: $version, not 2.47.3"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$work/.gitconfig

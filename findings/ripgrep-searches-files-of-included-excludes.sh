#!/usr/bin/env bash
# ripgrep 13.0.0 (Debian), git 2.47.3: files that git ignores by an included configuration are searched.
#
# Expected: ripgrep skips what git ignores by the user's `core.excludesFile`, as its manual says.
# Seen: it reads this setting from the user's configuration file, and does not follow `include`. If
# that file includes another one, as shared dotfiles do, or the setting is in the repository's
# configuration, `rg` searches logs and builds that `git status` does not show.
#
# For agent-bash: `rg` in a call can find more files than git shows.
set -eu
. "$(dirname "$0")/lib/debian.sh"
[ "$(git --version)" = 'git version 2.47.3' ] || { echo "cannot run: $(git --version), not 2.47.3"; exit 2; }
unpack ripgrep=13.0.0-4+b2
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=$work/.gitconfig
unset XDG_CONFIG_HOME RIPGREP_CONFIG_PATH
git init -q "$work/project"
cd "$work/project"
echo '*.out' > "$work/ignored"
for file in build.out main.c; do echo needle > "$file"; done
by_rg() { rg -l needle . | sed 's|./||' | sort | paste -sd ' '; }
found() { echo "git $(git ls-files -o --exclude-standard), rg $(by_rg)"; }
git config --global core.excludesFile "$work/ignored"
global=$(found)
mv "$work/.gitconfig" "$work/included"
git config --global include.path "$work/included"
included=$(found)
git config --global --unset include.path
git config core.excludesFile "$work/ignored"
repository=$(found)
echo "ripgrep 13.0.0: setting in ~/.gitconfig: $global; in an included file: $included; in the repository: $repository"
[ "$global/$included/$repository" = 'git main.c, rg main.c/git main.c, rg build.out main.c/git main.c, rg build.out main.c' ]

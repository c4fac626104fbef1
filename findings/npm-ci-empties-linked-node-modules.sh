#!/usr/bin/env bash
# npm 11.19.1 (npm): `npm ci` in a worktree empties node_modules of the first worktree through a
# link.
#
# Expected: where node_modules is a link, npm removes the link, as `npm install` does, or refuses.
# To save an install, a new worktree of an agent often links node_modules to that of the first
# one. Seen: before it installs, `npm ci` removes everything within node_modules, and for that it
# follows the link. Then it replaces the link by a directory of its own. It exits with 0 without a
# warning, and in the first worktree every program that needs a package fails. `npm install` and
# `npm prune` only replace the link.
#
# For agent-bash: a call with recorded changes lists files that it removed outside its directory;
# a sandbox whose only writable directory is the worktree refuses such a removal.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" npm@11.19.1 > /dev/null 2>&1 \
    || { echo 'cannot run: npm cannot install npm@11.19.1'; exit 2; }
export PATH=$work/node_modules/.bin:$PATH HOME=$work npm_config_update_notifier=false GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
mkdir "$work/first"
cd "$work/first"
echo '{"name": "project", "version": "1.0.0", "dependencies": {"is-odd": "3.0.1"}}' > package.json
echo node_modules > .gitignore
npm install --silent --no-audit --no-fund > "$work/log" 2>&1 || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
git init --quiet .
git add . && git -c user.name=user -c user.email=user@example.org commit --quiet -m first
# packages COMMAND: what both worktrees have after `npm COMMAND` in a new one with a link.
packages() {
    npm install --silent --no-audit --no-fund > "$work/log" 2>&1
    git worktree add --quiet --detach "$work/tree-$1"
    ln -s "$work/first/node_modules" "$work/tree-$1/node_modules"
    (cd "$work/tree-$1" && npm "$1" --no-audit --no-fund > "$work/log" 2>&1) && code=0 || code=$?
    [ -L "$work/tree-$1/node_modules" ] && kind="link" || kind="directory"
    echo "exit code $code, $kind with $(find "$work/tree-$1/node_modules/" -mindepth 1 -maxdepth 1 -name 'is-*' | wc -l)," \
        "in the first $(find node_modules -mindepth 1 -maxdepth 1 -name 'is-*' | wc -l)"
}
output="install: $(packages install); ci: $(packages ci)"
echo "npm 11.19.1: packages in the worktree whose node_modules was a link: $output"
[ "$output" = 'install: exit code 0, directory with 2, in the first 2; ci: exit code 0, directory with 2, in the first 0' ]

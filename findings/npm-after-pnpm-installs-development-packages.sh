#!/usr/bin/env bash
# npm 11.19.1, pnpm 12.21.0 (npm): `npm install` in a project of pnpm installs mocha and 200 more packages.
#
# Expected: `npm install is-even` adds is-even, or npm refuses a node_modules that is not its own. Seen:
# pnpm links node_modules/is-odd to its store. npm takes such a link for a directory that is under
# development, and installs what that package needs for its own development: of is-odd these
# are mocha and gulp-format-md, with all that they need. npm exits with 0. `pnpm install` removes
# them again.
#
# For agent-bash: with recorded changes, the result of the call says how many files it created.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" npm@11.19.1 pnpm@12.21.0 > /dev/null 2>&1 \
    || { echo 'cannot run: npm cannot install npm@11.19.1 and pnpm@12.21.0'; exit 2; }
export PATH=$work/node_modules/.bin:$PATH HOME=$work npm_config_update_notifier=false
# packages MANAGER: installs is-odd by the manager, then is-even by npm.
packages() {
    mkdir "$work/$1"
    cd "$work/$1"
    echo '{"name": "project", "version": "1.0.0", "dependencies": {"is-odd": "3.0.1"}}' > package.json
    "$1" install > "$work/log" 2>&1 || { echo "cannot run: $(tail -n 1 "$work/log")"; exit 2; }
    npm install --no-audit --no-fund is-even@1.0.0 > "$work/log" 2>&1 && code=0 || code=$?
    [ -e node_modules/mocha ] && mocha='with mocha' || mocha='without mocha'
    [ "$(find node_modules -mindepth 1 -maxdepth 1 -not -name '.*' | wc -l)" -gt 100 ] && many='over 100' || many='under 100'
    echo "exit code $code, $many packages, $mocha"
}
npm=$(packages npm) || { echo "$npm"; exit 2; }
pnpm=$(packages pnpm) || { echo "$pnpm"; exit 2; }
echo "npm install is-even where is-odd was installed by npm: $npm; by pnpm: $pnpm"
[ "$npm; $pnpm" = 'exit code 0, under 100 packages, without mocha; exit code 0, over 100 packages, with mocha' ]

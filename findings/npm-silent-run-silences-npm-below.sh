#!/usr/bin/env bash
# npm 11.19.1 (npm): below `npm run --silent`, a failing `npm install` prints nothing at all.
#
# Expected: `--silent` hides the two lines that npm prints before a script, and is an option of this
# one npm. Seen: npm passes its options to the script in the environment (`npm_config_loglevel`), so
# each npm below it is silent, too, in any directory and at any depth. `npm install` of a package
# that cannot be had exits with 1 and prints no byte. An agent or a server that was started so
# has only the exit code.
#
# For agent-bash: the variable is inherited like any other; if each npm is silent, it is set where
# agent-bash was started.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --silent --no-audit --no-fund --prefix "$work" npm@11.19.1 > /dev/null 2>&1 \
    || { echo 'cannot run: npm cannot install npm@11.19.1'; exit 2; }
mkdir "$work/agent" "$work/other"
echo '{"name": "other"}' > "$work/other/package.json"
echo '{"name": "agent", "scripts": {"start": "bash ../command"}}' > "$work/agent/package.json"
cat > "$work/command" <<'S'
cd ../other
output=$(npm install --offline --cache ./cache no-such-package 2>&1) && code=0 || code=$?
case $output in *ENOTCACHED*) output=error ;; esac
echo "exit code $code, '$output'"
S
cd "$work/agent"
export PATH=$work/node_modules/.bin:$PATH HOME=$work npm_config_update_notifier=false
unset npm_config_loglevel
loud=$(npm run start 2> /dev/null | tail -n 1)
silent=$(npm run --silent start 2> /dev/null | tail -n 1)
echo "npm 11.19.1: npm install below npm run: $loud; below npm run --silent: $silent"
[ "$loud; $silent" = "exit code 1, 'error'; exit code 1, ''" ]

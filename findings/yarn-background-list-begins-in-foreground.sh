#!/usr/bin/env bash
# Yarn 4.18.1 (npm, @yarnpkg/cli-dist): of `build && serve & test`, `build` is in the foreground.
#
# Expected: the list before `&` runs in the background as a whole, as in sh, by which npm and pnpm
# run the same script: `test` starts at once. Seen: `build` runs in the foreground, `test` starts
# after it, and only the last command of the list is in the background. A `cd` at the beginning of
# the list also changes the directory of the commands after `&`. In parentheses, the list runs as
# expected.
#
# For agent-bash: the order of a script's output below `yarn run` can differ from `npm run`.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @yarnpkg/cli-dist@4.18.1
mkdir "$work/project/sub"
touch "$work/project/yarn.lock"
echo 'setTimeout(() => console.log(process.argv[2]), 700)' > "$work/project/step.js"
list='node step.js built && node step.js served'
cat > "$work/project/package.json" <<J
{"name": "finding", "private": true, "scripts": {"list": "$list & echo tested", "group": "($list) & echo tested",
 "cd": "cd sub && true & pwd"}}
J
# run SCRIPT LINES COMMAND ...: npm does not wait for the background.
run() {
    in_clean_environment "${@:3}" "$1" || cannot_run "$(tail -n 1 "$work/log")"
    for _ in {1..50}; do [ "$(grep -cvE '^(>|$)' "$work/log")" -lt "$2" ] || break; sleep 0.1; done
    grep -vE '^(>|$)' "$work/log" | sed 's|.*/||' | paste -sd ' '
}
yarn=("$work/node_modules/@yarnpkg/cli-dist/bin/yarn.js" run)
environment=(YARN_ENABLE_TELEMETRY=0 YARN_ENABLE_NETWORK=0 YARN_NODE_LINKER=node-modules)
in_clean_environment "${environment[@]}" node "${yarn[0]}" install || cannot_run "$(tail -n 1 "$work/log")"
in_yarn=$(run list 3 "${environment[@]}" node "${yarn[@]}")
group=$(run group 3 "${environment[@]}" node "${yarn[@]}")
directory=$(run cd 1 "${environment[@]}" node "${yarn[@]}")
in_npm=$(run list 3 npm --no-update-notifier run)
echo "Yarn 4.18.1: build && serve & test: $in_yarn, in parentheses: $group, npm: $in_npm; cd & pwd: $directory"
[ "$in_yarn/$group/$in_npm/$directory" = 'built tested served/tested built served/tested built served/sub' ]

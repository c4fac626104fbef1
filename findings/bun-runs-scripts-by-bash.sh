#!/usr/bin/env bash
# bun 1.4.5 (npm): `bun run` runs a script of package.json by bash, where npm takes sh.
#
# Expected: the same shell for the same package.json, on the same machine. Seen: bun starts bash,
# and npm `sh`, which is dash on Debian and Ubuntu. With `[[ "$CI" == *1* ]]`, `{a,b}` or `source`,
# a script that passes with bun fails or, worse, succeeds with other words below npm.
#
# For agent-bash: the scripts of package.json have another shell below each runner; the rules and a
# record see the command that starts the runner.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install bun@1.4.5
program=$(find "$work/node_modules/@oven" -name bun -type f | head -n 1)
[ -n "$program" ] || cannot_run 'the package has no program for this machine'
[ "$(readlink -f /bin/sh)" = /usr/bin/dash ] || cannot_run 'sh is not dash'
echo '{"name": "a", "scripts": {"words": "echo {a,b} ${BASH_VERSION:+bash}"}}' > "$work/project/package.json"
in_clean_environment npm run --silent words || cannot_run 'npm run failed'
npm=$(cat "$work/log")
in_clean_environment "$program" run --silent words || cannot_run 'bun run failed'
bun=$(cat "$work/log")
echo "bun 1.4.5: 'echo {a,b}' prints '$bun', npm $(npm --version): '$npm'"
[ "$bun/$npm" = 'a b bash/{a,b}' ] || [ "$bun/$npm" = 'a b bash/{a,b} ' ]

#!/usr/bin/env bash
# Yarn 4.18.1 (npm, @yarnpkg/cli-dist): a script that any signal ended exits with 129.
#
# Expected: 137 after SIGKILL and 139 after a segmentation fault, as from a shell, or 1. Seen: each
# signal gives 129, which is the code of SIGHUP (128 + 1): the script looks as if its terminal had
# been closed. `echo $?` in a script of package.json prints 129, too. Only the scripts that Yarn's
# own shell starts directly are concerned: below `sh -c '...; exit'` the code is right.
#
# For agent-bash: below `yarn run`, exit code 129 can mean any signal.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @yarnpkg/cli-dist@4.18.1
cat > "$work/project/package.json" <<'J'
{"name": "finding", "private": true, "scripts": {
 "kill": "sh -c 'kill -KILL $$'", "crash": "sh -c 'kill -SEGV $$'", "stop": "sh -c 'kill -TERM $$'",
 "print": "sh -c 'kill -KILL $$'; echo $?", "exit": "sh -c 'exit 3'",
 "below": "sh -c \"sh -c 'kill -KILL \\$\\$'; exit\""}}
J
touch "$work/project/yarn.lock"
yarn() {
    in_clean_environment YARN_ENABLE_TELEMETRY=0 YARN_ENABLE_NETWORK=0 YARN_NODE_LINKER=node-modules \
        node "$work/node_modules/@yarnpkg/cli-dist/bin/yarn.js" "$@"
}
yarn install || cannot_run "$(tail -n 1 "$work/log")"
code() { local code=0; yarn run "$1" || code=$?; echo "$code"; }
codes=$(for script in kill crash stop below exit; do code "$script"; done | paste -sd ' ')
code print > "$work/code"
printed=$(tail -n 1 "$work/log")
echo "Yarn 4.18.1: SIGKILL, SIGSEGV, SIGTERM, SIGKILL below a shell, exit 3: $codes; \$? after SIGKILL: $printed"
[ "$codes/$printed" = '129 129 129 137 3/129' ]

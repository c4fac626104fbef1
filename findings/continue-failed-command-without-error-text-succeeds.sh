#!/usr/bin/env bash
# Continue CLI 1.5.47 (npm): a failed command is a success for the model unless it printed an error.
#
# Expected: the model is told whether a command failed. Seen: if nothing was printed to standard
# error, the result is standard output alone, without the exit code: a failing test run with `2>&1`
# looks like any output, and a killed command like `true`. If there is a line on standard error, the
# model reads the exit code and standard error only: all of standard output is lost.
#
# For agent-bash: the result has the exit code and both outputs.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @continuedev/cli@1.5.47
start_model '[["Bash", {"command": "echo 1 failed; exit 3"}], ["Bash", {"command": "kill -KILL $$"}],
    ["Bash", {"command": "true"}], ["Bash", {"command": "echo 1 failed; echo warning >&2; exit 3"}]]'
cat > "$work/config.yaml" <<Y
name: finding
version: 1.0.0
schema: v1
models: [{name: stand-in, provider: openai, model: stand-in, apiBase: "$url/v1", apiKey: none, roles: [chat],
          capabilities: [tool_use]}]
Y
in_clean_environment CONTINUE_TELEMETRY_ENABLED=0 node "$work/node_modules/@continuedev/cli/dist/cn.js" \
    --config "$work/config.yaml" --auto -p 'go on' || cannot_run "$(tail -n 1 "$work/log")"
[ "$(result 2)" = '' ] || cannot_run "true has the result $(result 2)"
echo "Continue CLI 1.5.47: exit 3: '$(result 0)'; SIGKILL: '$(result 1)'; exit 3 with a warning: '$(result 3)'"
[ "$(result 0)/$(result 1)/$(result 3)" = '1 failed//Error executing tool Bash: Error (exit code 3): warning' ]

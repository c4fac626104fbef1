#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm): the shell of hooks is the first `bash` of PATH.
#
# Expected: hooks run by `/bin/sh`, as in other agents, or by a fixed shell; a `bash` that the user
# puts first in PATH for the model's commands (a wrapper, a newer version) gets these alone. Seen:
# the wrapper gets each hook's line as well, in the same form (`-c TEXT`). Only the environment
# tells them apart: `GEMINI_PROJECT_DIR` is set for hooks, `GEMINI_CLI` for commands.
#
# For agent-bash: `agent-bash shell` leaves hooks to bash; the environment tells them from the
# model's commands.
set -eu
. "$(dirname "$0")/lib/agent.sh"
mkdir "$work/bin" "$work/home/.gemini"
cat > "$work/bin/bash" <<T
#!/bin/sh
case \${GEMINI_PROJECT_DIR:+hook}\${GEMINI_CLI:+command} in hook|command) echo "\${GEMINI_PROJECT_DIR:+hook}\${GEMINI_CLI:+command}" >> $work/calls ;; esac
exec /bin/bash "\$@"
T
chmod +x "$work/bin/bash"
install @google/gemini-cli@0.61.0
start_model '[["run_shell_command", {"command": "echo ran"}]]'
cat > "$work/home/.gemini/settings.json" <<T
{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
 "general": {"enableAutoUpdate": false},
 "hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"type": "command", "command": "true"}]}]}}
T
in_clean_environment PATH="$work/bin:$PATH" GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="$url" node \
    "$work/node_modules/@google/gemini-cli/bundle/gemini.js" --model gemini-2.5-pro --yolo --skip-trust \
    --prompt 'go on' || cannot_run "$(tail -n 1 "$work/log")"
grep -q ran <<< "$(result 0)" || cannot_run 'the command has no result'
calls=$(paste -sd ' ' "$work/calls")
echo "Gemini CLI 0.61.0: the first bash of PATH runs: $calls"
[ "$calls" = 'hook command' ]

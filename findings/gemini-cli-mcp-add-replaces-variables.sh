#!/usr/bin/env bash
# Gemini CLI 0.61.0, Qwen Code 0.24.4 (npm): `mcp add` replaces the variables of other servers.
#
# Expected: adding a server adds its entry, and other entries stay as they are. Seen: the commands
# read the settings with each `$NAME` replaced by its value of this moment, and write them back. The
# entry of another server, `$TOOLS/server`, becomes `/opt/tools/server`, and the settings no longer
# work on another machine, or after the variable has changed.
#
# For agent-bash: `setup` inserts one entry into the text and leaves all other bytes.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @google/gemini-cli@0.61.0 @qwen-code/qwen-code@0.24.4

# command_after DIRECTORY PROGRAM: the command of the other server, after one was added.
command_after() {
    mkdir "$work/home/$1"
    echo '{"mcpServers": {"other": {"command": "$TOOLS/server"}}}' > "$work/home/$1/settings.json"
    in_clean_environment TOOLS=/opt/tools node "$work/node_modules/$2" mcp add --scope user new /bin/true \
        || cannot_run "$(tail -n 1 "$work/log")"
    python3 -c 'import json, sys; all = json.load(open(sys.argv[1]))["mcpServers"]; print(all["other"]["command"], "new" in all)' \
        "$work/home/$1/settings.json"
}
output="Gemini CLI 0.61.0: $(command_after .gemini @google/gemini-cli/bundle/gemini.js)"
output+=", Qwen Code 0.24.4: $(command_after .qwen @qwen-code/qwen-code/cli.js)"
echo "$output"
[ "$output" = 'Gemini CLI 0.61.0: /opt/tools/server True, Qwen Code 0.24.4: /opt/tools/server True' ]

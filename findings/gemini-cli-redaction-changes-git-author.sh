#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm): if secrets are hidden from commands, commits have another author.
#
# Expected: `security.environmentVariableRedaction.enabled` keeps tokens and passwords from
# commands, and leaves the rest. Seen: each variable is dropped that has AUTH, KEY, CERT or a
# similar word anywhere in its name. GIT_AUTHOR_NAME has AUTH in "AUTHOR", so a commit is by the
# user of the repository's configuration, while GIT_COMMITTER_NAME stays. SSH_AUTH_SOCK,
# SSL_CERT_FILE and KEYMAP are missing, too. Nothing says so, and git exits with 0.
#
# For agent-bash: the sandbox removes secrets by whole words of a name, and keeps GIT_AUTHOR_NAME
# and the paths.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @google/gemini-cli@0.61.0
git init -q "$work/project"
git -C "$work/project" config user.name configured
git -C "$work/project" config user.email user@example.invalid
variables=(GIT_AUTHOR_NAME=variable GIT_COMMITTER_NAME=variable SSH_AUTH_SOCK=a SSL_CERT_FILE=a KEYMAP=a EDITOR=a)
calls='[["run_shell_command", {"command": "git commit -q --allow-empty -m first && git log -1 --format=\"by %an, %cn;\""}],
    ["run_shell_command", {"command": "env | grep -oE \"^(SSH_AUTH_SOCK|SSL_CERT_FILE|KEYMAP|EDITOR)\""}]]'
mkdir "$work/home/.gemini"
# run ENABLED: prints what the model reads.
run() (
    start_model "$calls"
    trap 'kill "$model_pid"' EXIT
    echo '{"security": {"auth": {"selectedType": "gemini-api-key"}, "environmentVariableRedaction": {"enabled": '"$1"'}},
        "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}' \
        > "$work/home/.gemini/settings.json"
    in_clean_environment GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="$url" "${variables[@]}" node \
        "$work/node_modules/@google/gemini-cli/bundle/gemini.js" --model gemini-2.5-pro --yolo --skip-trust \
        --prompt 'go on' || cannot_run "$(tail -n 1 "$work/log")"
    { result 0; result 1; } | grep -oE 'by .*|(SSH|SSL)_[A-Z_]*|KEYMAP|EDITOR' | sort | paste -sd ' '
    rm "$work/port"
)
without=$(run false)
with=$(run true)
echo "Gemini CLI 0.61.0: variables, author and committer without redaction: $without; with it: $with"
[ "$without" = 'EDITOR KEYMAP SSH_AUTH_SOCK SSL_CERT_FILE by variable, variable;' ]
[ "$with" = 'EDITOR by configured, variable;' ]

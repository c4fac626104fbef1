#!/usr/bin/env bash
# Gemini CLI 0.61.0 (npm): `git commit` in a command fails, as the user's git configuration is
# hidden.
#
# Expected: git in an agent's shell has the user's name, aliases and settings of `~/.gitconfig`.
# Seen: the shell has GIT_CONFIG_GLOBAL=/dev/null, no system configuration, and eight settings by
# GIT_CONFIG_COUNT, which also precede the repository's own: no credential helper, no SSH command,
# no editor, and an empty `core.hooksPath`. `git commit` fails with a request to set a name, though
# the user has set one.
#
# For agent-bash: settings by `GIT_CONFIG_COUNT` are passed on whole, or not at all.
set -eu
. "$(dirname "$0")/lib/agent.sh"
printf '[user]\n\tname = A. User\n\temail = user@example.invalid\n' > "$work/home/.gitconfig"
git init -q "$work/project"
gemini_cli '[["run_shell_command", {"command": "git config user.name; git commit --allow-empty -m first"}]]'
outside=$(HOME=$work/home git -C "$work/project" config user.name)
message=$(result 0 | grep -o 'Please tell me who you are' | head -n 1) || true
names=$(result 0 | grep -c 'A. User') || true
echo "Gemini CLI 0.61.0: outside '$outside', in the agent's shell $names times; commit: '$message'"
[ "$outside/$names/$message" = 'A. User/0/Please tell me who you are' ]

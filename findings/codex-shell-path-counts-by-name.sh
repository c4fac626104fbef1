#!/usr/bin/env bash
# Codex 0.171.0 (npm): the parameter `shell` of `exec_command` takes a path, and runs another file.
#
# Expected: `"shell": "/home/user/bin/bash"` runs that file, and `/usr/bin/dash` runs dash by that
# name; without it, `$SHELL` or the first `bash` of PATH runs. Seen: only the last part of the path
# counts. "bash" is always `/bin/bash`; a name that Codex does not know is `/bin/sh`, without a
# remark. $SHELL and PATH do not count either: the default is the account's shell of /etc/passwd. So
# neither the user nor the model can choose a bash of their own (a newer one, a wrapper).
#
# For agent-bash: Codex can be guarded by its hook, not by replacing its shell.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install @openai/codex@0.171.0
program=$(find "$work/node_modules" -name codex -type f -path '*linux*' | head -n 1)
[ -n "$program" ] || cannot_run 'the package has no program for this machine'
mkdir "$work/bin"
printf '#!/bin/sh\ntouch %s\nexec /bin/bash "$@"\n' "$work/used" > "$work/bin/bash"
chmod +x "$work/bin/bash"
start_model '[["exec_command", {"cmd": "echo \"shell $0\"", "shell": "'"$work"'/bin/bash"}],
              ["exec_command", {"cmd": "echo \"shell $0\"", "shell": "/usr/bin/dash"}],
              ["exec_command", {"cmd": "echo \"shell $0\""}]]'
mkdir "$work/home/.codex"
cat > "$work/home/.codex/config.toml" <<T
model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.stand-in]
name = "stand-in"
base_url = "$url/v1"
wire_api = "responses"
T
in_clean_environment PATH="$work/bin:$PATH" SHELL="$work/bin/bash" "$program" exec --skip-git-repo-check 'go on' \
    || cannot_run "$(tail -n 1 "$work/log")"
shells=$(for n in 0 1 2; do result "$n" | sed -n 's/^shell //p'; done | paste -sd ' ')
[ -e "$work/used" ] && used=yes || used=no
echo "Codex 0.171.0: a path to bash, to dash, and none run: $shells; the named file was used: $used"
[ "$shells/$used" = '/bin/bash /bin/sh /bin/bash/no' ]

#!/usr/bin/env bash
# direnv 2.32.1 (Debian): leaving a directory also takes back what was set by hand within it.
#
# Expected: on leaving, direnv removes what `.envrc` added, and other changes stay: a directory that
# was appended to PATH later, or another value of a variable. Seen: each variable that `.envrc` set
# gets the value from before it was loaded. A PATH that was extended within the directory (`.
# venv/bin/activate`, `export PATH=$PATH:...`) loses that part, without a message. A variable that
# `.envrc` does not mention stays.
#
# For agent-bash: in a session with direnv, variables can change back at `cd`.
set -eu
. "$(dirname "$0")/lib/debian.sh"
unpack direnv=2.32.1-2+b4
export HOME=$work
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
mkdir "$work/project"
cd "$work"
echo 'PATH_add bin; export MODE=project' > project/.envrc
direnv allow project
cd project
eval "$(direnv export bash 2> "$work/log")"
[ "$MODE" = project ] || { echo 'cannot run: .envrc was not loaded'; exit 2; }
PATH=$PATH:/opt/later/bin
export MODE=by-hand OTHER=by-hand
cd ..
eval "$(direnv export bash 2> "$work/log")"
case :$PATH: in *:/opt/later/bin:*) path=stays ;; *) path=lost ;; esac
echo "direnv 2.32.1, after leaving: a later part of PATH: $path; MODE: ${MODE-unset}; OTHER: ${OTHER-unset}"
[ "$path ${MODE-unset} ${OTHER-unset}" = 'lost unset by-hand' ]

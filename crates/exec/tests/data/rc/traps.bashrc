set -o functrace
trap 'echo debug' DEBUG
trap 'echo err' ERR
trap 'echo bye; sleep 1000' EXIT
trap 'echo return' RETURN
PROMPT_COMMAND='echo prompt'
PS4='$(echo ps4)'
IFS=ef:
history -s 'a command of mine'
trapped() { echo trapped; }


# What Lmod, conda and zoxide do: functions need variables, some of which are exported.
export MY_CMD="$HOME/cmd"
my_prefix='z#'
my_list=(one "two three")
declare -A my_map=([a]=1 [b]='x y')
readonly my_fixed=fixed
my_unused=unused
declare -n my_reference=my_target
my_target=target
export MY_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789
module() { eval "$(printf 'export LOADED=%q' "$MY_CMD $1")"; }
z() { echo "$my_prefix ${my_list[1]} ${my_map[b]} $my_fixed $my_reference"; }
authorize() { echo got "Authorization: ${MY_HEADER-none}"; }
uses_token() { echo "${MY_TOKEN}"; }
calls_it() { if true; then uses_token; fi; }
export -f module

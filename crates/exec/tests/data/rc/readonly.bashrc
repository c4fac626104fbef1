readonly HISTFILE=/nonexistent/history HISTSIZE=1
declare -r PATH="/opt/readonly:$PATH"
fixed() { echo fixed; }
readonly -f fixed
declare -r IFS=$' \t\n'

[ -z "$PS1" ] && return
[[ $- == *i* ]] || return
prompted() { echo prompted; }

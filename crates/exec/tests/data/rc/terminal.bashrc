# Does nothing without a terminal, and reads from it.
[ -t 0 ] && [[ -t 1 && -t 2 ]] && tty -s || return
first() { echo first; }
read -r -p "Update? " answer
read -rs -n 1 key
cat
stty -echo; read -r answer; stty sane
[ "$(stty size)" = "24 80" ] && size() { echo size; }
export OF_TERMINAL=$(tty) ANSWER=[$answer]
head -c 300000 /dev/zero
head -c 300000 /dev/zero >&2
case $- in *i*) last() { echo last; } ;; esac

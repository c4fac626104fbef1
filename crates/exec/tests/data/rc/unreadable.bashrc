before() { echo before; }
# bash 5.2 prints this pattern without its parenthesis, and cannot read that again.
unreadable() { case $1 in (esac) echo esac ;; *) echo other ;; esac; }
hard() {
    cat <<A && cat <<B | tr a-z A-Z
first
A
second
B
    for ((i = 0; i < 2; i++)); do echo $i; done
    [[ a =~ ^(a|b)$ && -n $1 ]] && ! false
    local -n ref=$1
    echo $'a\tb\'c' "$"'x' ${ref@Q} {fd}>&1
    while read -r line; do echo "$line"; done < <(echo sub)
}
# Nor a definition that begins like an assignment.
function odd=name { echo odd; }
function 12 { echo number; }
subshell() (echo sub) 2>&1

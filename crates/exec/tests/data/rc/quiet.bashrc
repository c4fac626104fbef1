# Definitions that no script of the corpus uses.
quiet_one() { :; }
quiet_two() { local x=$1; case $x in a) quiet_one;; esac; }
alias quiet='quiet_one here'

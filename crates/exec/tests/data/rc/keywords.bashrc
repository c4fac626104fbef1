alias if='echo if'
alias '{=echo brace'
alias '[[=echo brackets'
alias '!=echo not'
alias time='echo time'
function coproc { echo coproc; }
alias kept='echo kept'

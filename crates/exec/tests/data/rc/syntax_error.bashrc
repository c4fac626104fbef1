before() { echo before; }
alias bef=before
if then (( ;
after() { echo after; }

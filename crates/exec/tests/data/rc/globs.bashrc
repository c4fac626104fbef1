globs() { echo globs; }
alias gl=globs
shopt -s failglob nocasematch dotglob extdebug xpg_echo lastpipe
set -o posix
set -fC +B
set -k

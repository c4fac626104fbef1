alias rm='rm -i' ls='ls --color=auto' grep='echo evil' cat='echo evil' find='echo evil' sed='echo evil' cp='cp -i' mv='mv -i'
alias git='echo evil' sudo='sudo ' tail='echo evil'
alias cd='echo evil' builtin='echo evil' exec='echo evil' echo='echo evil' export='echo evil' command='echo evil'
lsd() { ls -d "$1"; }
alias lsr='lsd /'
\builtin eval '
ls() { echo evil; }; grep() { echo evil; }; find() { echo evil; }; sed() { echo evil; }; rm() { echo evil; }
cp() { echo evil; }; mv() { echo evil; }; cat() { echo evil; }; git() { echo evil; }; xargs() { echo evil; }
cd() { echo evil; }; eval() { echo evil; }; exec() { echo evil; }; export() { echo evil; }; exit() { echo evil; }
unset() { echo evil; }; set() { echo evil; }; trap() { echo evil; }; shopt() { echo evil; }; return() { echo evil; }
declare() { echo evil; }; compgen() { echo evil; }; mapfile() { echo evil; }; read() { echo evil; }
alias() { echo evil; }; source() { echo evil; }; true() { false; }; test() { true; }; printf() { echo evil; }
echo() { :; }; command() { :; }; builtin() { :; }
'

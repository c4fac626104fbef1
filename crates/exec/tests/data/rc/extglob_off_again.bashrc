shopt -s extglob
kind() { case $1 in @(a|b)) echo known ;; *) echo other ;; esac; }
shopt -u extglob

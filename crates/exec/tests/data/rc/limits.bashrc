umask 027
ulimit -S -c 0
ulimit -S -n 200
limited() { umask; ulimit -n; }

for i in 1 2 3 4 5 6 7 8; do (: | : | sleep 1000) & done
coproc WORKER { sleep 1000; }
out=$(echo sub)
forked() { echo "forked"; }

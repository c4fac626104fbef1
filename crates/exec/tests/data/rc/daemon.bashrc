(setsid sleep 1000 &)
nohup sleep 1000 >/dev/null 2>&1 &
sleep 1000 &
disown -a
agent() { echo agent; }

exec sleep 1000

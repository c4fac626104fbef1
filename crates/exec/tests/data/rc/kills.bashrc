early() { :; }
kill -KILL $$

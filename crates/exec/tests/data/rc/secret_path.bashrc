PATH="$PATH:https://me:hunter2@host/bin"
pathed() { :; }

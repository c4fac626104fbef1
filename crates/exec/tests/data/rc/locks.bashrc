: > "$HOME/.lock"
trap 'rm -f "$HOME/.lock"' TERM
( trap 'rm -f "$HOME/.lock"; exit' TERM; for i in {1..15}; do sleep 0.1; done; rm -f "$HOME/.lock" )
locked() { echo locked; }

usage() {
    cat <<EOF
usage: it's $1 "x" \$y
EOF
    cat <<'RAW'
raw $1 }
RAW
    cat <<<"here $1"
}

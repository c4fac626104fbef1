# Sourced by the scripts that run an agent: installs it in a temporary directory and gives it the
# stand-in for a model. The agent gets an empty home, and no network but loopback.
work=$(mktemp -d)
model_pid=
end() {
    [ -z "$model_pid" ] || kill "$model_pid"
    rm -rf "$work"
}
trap end EXIT
cannot_run() { echo "cannot run: $1"; exit 2; }
mkdir "$work/home" "$work/project" "$work/tmp"

# install PACKAGE@VERSION ...
install() {
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$work" "$@" > /dev/null 2>&1 \
        || cannot_run "npm cannot install $*"
}

# start_model CALLS: sets `url`.
start_model() {
    python3 "$(dirname "${BASH_SOURCE[0]}")/model.py" "$1" "$work" &
    model_pid=$!
    for _ in {1..100}; do [ -e "$work/port" ] && break; sleep 0.1; done
    url=http://127.0.0.1:$(cat "$work/port") || cannot_run 'the stand-in for a model did not start'
}

# in_clean_environment [NAME=VALUE ...] COMMAND ...: runs an agent in the project.
in_clean_environment() {
    (cd "$work/project" && exec timeout 150 env -i HOME="$work/home" TMPDIR="$work/tmp" PATH="$PATH" LANG=C.UTF-8 \
        USER=user SHELL=/bin/bash HTTPS_PROXY=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 \
        NO_PROXY=127.0.0.1 "$@") < /dev/null > "$work/log" 2>&1
}

# claude_code CALLS [ARGUMENT ...]: runs Claude Code 2.1.332.
claude_code() {
    install @anthropic-ai/claude-code@2.1.332
    start_model "$1"
    in_clean_environment ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=none IS_SANDBOX=1 \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 \
        "$work"/node_modules/@anthropic-ai/claude-code-linux-x64/claude -p 'go on' \
        --dangerously-skip-permissions --strict-mcp-config "${@:2}" || cannot_run "$(tail -n 1 "$work/log")"
}

# result N: the text that the model reads as the result of its call N, from 0.
result() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[int(sys.argv[2])])' "$work/results" "$1"; }

# gemini_cli CALLS: runs Gemini CLI 0.61.0.
gemini_cli() {
    install @google/gemini-cli@0.61.0
    start_model "$1"
    mkdir "$work/home/.gemini"
    echo '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false}}' > "$work/home/.gemini/settings.json"
    in_clean_environment GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL="$url" node \
        "$work/node_modules/@google/gemini-cli/bundle/gemini.js" --model gemini-2.5-pro --yolo --skip-trust \
        --prompt 'go on' || cannot_run "$(tail -n 1 "$work/log")"
}

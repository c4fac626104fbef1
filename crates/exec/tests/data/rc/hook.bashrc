# As direnv and version managers hook into the prompt.
_hook() {
    if [[ -f $PWD/.tool-versions ]]; then
        read -r version < "$PWD/.tool-versions"
        export TOOL_VERSION=$version PATH="/tools/$version:$PATH"
    fi
}
PROMPT_COMMAND=(_hook)
cd /

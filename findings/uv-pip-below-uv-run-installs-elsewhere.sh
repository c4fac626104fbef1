#!/usr/bin/env bash
# uv 0.13.9 (PyPI): below `uv run`, `uv pip install` in another project installs into the first one.
#
# Expected: in a project, `uv pip install` and `uv run` mean the project's `.venv`. Seen: below a
# program that `uv run` started, `uv pip install` follows VIRTUAL_ENV, which is that of the program's
# project, and `uv run` follows the directory. In the other project, "uv pip install six" succeeds,
# and "uv run python -c 'import six'" fails, with a warning only from the second command. The
# package is in the environment of the program that started the commands.
#
# For agent-bash: an agent that `uv run` has started passes VIRTUAL_ENV to the commands; `uvx` does not.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/v" && "$work/v/bin/pip" --quiet --disable-pip-version-check install uv==0.13.9 > /dev/null 2>&1 \
    || { echo 'cannot run: pip cannot install uv==0.13.9'; exit 2; }
export PATH=$work/v/bin:$PATH UV_CACHE_DIR=$work/cache UV_PYTHON_DOWNLOADS=never
unset VIRTUAL_ENV
for project in agent other; do
    mkdir "$work/$project"
    printf '[project]\nname = "%s"\nversion = "1"\nrequires-python = ">=3.9"\n' "$project" > "$work/$project/pyproject.toml"
    (cd "$work/$project" && uv sync --quiet) || { echo 'cannot run: uv sync failed'; exit 2; }
done
cat > "$work/commands" <<'S'
cd ../other
uv pip install --quiet six==1.17.0 2> /dev/null && echo installed
uv run --quiet python -c 'import six' 2> /dev/null && echo found || echo missing
S
below=$(cd "$work/agent" && uv run --quiet bash ../commands | paste -sd ' ')
where=$(cd "$work" && find agent other -name six.py | cut -d / -f 1)
alone=$(cd "$work/agent" && bash ../commands | paste -sd ' ')
echo "uv 0.13.9: in another project: $alone; below uv run: $below, in the project: $where"
[ "$alone; $below; $where" = 'installed found; installed missing; agent' ]

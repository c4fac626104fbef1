#!/usr/bin/env bash
# cargo 1.95.0, git 2.47.3: in a worktree below the repository, an alias has its words twice.
#
# Expected: a second worktree has the files of the first one, so `cargo task hello` does the same
# in both. Agents put worktrees below the repository (`.claude/worktrees/NAME`), where git ignores
# them. Seen: cargo merges `.cargo/config.toml` of all directories above. The worktree's own file
# and the one of the repository are the same file, and lists are joined: `task = ["run", "--"]`
# runs as `run -- run -- hello`, so the program gets other arguments, without a warning; so do
# `runner` and `rustflags`. An alias that is written as one string is not joined.
#
# For agent-bash: its own alias `xtask` is a string; a worktree beside the repository has no such
# file above.
set -eu
case "$(cargo --version) $(git --version)" in
    'cargo 1.95.0 '*' git version 2.47.3') ;;
    *) echo "cannot run: $(cargo --version), $(git --version)"; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CARGO_TARGET_DIR=$work/target GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
mkdir -p "$work/project/.cargo" "$work/project/src"
cd "$work/project"
printf '[package]\nname = "task"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n' > Cargo.toml
echo 'fn main() { println!("{}", std::env::args().skip(1).collect::<Vec<_>>().join(" ")); }' > src/main.rs
printf '[alias]\nlist = ["run", "--quiet", "--"]\ntext = "run --quiet --"\n' > .cargo/config.toml
echo .claude/ > .gitignore
git init --quiet . && git add . && git -c user.name=user -c user.email=user@example.org commit --quiet -m first
git worktree add --quiet .claude/worktrees/inside 2> /dev/null
git worktree add --quiet ../beside 2> /dev/null
run() { (cd "$1" && cargo "$2" hello 2> "$work/log") || { echo "cannot run: $(tail -n 1 "$work/log")" >&2; exit 2; }; }
output="$(run . list); beside: $(run ../beside list); inside: $(run .claude/worktrees/inside list), as text: $(run .claude/worktrees/inside text)"
echo "cargo 1.95.0: arguments of an alias in the repository: $output"
[ "$output" = 'hello; beside: hello; inside: run --quiet -- hello, as text: hello' ]

#!/usr/bin/env bash
# vitest 4.1.12 (npm), git 2.47.3: `vitest run -u` rewrites snapshots in the worktrees of agents.
#
# Expected: in the main checkout, vitest runs the tests of that checkout. Agents keep their linked
# worktrees in a hidden directory below it (`.claude/worktrees/NAME`), which .gitignore lists, and
# linters such as ruff and oxlint do not enter it. Seen: vitest skips node_modules and .git only.
# It runs the tests of every worktree, so an unfinished branch of an agent fails the checkout's
# tests. With `-u` it also writes the snapshots there: a failing test of that branch passes from
# then on. Run within the worktree, it finds that worktree's tests alone.
#
# For agent-bash: with recorded changes, the result of the call lists the files of the worktrees.
set -eu
version=$(git --version)
[ "$version" = 'git version 2.47.3' ] || { echo "cannot run: $version, not 2.47.3"; exit 2; }
. "$(dirname "$0")/lib/agent.sh"
install vitest@4.1.12
export HOME=$work/home GIT_CONFIG_NOSYSTEM=1
git config --global user.name user
git config --global user.email user@example.invalid
cd "$work/project"
git init -q
printf '%s\n' .claude/worktrees/ node_modules/ > .gitignore
echo '{"type": "module"}' > package.json
echo 'import { expect, test } from "vitest"; test("value", () => expect(1).toMatchSnapshot());' > value.test.js
# vitest [ARGUMENT ...]: `FAILED failed, PASSED passed` of the test files, in the current directory.
vitest() {
    NO_COLOR=1 timeout 100 "$work/node_modules/.bin/vitest" run --reporter json "$@" < /dev/null > "$work/log" 2>&1 || true
    python3 -c 'import json, sys; it = json.loads(next(line for line in sys.stdin if line.startswith("{")))
print(it["numFailedTests"], "failed,", it["numPassedTests"], "passed")' < "$work/log" || cannot_run "$(tail -n 1 "$work/log")"
}
vitest -u > /dev/null
git add .
git commit -qm first
git worktree add -q -b topic .claude/worktrees/topic
sed -i 's/expect(1)/expect(2)/' .claude/worktrees/topic/value.test.js
git -C .claude/worktrees/topic commit -qam unfinished
within=$(cd .claude/worktrees/topic && CI=true vitest)
main=$(CI=true vitest)
vitest -u > /dev/null
changed=$(git -C .claude/worktrees/topic diff --name-only)
after=$(cd .claude/worktrees/topic && CI=true vitest)
echo "vitest 4.1.12: within the worktree $within; in the main checkout $main; -u there changed '$changed' of the worktree, then $after"
[ "$within/$main" = '1 failed, 0 passed/1 failed, 1 passed' ]
[ "$changed/$after" = '__snapshots__/value.test.js.snap/0 failed, 1 passed' ]

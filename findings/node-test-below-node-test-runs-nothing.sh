#!/usr/bin/env bash
# Node 20.20.2: below a test of `node --test`, `node --test` runs no file and exits with 0.
#
# Expected: a failing test fails in each environment; an exit code of 0 says that the tests
# passed. Seen: the test runner gives its files the variable NODE_TEST_CONTEXT, and every process
# below inherits it. There, `node --test` takes itself for a part of the outer run: it skips all
# files, prints one warning and no count, and succeeds. So does the `npm test` of another project
# that an integration test, or an agent started from one, runs. `node FILE` runs and fails, but
# prints the runner's binary messages in place of a report. `env -u NODE_TEST_CONTEXT` is the
# cure.
#
# For agent-bash: commands inherit the variable like any other; a call whose `npm test` prints no
# count of tests has tested nothing.
set -eu
version=$(node --version) || { echo 'cannot run: no node'; exit 2; }
[ "$version" = v20.20.2 ] || { echo "cannot run: node $version, not v20.20.2"; exit 2; }
unset NODE_TEST_CONTEXT NODE_OPTIONS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > inner.test.mjs <<'J'
import test from 'node:test';
import assert from 'node:assert';
test('fails', () => assert.equal(1, 2));
J
cat > outer.mjs <<'J'
import test from 'node:test';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
test('starts commands', () => {
    const run = (env) => spawnSync('node', ['--test', 'inner.test.mjs'], { env, encoding: 'utf8' });
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const [below, cured] = [run(process.env), run(env)];
    writeFileSync('result', `${below.status} with ${below.stdout.length} bytes of report, without the variable ${cured.status}`);
});
J
node --test inner.test.mjs > /dev/null && plain=0 || plain=$?
node --test outer.mjs > /dev/null
output="alone $plain, below a test $(cat result)"
echo "node $version: exit code of a failing test: $output"
[ "$output" = 'alone 1, below a test 0 with 0 bytes of report, without the variable 1' ]

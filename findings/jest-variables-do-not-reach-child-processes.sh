#!/usr/bin/env bash
# jest 30.5.2 (npm): a variable that a test sets in `process.env` does not reach its child
# processes.
#
# Expected: as in Node, `execSync` without `env` passes on `process.env`; a test sets
# `process.env.CONFIG` and starts the program. Seen: in a test, `process.env` is a copy that jest
# has made, and Node's `child_process` reads the real one. The child runs with the former value or
# without one, and a variable that the test has deleted is still there. `{ env: process.env }`
# helps.
#
# For agent-bash: a jest test that starts `agent-bash` with another state directory must pass `env`.
set -eu
. "$(dirname "$0")/lib/agent.sh"
install jest@30.5.2
cd "$work/project"
echo '{}' > package.json
cat > a.test.js <<'J'
const { execSync } = require('node:child_process');
test('variables', () => {
    process.env.SET_BY_TEST = 'yes';
    delete process.env.DELETED_BY_TEST;
    const command = 'echo "${SET_BY_TEST:-no} ${DELETED_BY_TEST:-no}"';
    const texts = [execSync(command), execSync(command, { env: process.env })].map(String);
    require('node:fs').writeFileSync('result', texts.join('').trim().replace('\n', ', '));
});
J
in_clean_environment DELETED_BY_TEST=yes CI=true node "$work/node_modules/jest/bin/jest.js" --watchman=false \
    || cannot_run "$(tail -n 1 "$work/log")"
output=$(cat result)
echo "jest 30.5.2: set and deleted variable in the child: $output with env"
[ "$output" = 'no yes, yes no' ]

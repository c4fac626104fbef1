// caller.js PROGRAM ARGV0: starts a shell in all ways of `child_process`; prints a line per case.
const { spawn, spawnSync, exec, execFile } = require('child_process');
const [program, argv0] = process.argv.slice(2);
const scripts = [
  'echo out; echo err >&2; exit 3',
  'for i in {1..30}; do echo $i; echo e$i >&2; done',
  'kill -TERM $$',
  'cat; pwd; umask',
  'head -c 200000 /dev/zero | tr "\\0" x',
];
const short = (text) => { const all = String(text); return JSON.stringify(all.length > 200 ? all.length : all); };
const one = (script, how) => new Promise((resolve) => {
  const child = spawn(program, ['-c', script], { argv0, ...how });
  let out = '', err = '';
  child.stdout?.on('data', (data) => { out += data; });
  child.stderr?.on('data', (data) => { err += data; });
  child.stdin?.on('error', () => {});
  child.stdin?.end('input\n');
  child.on('close', (code, signal) => resolve(`${code} ${signal} ${short(out)} ${short(err)}`));
});
(async () => {
  const ways = { pipes: {}, 'no stdin': { stdio: ['ignore', 'pipe', 'pipe'] }, detached: { detached: true }, directory: { cwd: '/' }, ignored: { stdio: 'ignore' } };
  for (const [title, how] of Object.entries(ways)) {
    for (const script of scripts) console.log(title, '|', script, '|', await one(script, how));
  }
  for (const script of scripts) {
    const done = spawnSync(program, ['-c', script], { argv0, input: 'input\n' });
    console.log('sync', '|', script, '|', done.status, done.signal, short(done.stdout), short(done.stderr));
  }
  const executed = (command, how) => new Promise((resolve) => {
    exec(command, { shell: program, ...how }, (error, out, err) => resolve(`${error?.code} ${error?.signal} ${error?.killed} ${short(out)} ${short(err.replaceAll(/^\S*bash: /gm, 'bash: '))}`));
  });
  console.log('exec', await executed('echo a; nosuch; exit 4'));
  console.log('exec timeout', await executed('echo a; exec sleep 20', { timeout: 500 }));
  console.log('exec timeout, killed', await executed('echo a; exec sleep 20', { timeout: 500, killSignal: 'SIGKILL' }));
  console.log('exec maxBuffer', await executed('yes', { maxBuffer: 1000 }));
  const child = execFile(program, ['-c', 'echo ready; exec sleep 20']);
  child.stdout.once('data', () => child.kill('SIGINT'));
  console.log('kill', await new Promise((resolve) => child.on('close', (code, signal) => resolve(`${code} ${signal}`))));
})();

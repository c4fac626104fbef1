# caller.py PROGRAM ARGV0: starts a shell in all ways of `subprocess`; prints a line per case.
import os, resource, signal, subprocess, sys, tempfile
program, name = sys.argv[1:]
PIPE, STDOUT, NULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL
scripts = [
    'echo out; echo err >&2; exit 3',
    'for i in {1..30}; do echo $i; echo e$i >&2; done',
    'kill -TERM $$',
    'cat; pwd; umask; ulimit -n; ulimit -c',
    'nosuch; [ -t 0 ]; echo $?; [ -p /dev/stdin ]; echo $?',
]

def call(title, **how):
    for script in scripts:
        words = dict(executable=program, stdout=PIPE, stderr=PIPE, input=b'input\n') | how
        if 'stdin' in words:
            del words['input']
        try:
            done = subprocess.run([name, '-c', script], timeout=30, **words)
            print(title, '|', script, '|', done.returncode, done.stdout, done.stderr)
        except subprocess.TimeoutExpired as error:
            print(title, '|', script, '| timeout', error.output)

def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))

call('pipes')
call('one pipe', stderr=STDOUT)
call('no stdin', stdin=NULL)
call('nothing read', stdout=NULL, stderr=NULL)
call('a session of its own', start_new_session=True)
call('a group of its own', process_group=0)
call('directory', cwd='/')
call('umask', umask=0o027)
call('few descriptors', preexec_fn=limited(resource.RLIMIT_NOFILE, 64))
call('no core', preexec_fn=limited(resource.RLIMIT_CORE, 0))
call('nice', preexec_fn=lambda: os.nice(3))
call('empty environment', env={'PATH': '/usr/bin:/bin'} | {k: v for k, v in os.environ.items() if k.startswith('AGENT_BASH_')})
call('open descriptors', close_fds=False)

def ended(title, script, **how):
    done = subprocess.run([name, '-c', script], executable=program, stdout=PIPE, stderr=PIPE, timeout=30, **how)
    print(title, '|', done.returncode, done.stdout, done.stderr)

read, write = os.pipe()
ended('passed descriptor', f'echo x >&{write}; echo $?', pass_fds=[write], stdin=NULL)
os.set_blocking(read, False)
print(os.read(read, 10))
ended('ignored SIGINT', 'kill -INT $$; echo after; trap', preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
ended('ignored SIGHUP', 'kill -HUP $$; echo after', preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
ended('ignored SIGTERM', 'kill -TERM $$; echo after', preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
ended('bytes', b'printf "%s" \xff\xfe; exit $#')
ended('a byte as argument', 'printf "%s" "$1"; exit 9')
with tempfile.TemporaryFile() as file:
    file.write(b'echo from a file\nread x\nthe line\necho "[$x]"\n')
    file.seek(0)
    done = subprocess.run([name], executable=program, stdin=file, stdout=PIPE, stderr=PIPE)
    print('script on stdin', done, file.tell())
with tempfile.TemporaryFile() as file:
    done = subprocess.run([name, '-c', 'echo 1; echo 2 >&2; echo 3'], executable=program, stdout=file, stderr=STDOUT)
    file.seek(0)
    print('into one file', done.returncode, file.read())
process = subprocess.Popen([name, '-c', 'while read x; do echo got $x; done'], executable=program, stdin=PIPE, stdout=PIPE)
for number in range(5):
    process.stdin.write(b'%d\n' % number)
    process.stdin.flush()
    print('dialogue', process.stdout.readline())
process.stdin.close()
print('dialogue', process.wait(30))
process = subprocess.Popen([name, '-c', 'echo ready; exec sleep 20'], executable=program, stdout=PIPE)
print('terminate', process.stdout.readline(), process.terminate(), process.wait(30))
process = subprocess.Popen([name, '-c', 'echo ready; sleep 20'], executable=program, stdout=PIPE, start_new_session=True)
print('killpg', process.stdout.readline(), os.killpg(process.pid, signal.SIGTERM), process.wait(30))

# terminal.py STDIN PROGRAM ARGV...: runs a program on a terminal of its own, copies its output to
# stdout, and ends as the program has ended.
import fcntl, os, pty, resource, signal, sys, termios
stdin, program, *argv = sys.argv[1:]
master, slave = pty.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    null = os.open("/dev/null", os.O_RDONLY)
    for fd, source in ((0, slave if stdin == "terminal" else null), (1, slave), (2, slave)):
        os.dup2(source, fd)
    os.closerange(3, 64)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execv(program, argv)
os.close(slave)
while True:
    try:
        data = os.read(master, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.flush()
status = os.waitpid(child, 0)[1]
if os.WIFSIGNALED(status):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))

//! Tests of the supervisor and its host's side, without the protocol of shells. Uses its own `main`
//! instead of libtest's, so that this program can be re-executed as a supervisor.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails may stop"
)]

mod forked;
mod malformed;

use agent_bash_core::{Clock, Shell, StreamId, Timestamp};
use agent_bash_process::supervisor::{
    self, Event, NotDetached, ShellEnd, ShellFds, ShellStart, StartError, Supervisor,
    SupervisorClient,
};
use agent_bash_process::{ProcessInfo, SystemClock};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Deadline for events that should happen soon; long, as the machine may be busy.
const SOON: Duration = Duration::from_secs(30);

/// Longer than any test waits.
const ENDLESS: Duration = Duration::from_secs(3600);

type Case = fn(Supervisor) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! cases {
    ($($name:path),* $(,)?) => {
        &[$((stringify!($name), |supervisor| Box::pin($name(supervisor)))),*]
    };
}

const CASES: &[(&str, Case)] = cases![
    shell_runs_and_its_end_is_reported,
    supervisor_serves_shells_one_after_another,
    failed_shell_start_names_the_program,
    other_program_as_supervisor_is_refused_and_ended,
    terminate_ends_tree_with_and_without_grace,
    survivors_are_listed_with_their_command,
    dropping_client_ends_tree_and_reaps_supervisor,
    close_leaves_no_zombie,
    supervisor_reaps_orphans,
    supervisor_survives_signals_of_groups_and_timers,
    wake_continues_stopped_supervisor,
    stopped_supervisor_counts_as_disconnected,
    all_reaped_waits_for_dropped_supervisors,
    early_supervisor_gives_shells_the_requested_environment,
    unused_early_supervisor_is_reaped,
    order_before_hello_is_executed,
    slow_sandbox_start_is_refused_and_tried_again,
    forked::host_with_one_thread_forks_its_supervisor,
    forked::host_with_threads_executes_its_supervisor,
    malformed::order_that_cannot_be_executed_is_answered,
    malformed::unparseable_order_closes_the_connection,
];

fn main() -> ExitCode {
    let token = supervisor::init();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(forked::HOST) {
        forked::host(&token, arguments.next().as_deref());
        return ExitCode::SUCCESS;
    }
    let supervisor = Supervisor::this_program(&token);
    let trials = CASES.iter().map(|(name, case)| {
        let supervisor = supervisor.clone();
        Trial::test(*name, move || {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async { tokio::time::timeout(SOON * 2, case(supervisor)).await })?;
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn environment() -> BTreeMap<std::ffi::OsString, std::ffi::OsString> {
    [("PATH", "/usr/bin:/bin"), ("GIVEN", "1")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

async fn launch(supervisor: &Supervisor) -> Result<SupervisorClient, StartError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    supervisor.launch(&environment(), &clock).await
}

fn shell(script: &str) -> ShellStart {
    ShellStart {
        env_changes: vec![("CHANGED".into(), Some("2".into()))],
        output: vec![StreamId::Stdout, StreamId::Stderr],
        ..ShellStart::of(
            &Shell::bash("/bin/bash"),
            ["-c", script].map(Into::into).into(),
        )
    }
}

/// Launches a supervisor with a shell.
async fn launch_shell(supervisor: &Supervisor, script: &str) -> (SupervisorClient, ShellFds) {
    let mut supervised = launch(supervisor).await.unwrap();
    let fds = start(&mut supervised, script).await;
    (supervised, fds)
}

async fn start(supervised: &mut SupervisorClient, script: &str) -> ShellFds {
    supervised.start(shell(script), None).await.unwrap()
}

/// Waits until the shell's tree is empty. Returns how the shell ended.
async fn end(supervised: &mut SupervisorClient) -> ShellEnd {
    let mut ended = None;
    loop {
        match supervised.event().await.unwrap().0 {
            Event::Ended { end, empty, .. } if empty => return end,
            Event::Ended { end, .. } => ended = Some(end),
            Event::Empty => return ended.unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

fn stdout(output: Vec<(StreamId, std::os::fd::OwnedFd)>) -> std::os::fd::OwnedFd {
    output.into_iter().next().unwrap().1
}

fn text(fd: std::os::fd::OwnedFd) -> String {
    let mut text = String::new();
    File::from(fd).read_to_string(&mut text).unwrap();
    text
}

async fn soon(mut done: impl FnMut() -> bool) -> bool {
    let look = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, look).await.is_ok()
}

/// True if the process is running or a zombie.
fn exists(pid: u32) -> bool {
    ProcessInfo::read(pid.cast_signed()).is_some()
}

/// Reads the pids that a script prints, one per line.
async fn printed_pids(fds: &ShellFds, count: usize) -> Vec<u32> {
    let mut stdout = File::from(fds.output[0].1.try_clone().unwrap());
    let read = tokio::task::spawn_blocking(move || {
        let mut text = Vec::new();
        while text.split(|byte| *byte == b'\n').count() <= count {
            let mut byte = [0];
            stdout.read_exact(&mut byte).unwrap();
            text.push(byte[0]);
        }
        String::from_utf8(text).unwrap()
    });
    let text = read.await.unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

async fn shell_runs_and_its_end_is_reported(supervisor: Supervisor) {
    let cases = [
        (
            "echo $GIVEN $CHANGED; echo err >&2; exit 3",
            "1 2\n",
            ShellEnd::Exited(3),
        ),
        ("kill -9 $$", "", ShellEnd::Signaled(9)),
        ("kill -40 $$", "", ShellEnd::Signaled(40)),
        (
            "echo {script_fd} | grep -c '^[0-9]'",
            "1\n",
            ShellEnd::Exited(0),
        ),
        (
            "pwd; echo ${#PPID}x | tr -d 0-9",
            "/\nx\n",
            ShellEnd::Exited(0),
        ),
    ];
    for (script, out, wanted) in cases {
        let (mut supervised, fds) = launch_shell(&supervisor, script).await;
        assert_eq!(end(&mut supervised).await, wanted, "{script}");
        assert_eq!(text(stdout(fds.output)), out, "{script}");
    }
}

async fn supervisor_serves_shells_one_after_another(supervisor: Supervisor) {
    let mut supervised = launch(&supervisor).await.unwrap();
    for code in 0..5 {
        let fds = start(&mut supervised, &format!("echo $PPID; read; exit {code}")).await;
        // A second shell is refused while the first is running.
        let second = supervised.start(shell("true"), None).await;
        assert!(matches!(second, Err(StartError::Shell(_))), "{second:?}");
        drop(fds.control);
        assert_eq!(end(&mut supervised).await, ShellEnd::Exited(code));
        assert_eq!(text(stdout(fds.output)), format!("{}\n", supervised.pid()));
    }
}

async fn failed_shell_start_names_the_program(supervisor: Supervisor) {
    let mut supervised = launch(&supervisor).await.unwrap();
    for program in ["/nonexistent/bash", "/etc", "/etc/passwd"] {
        let start = ShellStart {
            program: program.into(),
            ..shell("true")
        };
        match supervised.start(start, None).await {
            Err(StartError::Shell(reason)) => assert!(reason.contains(program), "{reason}"),
            other => panic!("{program}: {other:?}"),
        }
    }
    // The supervisor can still start another shell.
    start(&mut supervised, "exit 4").await;
    assert_eq!(end(&mut supervised).await, ShellEnd::Exited(4));
}

fn program(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    let program = format!("#!/bin/sh\necho $$ > {}.pid\n{text}\n", path.display());
    // Another process writes the file: a child that another test starts meanwhile would inherit
    // this process's descriptor, and a file that is open for writing cannot be executed.
    let write = r#"printf %s "$1" >"$0"; chmod 700 "$0""#;
    #[expect(
        clippy::disallowed_methods,
        reason = "the process is no command of a call"
    )]
    let mut writer = Command::new("/bin/sh");
    let written = writer.args(["-c", write]).arg(&path).arg(program).status();
    assert!(written.unwrap().success());
    path
}

async fn other_program_as_supervisor_is_refused_and_ended(supervisor: Supervisor) {
    let dir = tempfile::tempdir().unwrap();
    let no_hello = "did not answer";
    let ended = "ended before it answered";
    let cases = [
        ("silent", "exec sleep 1000", no_hello),
        ("quitting", "exit 0", ended),
        ("dying", "kill -9 $$", ended),
        // Length 25, no descriptors, and an invalid version.
        (
            "newer",
            r#"printf '\031\000\000\000\000{"Hello":{"version":999}}' >&0; exec sleep 1000"#,
            "another version",
        ),
        (
            "babbling",
            "echo what do you want of me >&0; exec sleep 1000",
            no_hello,
        ),
    ];
    for (name, text, reason) in cases {
        let path = program(dir.path(), name, text);
        let error = launch(&Supervisor::at(&path))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(reason), "{name}: {error}");
        let pid = fs::read_to_string(format!("{}.pid", path.display())).unwrap();
        let pid = pid.trim().parse().unwrap();
        assert!(soon(|| !exists(pid)).await, "{name} is left");
    }
    let missing = launch(&Supervisor::at("/nonexistent/program")).await;
    assert!(matches!(missing, Err(StartError::Spawn(_))), "{missing:?}");
    // Negative control: a real supervisor is accepted.
    assert!(launch(&supervisor).await.is_ok());
}

async fn terminate_ends_tree_with_and_without_grace(supervisor: Supervisor) {
    let ignores_sigterm =
        "trap '' TERM; setsid sleep 1000 & echo $!; echo $$; while :; do sleep 1000; done";
    let handles_sigterm = "trap 'exit 7' TERM; setsid sleep 1000 & echo $!; echo $$; wait";
    let cases = [
        (ignores_sigterm, Duration::ZERO, ShellEnd::Signaled(9)),
        (
            ignores_sigterm,
            Duration::from_millis(100),
            ShellEnd::Signaled(9),
        ),
        (handles_sigterm, ENDLESS, ShellEnd::Exited(7)),
        (handles_sigterm, Duration::ZERO, ShellEnd::Signaled(9)),
    ];
    for (script, grace, wanted) in cases {
        let (mut supervised, fds) = launch_shell(&supervisor, script).await;
        let pids = printed_pids(&fds, 2).await;
        assert!(pids.iter().all(|pid| exists(*pid)));
        supervised.link().terminate(grace).unwrap();
        assert_eq!(end(&mut supervised).await, wanted, "{grace:?}: {script}");
        assert!(!pids.iter().any(|pid| exists(*pid)), "{grace:?}: {script}");
    }
}

async fn survivors_are_listed_with_their_command(supervisor: Supervisor) {
    let script = "setsid sleep 1000 & until [[ $(</proc/$!/comm) == sleep ]]; do :; done; echo $!";
    let (mut supervised, fds) = launch_shell(&supervisor, script).await;
    let pid = printed_pids(&fds, 1).await[0];
    loop {
        if let Event::Ended { empty, .. } = supervised.event().await.unwrap().0 {
            assert!(!empty);
            break;
        }
    }
    let survivors = supervised.survivors().await.unwrap();
    let [survivor] = &survivors[..] else {
        panic!("{survivors:?}");
    };
    assert_eq!((survivor.pid, &*survivor.command), (pid, "sleep 1000"));
    assert!(survivor.holds_output);
}

async fn dropping_client_ends_tree_and_reaps_supervisor(supervisor: Supervisor) {
    let script = "trap '' TERM HUP; (setsid sleep 1000 & echo $!); echo $$; sleep 1000; :";
    let (supervised, fds) = launch_shell(&supervisor, script).await;
    let mut pids = printed_pids(&fds, 2).await;
    pids.push(supervised.pid());
    // A link does not keep the supervisor running.
    let link = supervised.link();
    assert!(pids.iter().all(|pid| exists(*pid)));
    drop(supervised);
    assert!(soon(|| !pids.iter().any(|pid| exists(*pid))).await);
    assert!(link.terminate(Duration::ZERO).is_err());
}

async fn close_leaves_no_zombie(supervisor: Supervisor) {
    for script in ["exit 0", "sleep 1000; :"] {
        let (supervised, fds) = launch_shell(&supervisor, script).await;
        let pid = supervised.pid();
        assert!(exists(pid));
        supervised.close().await;
        // Without waiting: the process is reaped, not only ended.
        assert!(!exists(pid) && !exists(fds.pid), "{script}");
    }
}

/// A clock that shortens waits by a function of the wait and of a flag, which is false at first.
#[derive(Debug)]
struct HastyClock {
    clock: SystemClock,
    flag: AtomicBool,
    shorten: fn(Duration, &AtomicBool) -> Duration,
}

impl HastyClock {
    fn new(shorten: fn(Duration, &AtomicBool) -> Duration) -> Self {
        Self {
            clock: SystemClock::new(),
            flag: AtomicBool::new(false),
            shorten,
        }
    }
}

#[async_trait::async_trait]
impl Clock for HastyClock {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn wall(&self) -> Timestamp {
        self.clock.wall()
    }

    async fn sleep(&self, duration: Duration) {
        let duration = (self.shorten)(duration, &self.flag);
        if !duration.is_zero() {
            self.clock.sleep(duration).await;
        }
    }
}

async fn slow_sandbox_start_is_refused_and_tried_again(supervisor: Supervisor) {
    // The first time limit passes at once.
    let clock: Arc<dyn Clock> = Arc::new(HastyClock::new(|duration, has_passed| {
        let is_limit = duration == Duration::from_secs(8);
        if is_limit && !has_passed.swap(true, Ordering::Relaxed) {
            Duration::ZERO
        } else {
            duration
        }
    }));
    let directory = std::env::temp_dir();
    let late = supervisor.sandbox_report(&directory, &clock).await;
    let reason = late.unwrap_err().to_string();
    assert!(reason.contains("did not start within 8 s"), "{reason}");
    // The answer is not cached.
    let found = supervisor.sandbox_report(&directory, &clock).await;
    assert_ne!(found.map_err(|error| error.to_string()), Err(reason));
}

async fn supervisor_reaps_orphans(supervisor: Supervisor) {
    let script = "for i in {1..20}; do (sleep 0.0$i & echo $!); done; read";
    let (_supervised, fds) = launch_shell(&supervisor, script).await;
    let pids = printed_pids(&fds, 20).await;
    // The shell is still running, so the supervisor must have reaped them.
    assert!(soon(|| !pids.iter().any(|pid| exists(*pid))).await);
    assert!(exists(fds.pid));
}

async fn supervisor_survives_signals_of_groups_and_timers(supervisor: Supervisor) {
    let script = "for name in HUP INT QUIT ALRM TERM USR1 USR2 VTALRM PROF IO XCPU XFSZ; do kill -$name $PPID; done; exit 7";
    let (mut supervised, _fds) = launch_shell(&supervisor, script).await;
    assert_eq!(end(&mut supervised).await, ShellEnd::Exited(7));
}

async fn wake_continues_stopped_supervisor(supervisor: Supervisor) {
    let (supervised, fds) = launch_shell(
        &supervisor,
        "echo $$; read; kill -STOP $PPID; sleep 1000; :",
    )
    .await;
    let pids = [printed_pids(&fds, 1).await[0], supervised.pid()];
    drop(fds.control);
    let state = || fs::read_to_string(format!("/proc/{}/status", pids[1])).unwrap_or_default();
    assert!(soon(|| state().contains("State:\tT")).await);
    supervised.wake();
    assert!(soon(|| !state().contains("State:\tT")).await);
    drop(supervised);
    assert!(soon(|| !pids.iter().any(|pid| exists(*pid))).await);
}

async fn stopped_supervisor_counts_as_disconnected(supervisor: Supervisor) {
    // Once the flag is set, every time limit passes after at most a second.
    let clock = Arc::new(HastyClock::new(|duration, is_short| {
        if is_short.load(Ordering::Relaxed) {
            duration.min(Duration::from_secs(1))
        } else {
            duration
        }
    }));
    let waits: Arc<dyn Clock> = clock.clone();
    let mut supervised = supervisor.launch(&environment(), &waits).await.unwrap();
    let _fds = start(&mut supervised, "read").await;
    assert!(supervised.survivors().await.is_ok());
    let pid = rustix::process::Pid::from_raw(supervised.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    clock.flag.store(true, Ordering::Relaxed);
    assert!(supervised.survivors().await.is_err());
    let again = supervised.adopt(&[], &[], false, 0, None).await;
    assert!(matches!(again, Err(NotDetached::Disconnected)), "{again:?}");
}

async fn all_reaped_waits_for_dropped_supervisors(supervisor: Supervisor) {
    let mut supervised = launch(&supervisor).await.unwrap();
    let pid = supervised.pid();
    let _fds = start(&mut supervised, "sleep 1000; :").await;
    assert!(!supervisor.all_reaped(Duration::ZERO));
    drop(supervised);
    let reaped = tokio::task::spawn_blocking(move || supervisor.all_reaped(SOON));
    assert!(reaped.await.unwrap());
    assert!(!exists(pid));
}

fn separate_supervisor() -> Supervisor {
    // A separate `Supervisor`, so that other tests do not use the supervisor that it starts in
    // advance.
    Supervisor::at("/proc/self/exe")
}

async fn early_supervisor_gives_shells_the_requested_environment(_: Supervisor) {
    let supervisor = separate_supervisor();
    let mut host = environment();
    host.insert("AGENT_BASH_OURS".into(), "1".into());
    host.insert("SECRET".into(), "1".into());
    supervisor.start_ahead(&host);

    let mut supervised = launch(&supervisor.clone()).await.unwrap();
    let own = fs::read_to_string(format!("/proc/{}/environ", supervised.pid())).unwrap();
    assert_eq!(own, "AGENT_BASH_OURS=1\0");
    for _ in 0..2 {
        let fds = start(&mut supervised, "declare -px").await;
        assert_eq!(end(&mut supervised).await, ShellEnd::Exited(0));
        let exported = text(stdout(fds.output));
        for name in ["GIVEN=\"1\"", "CHANGED=\"2\"", "PATH="] {
            assert!(exported.contains(name), "{name}: {exported}");
        }
        for name in ["AGENT_BASH_OURS", "SECRET"] {
            assert!(!exported.contains(name), "{name}: {exported}");
        }
    }

    // Only one supervisor was started in advance.
    let next = launch(&supervisor).await.unwrap();
    assert_ne!(next.pid(), supervised.pid());
    let own = fs::read_to_string(format!("/proc/{}/environ", next.pid())).unwrap();
    assert!(own.contains("GIVEN=1\0"), "{own:?}");
}

async fn unused_early_supervisor_is_reaped(_: Supervisor) {
    let supervisor = separate_supervisor();
    supervisor.start_ahead(&environment());
    let reaped = tokio::task::spawn_blocking(move || supervisor.all_reaped(SOON));
    assert!(reaped.await.unwrap());
}

async fn order_before_hello_is_executed(_: Supervisor) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let mut supervised = separate_supervisor().start(&environment(), &clock).unwrap();
    supervised
        .request_shell(shell("echo $GIVEN"), None)
        .unwrap();
    let mut supervised = supervised.handshake().await.unwrap();
    let fds = supervised.started().await.unwrap();
    assert_eq!(end(&mut supervised).await, ShellEnd::Exited(0));
    assert_eq!(text(stdout(fds.output)), "1\n");
}

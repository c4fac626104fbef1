//! A supervisor that is a fork of its host. Its host must have one thread, so it is this program
//! again, in a process of its own.

use super::{environment, shell, stdout, text};
use agent_bash_core::Clock;
use agent_bash_process::SystemClock;
use agent_bash_process::supervisor::{ShellEnd, Supervisor, Token};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// The argument that makes this program such a host.
pub(super) const HOST: &str = "host-of-a-forked-supervisor";

/// The second argument of a host that has another thread.
const WITH_A_THREAD: &str = "with-a-thread";

/// Starts a supervisor ahead, reports what it is, and runs a shell below it.
pub(super) fn host(token: &Token, second: Option<&str>) {
    let thread = (second == Some(WITH_A_THREAD)).then(|| std::thread::spawn(std::thread::park));
    let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let kept_open = fs::File::open("/proc/self/status").unwrap();
    let supervisor = Supervisor::this_program(token);
    supervisor.start_ahead(&env);
    if let Some(thread) = thread {
        thread.thread().unpark();
        thread.join().unwrap();
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut supervised = supervisor.launch(&environment(), &clock).await.unwrap();
        let of = |name: &str| format!("/proc/{}/{name}", supervised.pid());
        // Only root can read that of a fork.
        let environ = fs::read_to_string(of("environ")).unwrap_or_default();
        let command_line = fs::read_to_string(of("cmdline")).unwrap();
        // The space of the host's arguments is left.
        let is_fork = command_line.ends_with("\0\0");
        let files = fs::read_dir(of("fd")).unwrap().flatten();
        let files = files.filter_map(|entry| fs::read_link(entry.path()).ok());
        let told = [
            command_line,
            fs::read_to_string(of("comm")).unwrap(),
            fs::read_link(of("cwd")).unwrap().display().to_string(),
            is_fork.to_string(),
            environ.contains("OF_THE_HOST").to_string(),
            format!(
                "{:?}",
                files.filter(|file| file.ends_with("status")).count()
            ),
        ];
        let shell = shell("declare -px; readlink /proc/$PPID/exe");
        let fds = supervised.start(shell, None).await.unwrap();
        assert_eq!(super::end(&mut supervised).await, ShellEnd::Exited(0));
        let told = told.map(|it| it.trim_end_matches(['\n', '\0']).to_owned());
        let mut out = std::io::stdout();
        writeln!(out, "{}\n{}", told.join("|"), text(stdout(fds.output))).unwrap();
        supervised.close().await;
    });
    drop(kept_open);
    assert!(supervisor.all_reaped(super::SOON));
}

fn run_host(second: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "the host of this test")]
    let output = Command::new("/proc/self/exe")
        .args([HOST, second])
        .env_clear()
        .envs(environment())
        .env("OF_THE_HOST", "1")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(super) async fn a_host_with_one_thread_forks_its_supervisor(_: Supervisor) {
    let said = run_host("alone");
    let mut lines = said.lines();
    // Nothing of the host's arguments, environment and files is left.
    let first = "agent-bash-supervisor|agent-bash-sup|/|true|false|0";
    assert_eq!(lines.next(), Some(first), "{said}");
    assert!(said.contains("GIVEN=\"1\""), "{said}");
    assert!(!said.contains("OF_THE_HOST"), "{said}");
}

pub(super) async fn a_host_with_threads_executes_its_supervisor(_: Supervisor) {
    let said = run_host(WITH_A_THREAD);
    let first = "agent-bash-supervisor|agent-bash-sup|/|false|false|0";
    assert_eq!(said.lines().next(), Some(first), "{said}");
    assert!(said.contains("GIVEN=\"1\""), "{said}");
}

//! Tests of a supervisor that is a fork of its host. Such a host must have one thread, so the test
//! runs this program again as the host.

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

/// The argument that makes this program the host of a forked supervisor.
pub(super) const HOST: &str = "host-of-a-forked-supervisor";

/// The second argument of a host with another thread.
const WITH_A_THREAD: &str = "with-a-thread";

/// Starts a supervisor in advance, prints its properties, and runs a shell below it.
pub(super) fn host(token: &Token, second: Option<&str>) {
    let thread = (second == Some(WITH_A_THREAD)).then(|| std::thread::spawn(std::thread::park));
    let env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let open_file = fs::File::open("/proc/self/status").unwrap();
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
        // Only root can read the environment of a fork.
        let environ = fs::read_to_string(of("environ")).unwrap_or_default();
        let command_line = fs::read_to_string(of("cmdline")).unwrap();
        // The memory of the host's longer arguments is filled with zeros.
        let is_fork = command_line.ends_with("\0\0");
        let files = fs::read_dir(of("fd")).unwrap().flatten();
        let files = files.filter_map(|entry| fs::read_link(entry.path()).ok());
        let properties = [
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
        let properties = properties.map(|it| it.trim_end_matches(['\n', '\0']).to_owned());
        let mut out = std::io::stdout();
        writeln!(
            out,
            "{}\n{}",
            properties.join("|"),
            text(stdout(fds.output))
        )
        .unwrap();
        supervised.close().await;
    });
    drop(open_file);
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

pub(super) async fn host_with_one_thread_forks_its_supervisor(_: Supervisor) {
    let output = run_host("alone");
    let mut lines = output.lines();
    // The host's arguments, environment and files are not visible in the supervisor.
    let first = "agent-bash-supervisor|agent-bash-sup|/|true|false|0";
    assert_eq!(lines.next(), Some(first), "{output}");
    assert!(output.contains("GIVEN=\"1\""), "{output}");
    assert!(!output.contains("OF_THE_HOST"), "{output}");
}

pub(super) async fn host_with_threads_executes_its_supervisor(_: Supervisor) {
    let output = run_host(WITH_A_THREAD);
    let first = "agent-bash-supervisor|agent-bash-sup|/|false|false|0";
    assert_eq!(output.lines().next(), Some(first), "{output}");
    assert!(output.contains("GIVEN=\"1\""), "{output}");
}

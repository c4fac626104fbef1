//! Interrupts the commands of a shell, as Ctrl-C does; the shell itself keeps running.

use crate::proc_scan;
use agent_bash_os::ProcessInfo;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// Maximum number of processes examined. Part of a larger tree is not interrupted.
const MAX_PROCESSES: usize = 10_000;

/// The time since boot, in the clock ticks of [`ProcessInfo::start_time`]; `None` where `/proc`
/// does not show it.
pub fn ticks_since_boot() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, hundredths) = text.split_ascii_whitespace().next()?.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let hundredths: u64 = hundredths.parse().ok()?;
    // A tick is a hundredth of a second for all programs (`USER_HZ`), on every architecture of
    // today.
    Some(seconds * 100 + hundredths)
}

/// Sends SIGINT to all descendants of `process` that were started at or after the tick `since`.
/// Survivors of earlier commands are not interrupted. Returns the number of processes; 0 where
/// `/proc` does not show them.
pub fn interrupt_below(process: u32, since: u64) -> usize {
    let mut pending = proc_scan::children(process.cast_signed());
    let mut interrupted = 0;
    let mut examined = 0;
    while let Some(pid) = pending.pop() {
        examined += 1;
        let Some(info) = ProcessInfo::read(pid).filter(|info| info.start_time >= since) else {
            continue;
        };
        if examined < MAX_PROCESSES {
            pending.extend(proc_scan::children(pid));
        }
        let sent = Pid::from_raw(info.pid).map(|pid| kill_process(pid, Signal::INT));
        interrupted += usize::from(matches!(sent, Some(Ok(()))));
    }
    interrupted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    /// A shell runs a foreground command. Only that command is interrupted, not an earlier
    /// background process.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a shell of the test's own")]
    fn interrupt_below_spares_the_shell_and_earlier_processes() {
        // A test runner in the background ignores SIGINT. A shell cannot reset a signal that was
        // ignored when it started.
        let mut shell = Command::new("env")
            .args([
                "--default-signal=INT",
                "bash",
                "--norc",
                "-c",
                "while read -r line; do eval \"$line\"; echo \"=$?\"; done",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = shell.stdin.take().unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap()).lines();
        let mut next_line = || output.next().unwrap().unwrap();
        // The trap resets SIGINT, which background processes of a shell ignore.
        writeln!(input, "(trap - INT; exec -a before sleep 300) & old=$!").unwrap();
        assert_eq!(next_line(), "=0");
        std::thread::sleep(std::time::Duration::from_millis(30));
        let since = ticks_since_boot().unwrap();
        writeln!(input, "echo begun; sleep 301 | (sleep 302; cat)").unwrap();
        assert_eq!(next_line(), "begun");
        let waited = std::time::Instant::now();
        let runs = |seconds: &str| {
            let all = proc_scan::descendants(shell.id().cast_signed());
            let command_line = [b"sleep".to_vec(), seconds.as_bytes().to_vec()];
            all.iter()
                .any(|it| proc_scan::arguments(it.pid) == command_line)
        };
        // A forked shell that has not executed its program yet may not be interrupted.
        while !(runs("301") && runs("302")) {
            assert!(waited.elapsed().as_secs() < 60, "it was not started");
        }
        assert!(interrupt_below(shell.id(), since) >= 2);
        let ended = next_line();
        assert!(ended == "=130" || ended == "=0", "{ended}");
        writeln!(input, "kill -0 $old; kill $old").unwrap();
        assert_eq!(next_line(), "=0");
        drop(input);
        assert!(shell.wait().unwrap().success());
    }
}

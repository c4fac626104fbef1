//! Detects that a call exceeded a resource limit with a signal of its own: CPU time or file size.
//! The executors report the limits of a call's cgroup. Without a cgroup, the limits of memory and
//! processes make system calls fail, and the affected program reports the failure.

use agent_bash_core::{LimitKind, Limits, Notice, NoticeKind, Outcome, ScriptEnding};

/// The Linux signal for the limit of CPU time.
const SIGXCPU: i32 = 24;
/// The Linux signal for the limit of file size.
const SIGXFSZ: i32 = 25;

/// Returns a notice about the limit that ended the shell, or a stage of the shell's last pipeline.
/// Considers only limits that were set for this call.
pub(crate) fn hit(limits: &Limits, outcome: &Outcome) -> Option<Notice> {
    let is_ended_by = |signal: i32| {
        let is_shell_ended = match outcome.ending {
            ScriptEnding::Exited { code } => code == 128 + signal,
            ScriptEnding::Signaled { number, .. } => number == signal,
            _ => false,
        };
        let stages = outcome.stages.iter().flatten();
        is_shell_ended || stages.into_iter().any(|stage| stage.code == 128 + signal)
    };
    let notice = |signal, limit, value: Option<u64>| {
        let value = value.filter(|_| is_ended_by(signal))?;
        Some(NoticeKind::LimitHit { limit, value }.into())
    };
    notice(SIGXCPU, LimitKind::CpuS, limits.cpu_s)
        .or_else(|| notice(SIGXFSZ, LimitKind::FileMb, limits.file_mb))
}

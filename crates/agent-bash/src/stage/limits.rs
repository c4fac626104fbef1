//! Detects whether a call hit one of its resource limits. Two limits cause a signal of their own.
//! The others make system calls fail (no memory, no processes), which the affected program reports
//! itself.

use agent_bash_core::{LimitKind, Limits, Notice, NoticeKind, Outcome, ScriptEnding};

/// The Linux signals of these limits.
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// The limit that ended the shell, or the last command in a stage of its last pipeline. Only limits
/// set for this call count.
pub(crate) fn hit(limits: &Limits, outcome: &Outcome) -> Option<Notice> {
    let ended_by = |signal: i32| {
        let shell = match outcome.ending {
            ScriptEnding::Exited { code } => code == 128 + signal,
            ScriptEnding::Signaled { number, .. } => number == signal,
            _ => false,
        };
        let stages = outcome.stages.iter().flatten();
        shell || stages.into_iter().any(|stage| stage.code == 128 + signal)
    };
    let of = |signal, limit, value: Option<u64>| {
        let value = value.filter(|_| ended_by(signal))?;
        Some(NoticeKind::LimitHit { limit, value }.into())
    };
    of(SIGXCPU, LimitKind::CpuS, limits.cpu_s)
        .or_else(|| of(SIGXFSZ, LimitKind::FileMb, limits.file_mb))
}

//! Detects whether a call exceeded a resource limit. Two limits cause a specific signal. The others
//! (memory, processes) make system calls fail, which the affected program reports.

use agent_bash_core::{LimitKind, Limits, Notice, NoticeKind, Outcome, ScriptEnding};

/// The Linux signals for the limits of CPU time and of file size.
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// Returns a notice about the limit that ended the shell, or a stage of its last pipeline.
/// Considers only limits that were set for this call.
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

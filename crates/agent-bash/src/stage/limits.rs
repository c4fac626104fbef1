//! Whether a call was ended by one of its resource limits. Two of them speak by a signal of their own; the others are
//! refusals of the system (no memory, no process), of which the program that met them speaks itself.

use agent_bash_core::{Ending, Limits, Notice, NoticeKind, Outcome};

/// The signals of Linux by which a limit speaks.
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

/// The limit that ended the shell, or the last command of a stage of its last pipeline. Only a limit of the call's own.
pub(crate) fn hit(limits: &Limits, outcome: &Outcome) -> Option<Notice> {
    let ended_by = |signal: i32| {
        let shell = match outcome.ending {
            Ending::Exited { code } => code == 128 + signal,
            Ending::Signaled { number, .. } => number == signal,
            _ => false,
        };
        let stages = outcome.stages.iter().flatten();
        shell || stages.into_iter().any(|stage| stage.code == 128 + signal)
    };
    let of = |signal, limit: &str, value: Option<u64>| {
        let value = value.filter(|_| ended_by(signal))?;
        let limit = limit.to_owned();
        Some(NoticeKind::LimitHit { limit, value }.into())
    };
    of(SIGXCPU, "cpu_s", limits.cpu_s).or_else(|| of(SIGXFSZ, "file_mb", limits.file_mb))
}

//! Detects that this process was started by a shell of a supervisor: its calls are part of that
//! supervisor's call.

use crate::proc_scan;
use agent_bash_os::{ProcessIdentity, ProcessInfo};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The variable of shells with a supervisor: the supervisor's pid and start time.
const SUPERVISOR_VARIABLE: &str = "AGENT_BASH_SHELL";

/// Returns the variable that this process, a supervisor, sets for its shell.
pub(super) fn variable() -> (OsString, Option<OsString>) {
    let own = rustix::process::getpid().as_raw_pid();
    let start = ProcessInfo::read(own).map_or(0, |own| own.start_time);
    (
        SUPERVISOR_VARIABLE.into(),
        Some(format!("{own}.{start}").into()),
    )
}

/// True if the supervisor that `env` names is a running ancestor of this process. A terminal
/// multiplexer, for example, outlives the supervisor of the shell that started it.
pub fn is_below_supervisor(env: &BTreeMap<OsString, OsString>) -> bool {
    let named = env
        .get(OsStr::new(SUPERVISOR_VARIABLE))
        .and_then(|value| value.to_str());
    let named = named.and_then(|value| value.split_once('.'));
    let Some((pid, start)) = named else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse::<i32>(), start.parse()) else {
        return false;
    };
    let own = rustix::process::getpid().as_raw_pid();
    ProcessIdentity::new(pid, start).is_alive() && proc_scan::is_below(own, pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_below_supervisor_only_for_running_ancestor() {
        let named = |value: &str| BTreeMap::from([(SUPERVISOR_VARIABLE.into(), value.into())]);
        let parent = rustix::process::getppid().unwrap().as_raw_pid();
        let of = |pid: i32| ProcessInfo::read(pid).map_or(0, |it| it.start_time);
        assert!(is_below_supervisor(&named(&format!(
            "{parent}.{}",
            of(parent)
        ))));
        let own = rustix::process::getpid().as_raw_pid();
        for other in [
            format!("{parent}.{}", of(parent) + 1),
            format!("{own}.{}", of(own)),
            "0.0".to_owned(),
            "x".to_owned(),
            String::new(),
        ] {
            assert!(!is_below_supervisor(&named(&other)), "{other}");
        }
        assert!(!is_below_supervisor(&BTreeMap::new()));
    }
}

//! The notice about failed stages in the pipeline at the end of a script.
//!
//! As in bash, the exit code of a call is the exit code of the last stage. So `make | tail` reports
//! success even if `make` has failed. A notice then reports the failure.

use agent_bash_core::{Notice, NoticeKind, Stage, Status};

/// The exit code of a stage that SIGPIPE has killed (128 + 13), because the next stage stopped
/// reading early.
pub(crate) const BROKEN_PIPE: i32 = 141;

/// Returns a notice about the first failed stage before the last stage, provided that the call
/// ended with the exit code of the last stage. `exit_1_is_ok` is true for each stage whose exit
/// code 1 is a result, as of `grep`.
pub(crate) fn failed_stage(
    exit_1_is_ok: &[bool],
    stages: &[Stage],
    status: &Status,
) -> Option<Notice> {
    let (last, before) = stages.split_last()?;
    let is_last_code =
        exit_1_is_ok.len() == stages.len() && *status == Status::Exited { code: last.code };
    let (index, failed) = before
        .iter()
        .enumerate()
        .find(|(index, stage)| is_failure(stage.code, exit_1_is_ok.get(*index) == Some(&true)))
        .filter(|_| is_last_code)?;
    let kind = NoticeKind::FailedStage {
        stage: index + 1,
        code: failed.code,
        stages: stages.to_vec(),
    };
    Some(kind.into())
}

fn is_failure(code: i32, exit_1_is_ok: bool) -> bool {
    match code {
        0 | BROKEN_PIPE => false,
        1 => !exit_1_is_ok,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noticed(exit_1_is_ok: &[bool], codes: &[i32], exit: i32) -> Option<usize> {
        let stages: Vec<Stage> = codes.iter().map(|code| Stage::from(*code)).collect();
        match failed_stage(exit_1_is_ok, &stages, &Status::Exited { code: exit })?.kind {
            NoticeKind::FailedStage { stage, .. } => Some(stage),
            _ => None,
        }
    }

    #[test]
    fn failed_stage_is_reported_if_the_exit_code_hides_it() {
        const GREP: bool = true;
        for (exit_1_is_ok, codes, exit, want) in [
            (&[false, false][..], &[2, 0][..], 0, Some(1)),
            (&[false, false, false], &[0, 1, 0], 0, Some(2)),
            (&[false, false], &[2, 5], 5, Some(1)),
            (&[false, false], &[137, 0], 0, Some(1)),
            (&[GREP, false], &[2, 0], 0, Some(1)),
            // Results, and readers that stopped early.
            (&[GREP, false], &[1, 0], 0, None),
            (&[false, false], &[141, 0], 0, None),
            // Visible anyway: the last stage's own status, or `pipefail`.
            (&[false, false], &[0, 1], 1, None),
            (&[false, false], &[1, 0], 1, None),
            (&[false, false], &[0, 0], 0, None),
        ] {
            assert_eq!(
                noticed(exit_1_is_ok, codes, exit),
                want,
                "{exit_1_is_ok:?} {codes:?}"
            );
        }
    }

    #[test]
    fn failed_stage_is_none_if_the_numbers_of_stages_differ() {
        assert_eq!(noticed(&[false], &[2, 0], 0), None);
        assert_eq!(noticed(&[], &[], 0), None);
    }
}

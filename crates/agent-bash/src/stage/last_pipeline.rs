//! The pipeline that a script ends with: whether to ask for the exit status of its stages, and what to say of them.
//!
//! The exit code of a call stays bash's own, that of the last stage. So `make | tail` reports success when `make` has
//! failed, and that is worth a notice.

use crate::stage::benign;
use agent_bash_core::{Notice, NoticeKind, Request, Stage, Status};

/// 128 + SIGPIPE: the reader had what it wanted.
const BROKEN_PIPE: i32 = 141;

/// The leading words of each stage of the pipeline that the script ends with; `None` if it does not.
pub(crate) fn read(request: &Request) -> Option<Vec<Vec<String>>> {
    agent_bash_policy::last_pipeline(&request.command)
}

/// A notice of the first stage before the last that failed, if the status does not show it. `commands` are the leading
/// words of each stage, as `agent_bash_policy::last_pipeline` reads them.
pub(crate) fn failed_stage(
    commands: &[Vec<String>],
    stages: &[Stage],
    status: &Status,
) -> Option<Notice> {
    let (last, before) = stages.split_last()?;
    let shown = commands.len() == stages.len() && *status == Status::Exited { code: last.code };
    let (index, failed) = before
        .iter()
        .enumerate()
        .find(|(index, stage)| {
            is_failure(stage.code, commands.get(*index).map_or(&[], Vec::as_slice))
        })
        .filter(|_| shown)?;
    let kind = NoticeKind::FailedStage {
        stage: index + 1,
        code: failed.code,
        stages: stages.to_vec(),
    };
    Some(kind.into())
}

fn is_failure(code: i32, command: &[String]) -> bool {
    match code {
        0 | BROKEN_PIPE => false,
        1 => !benign::answers(&command.join(" ")),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noticed(commands: &[&str], codes: &[i32], exit: i32) -> Option<usize> {
        let commands: Vec<Vec<String>> = commands
            .iter()
            .map(|command| command.split(' ').map(str::to_owned).collect())
            .collect();
        let stages: Vec<Stage> = codes.iter().map(|code| Stage::from(*code)).collect();
        match failed_stage(&commands, &stages, &Status::Exited { code: exit })?.kind {
            NoticeKind::FailedStage { stage, .. } => Some(stage),
            _ => None,
        }
    }

    #[test]
    fn a_failure_that_the_exit_code_hides_is_pointed_out() {
        for (commands, codes, exit, want) in [
            (&["make", "tail -1"][..], &[2, 0][..], 0, Some(1)),
            (&["true", "false", "cat"], &[0, 1, 0], 0, Some(2)),
            (&["(exit 2)", "(exit 5)"], &[2, 5], 5, Some(1)),
            (&["sh", "cat"], &[137, 0], 0, Some(1)),
            (&["grep x", "wc -l"], &[2, 0], 0, Some(1)),
            // Answers, and readers that had enough.
            (&["grep x", "wc -l"], &[1, 0], 0, None),
            (&["git diff", "cat"], &[1, 0], 0, None),
            (&["yes", "head -1"], &[141, 0], 0, None),
            // Shown: the last stage's own, or `pipefail`.
            (&["true", "false"], &[0, 1], 1, None),
            (&["false", "true"], &[1, 0], 1, None),
            (&["true", "true"], &[0, 0], 0, None),
        ] {
            assert_eq!(
                noticed(commands, codes, exit),
                want,
                "{commands:?} {codes:?}"
            );
        }
    }

    #[test]
    fn stages_that_do_not_fit_their_commands_say_nothing() {
        assert_eq!(noticed(&["make"], &[2, 0], 0), None);
        assert_eq!(noticed(&[], &[], 0), None);
    }
}

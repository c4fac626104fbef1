//! What the caller should know beside status and output. One list of kinds, one sentence each.

use crate::{Stage, Survivor, short_duration};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Something worth knowing: its kind with values, and the sentence made from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Notice {
    /// Kind and values.
    #[serde(flatten)]
    pub kind: NoticeKind,
    /// The sentence for people and models; made from `kind`, never parsed.
    pub text: String,
}

impl From<NoticeKind> for Notice {
    fn from(kind: NoticeKind) -> Self {
        let text = kind.sentence();
        Self { kind, text }
    }
}

/// The kinds of notices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoticeKind {
    /// Processes that the call started still live.
    Survivors {
        /// Who they are; the same list as in the result.
        survivors: Vec<Survivor>,
    },
    /// A stage before the last of a pipeline failed, and the exit code does not show it.
    FailedStage {
        /// Position in the pipeline, from 1.
        stage: usize,
        /// Its exit status.
        code: i32,
        /// All stages.
        stages: Vec<Stage>,
    },
    /// The persistent shell is gone; the next call starts a fresh one.
    SessionReset {
        /// Why, and what was kept.
        reason: String,
    },
    /// The timeout asked for was outside what is allowed.
    TimeoutClamped {
        /// Asked for, in milliseconds.
        asked_ms: u64,
        /// In force, in milliseconds.
        used_ms: u64,
    },
    /// The full output could not be kept.
    ArtifactFailed {
        /// Such as `No space left on device`.
        reason: String,
    },
    /// Text that could be seen was written over on its line, by a carriage return or backspaces, and is not shown.
    Overwritten {
        /// Where all of it is; none where it could not be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<String>,
    },
    /// `head` had its lines, and the producer was ended as a closed pipe ends it.
    HeadSatisfied {
        /// How many lines were asked for.
        lines: u64,
    },
    /// A program waits for input that nobody gives.
    WaitingForInput {
        /// `line`, `secret`, `raw` or `full_screen`.
        state: String,
    },
    /// A field was given under another of its names.
    FieldRenamed {
        /// As it was given.
        given: String,
        /// The field's own name.
        used: String,
    },
    /// A trailing `head` or `tail` was taken out of the command and applied to its output.
    Lifted {
        /// As it stood in the command.
        filter: String,
    },
    /// A better tool exists for this; the command ran all the same.
    Advice {
        /// The tool.
        suggested_tool: String,
        /// What its rule says.
        message: String,
    },
    /// A process of the call met one of its resource limits and was ended by it.
    LimitHit {
        /// `cpu_s` or `file_mb`, as in the settings.
        limit: String,
        /// The limit in force.
        value: u64,
    },
    /// The user's shell configuration was not loaded.
    SnapshotSkipped {
        /// Why.
        reason: String,
    },
    /// The call is not in the host's audit log.
    AuditFailed {
        /// Such as `Permission denied`.
        reason: String,
    },
    /// No supervisor: processes are contained by group and scan only.
    WithoutSupervisor {
        /// Why.
        reason: String,
    },
}

impl NoticeKind {
    /// Whether it changes what a model should believe or do, so that `standard` puts it into the
    /// text. The others stay in the data.
    pub fn is_for_model(&self) -> bool {
        match self {
            Self::Survivors { .. }
            | Self::FailedStage { .. }
            | Self::SessionReset { .. }
            | Self::TimeoutClamped { .. }
            | Self::ArtifactFailed { .. }
            | Self::Overwritten { .. }
            | Self::HeadSatisfied { .. }
            | Self::LimitHit { .. }
            | Self::WaitingForInput { .. } => true,
            Self::FieldRenamed { .. }
            | Self::Lifted { .. }
            | Self::Advice { .. }
            | Self::SnapshotSkipped { .. }
            | Self::AuditFailed { .. }
            | Self::WithoutSupervisor { .. } => false,
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::Survivors { survivors } => survivors_sentence(survivors),
            Self::FailedStage {
                stage,
                code,
                stages,
            } => format!(
                "Stage {stage} of {} of the pipeline failed with exit code {code}; the exit code is the last stage's",
                stages.len()
            ),
            Self::SessionReset { reason } => format!("The session's shell was reset: {reason}"),
            Self::TimeoutClamped { asked_ms, used_ms } => format!(
                "A timeout of {} was asked for, {} was used",
                millis_text(*asked_ms),
                millis_text(*used_ms)
            ),
            Self::ArtifactFailed { reason } => format!("The full output was not kept: {reason}"),
            Self::Overwritten { artifact } => {
                let full = artifact
                    .as_ref()
                    .map(|uri| format!(". Full: {uri}"))
                    .unwrap_or_default();
                format!("Text that was written over on its line (progress) is not shown{full}")
            }
            Self::HeadSatisfied { lines } => {
                format!("The command was ended after its first {lines} lines, as `head` does")
            }
            Self::WaitingForInput { state } => {
                format!("The command was waiting for input ({state}) that nobody can give here")
            }
            Self::FieldRenamed { given, used } => format!("`{given}` was read as `{used}`"),
            Self::Lifted { filter } => {
                format!("`{filter}` was applied to the output instead of being run")
            }
            Self::Advice {
                suggested_tool,
                message,
            } => {
                format!("Prefer the `{suggested_tool}` tool: {message}")
            }
            Self::LimitHit { limit, value } => {
                format!("The command was ended by its resource limit: {limit} = {value}")
            }
            Self::SnapshotSkipped { reason } => {
                format!("The shell's configuration was not loaded: {reason}")
            }
            Self::AuditFailed { reason } => {
                format!("The call is not in the audit log: {reason}")
            }
            Self::WithoutSupervisor { reason } => {
                format!("Running without a supervisor: {reason}")
            }
        }
    }
}

fn millis_text(millis: u64) -> String {
    // `Duration::MAX` in milliseconds: the request asked for more than any clock can count.
    if millis == u64::MAX {
        return "forever".to_owned();
    }
    short_duration(Duration::from_millis(millis))
}

/// `Still running: pid 12 sleep 300 (holds the output), pid 13 …`, at most five by name.
fn survivors_sentence(survivors: &[Survivor]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = survivors
        .iter()
        .take(NAMED)
        .map(|survivor| {
            let job = survivor
                .job
                .as_ref()
                .map(|job| format!(", job {job}"))
                .unwrap_or_default();
            let held = if survivor.holds_output {
                ", holds the output"
            } else {
                ""
            };
            format!("pid {}{job}{held}: {}", survivor.pid, survivor.command)
        })
        .collect();
    let more = survivors.len().saturating_sub(NAMED);
    let rest = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    format!("Still running: {}{rest}", named.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobId;
    use serde_json::json;

    #[test]
    fn json_is_kind_values_and_text() {
        let notice = Notice::from(NoticeKind::TimeoutClamped {
            asked_ms: 7_200_000,
            used_ms: 3_600_000,
        });
        let json = serde_json::to_value(&notice).unwrap();
        assert_eq!(
            json,
            json!({"kind": "timeout_clamped", "asked_ms": 7_200_000, "used_ms": 3_600_000,
                   "text": "A timeout of 120m was asked for, 60m was used"})
        );
        assert_eq!(serde_json::from_value::<Notice>(json).unwrap(), notice);
    }

    #[test]
    fn survivors_are_named_and_the_list_is_bounded() {
        let one = |pid| Survivor {
            pid,
            command: "sleep 300".into(),
            holds_output: pid == 1,
            job: (pid == 1).then(|| JobId("3".into())),
        };
        let notice = Notice::from(NoticeKind::Survivors {
            survivors: vec![one(1)],
        });
        assert_eq!(
            notice.text,
            "Still running: pid 1, job 3, holds the output: sleep 300"
        );
        let many = Notice::from(NoticeKind::Survivors {
            survivors: (1..=9).map(one).collect(),
        });
        assert!(many.text.ends_with("; and 4 more"), "{}", many.text);
    }
}

//! How a call ended.

use crate::{JobId, NotStarted, ScriptEnding};
use serde::{Deserialize, Serialize};

/// The outcome of a call. Never a guess: `exited{0}` is reported only if that exit was observed, or
/// if the host closed the pipe of a lifted `head`, which a notice says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The shell exited by itself.
    Exited {
        /// Exit code, 0 to 255.
        code: i32,
    },
    /// The shell was killed by a signal that the host did not send.
    Signaled {
        /// For example `SIGKILL`.
        signal: String,
        /// The platform's signal number.
        number: i32,
    },
    /// The time limit passed and the command was ended.
    TimedOut {
        /// The limit in force, in milliseconds.
        after_ms: u64,
    },
    /// Cancelled by the caller.
    Cancelled,
    /// The command continues in the background.
    MovedToBackground {
        /// The id of the job.
        job: JobId,
        /// The pid of the job's shell.
        pid: u32,
        /// The job's process group: `kill -9 -<pgid>` ends the whole group.
        pgid: u32,
        /// The absolute path of the job's output file.
        output: String,
    },
    /// A check refused the call; nothing was started.
    Blocked {
        /// Id of the rule that decided.
        rule: String,
        /// The tool to use instead, if the rule names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        suggested_tool: Option<String>,
    },
    /// A system error prevented the start: for example no such shell, or no such directory.
    NotStarted {
        /// The error, with the offending value.
        reason: String,
    },
    /// The command was started, and its end was not observed.
    Lost {
        /// The observation.
        reason: String,
        /// True if the connection to the remote host was cut, so that all of the script, a part of
        /// the script, or nothing may have run.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        may_have_run: bool,
    },
}

impl From<&ScriptEnding> for Status {
    fn from(ending: &ScriptEnding) -> Self {
        match ending.clone() {
            ScriptEnding::Exited { code } => Self::Exited { code },
            ScriptEnding::Signaled { signal, number } => Self::Signaled { signal, number },
            ScriptEnding::TimedOut { after } => Self::TimedOut {
                after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            },
            ScriptEnding::Cancelled => Self::Cancelled,
            ScriptEnding::AllEnded => Self::lost("its end was not observed"),
            ScriptEnding::Lost { reason } => Self::lost(reason),
        }
    }
}

impl From<&NotStarted> for Status {
    fn from(error: &NotStarted) -> Self {
        Self::NotStarted {
            reason: error.to_string(),
        }
    }
}

impl Status {
    /// Returns the status of a local call whose end was not observed.
    pub fn lost(reason: impl Into<String>) -> Self {
        Self::Lost {
            reason: reason.into(),
            may_have_run: false,
        }
    }

    /// True for everything but `exited{0}` and `moved_to_background`.
    pub fn is_error(&self) -> bool {
        !matches!(
            self,
            Self::Exited { code: 0 } | Self::MovedToBackground { .. }
        )
    }

    /// Returns the exit code for a program that runs this call for its caller: the exit code of the
    /// command; 128 + n for signal n; 124 for a timeout, as `timeout(1)`; 130 if cancelled, as a
    /// shell after SIGINT; 125 if nothing was started; 70 (`EX_SOFTWARE`) if the end is unknown; 0
    /// for a started background job.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Exited { code } => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
            Self::Signaled { number, .. } => u8::try_from(128 + (number & 0x7f)).unwrap_or(u8::MAX),
            Self::TimedOut { .. } => 124,
            Self::Cancelled => 130,
            Self::MovedToBackground { .. } => 0,
            Self::Blocked { .. } | Self::NotStarted { .. } => 125,
            Self::Lost { .. } => 70,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_the_json_of_the_contract() {
        for (json, error, code) in [
            (r#"{"kind":"exited","code":1}"#, true, 1),
            (r#"{"kind":"exited","code":0}"#, false, 0),
            (
                r#"{"kind":"signaled","signal":"SIGKILL","number":9}"#,
                true,
                137,
            ),
            (r#"{"kind":"timed_out","after_ms":30000}"#, true, 124),
            (r#"{"kind":"cancelled"}"#, true, 130),
            (
                r#"{"kind":"moved_to_background","job":"3","pid":1,"pgid":1,"output":"/o"}"#,
                false,
                0,
            ),
            (r#"{"kind":"blocked","rule":"r"}"#, true, 125),
            (r#"{"kind":"not_started","reason":"x"}"#, true, 125),
            (r#"{"kind":"lost","reason":"x"}"#, true, 70),
            (
                r#"{"kind":"lost","reason":"x","may_have_run":true}"#,
                true,
                70,
            ),
        ] {
            let status: Status = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&status).unwrap(), json);
            let found = (status.is_error(), status.exit_code());
            assert_eq!(found, (error, code), "{json}");
        }
        assert!(serde_json::from_str::<Status>(r#"{"kind":"ended"}"#).is_err());
    }
}

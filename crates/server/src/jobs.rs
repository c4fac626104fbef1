//! Operations on background jobs that both servers share.

use crate::stored_output;
use agent_bash::Conversation;
use agent_bash::core::{Cancel, JobId, parse_duration};
use agent_bash::exec::Job;
use serde_json::Value;
use std::time::Duration;

/// Time between SIGTERM and SIGKILL if the client names none.
pub(crate) const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// Time limit for a job to read its input.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Writes to a job's stdin and, if `close`, closes the stdin afterwards. Returns the job.
pub(crate) async fn write_input(
    session: &Conversation,
    id: &JobId,
    text: &str,
    close: bool,
    cancel: &Cancel,
) -> Result<Job, String> {
    let to_text = |error: &dyn std::fmt::Display| error.to_string();
    let jobs = stored_output::jobs(session).map_err(|error| to_text(&error))?;
    if !text.is_empty() {
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                return Err("cancelled; the job may have got a part of the input".to_owned());
            }
            written = jobs.write_stdin(id, text.as_bytes(), WRITE_TIMEOUT) => {
                written.map_err(|error| to_text(&error))?;
            }
        }
    }
    if close {
        jobs.close_stdin(id)
            .await
            .map_err(|error| to_text(&error))?;
    }
    jobs.show(id).map_err(|error| to_text(&error))
}

/// Parses the value of a duration field: seconds, or a text such as `90s`.
pub(crate) fn duration(field: &str, value: &Value) -> Result<Duration, String> {
    let written = match value {
        Value::String(written) => written.clone(),
        Value::Number(seconds) => seconds.to_string(),
        other => {
            return Err(format!(
                "`{field}` must be seconds, or a text such as \"90s\", got {other}"
            ));
        }
    };
    parse_duration(&written).map_err(|error| format!("`{field}`: {error}"))
}

//! Jobs and stored outputs of a target: asked for in the words of RPC, and answered there.

use super::tools::ReadArgs;
use crate::jobs::GRACE;
use agent_bash::core::{Cancel, Place, Window};
use agent_bash::layout::clean;
use agent_bash_protocol::data::{
    FoundData, JobData, JobKillData, JobOutputData, JobWaitData, JobsData, PageData,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

/// How often a smaller page is asked for until it fits.
const ATTEMPTS: usize = 8;

/// All jobs.
pub(super) async fn jobs(place: &dyn Place, cancel: &Cancel) -> Result<Vec<JobData>, String> {
    let listed: JobsData = ask(place, "jobs.list", json!({}), cancel).await?;
    Ok(listed.jobs)
}

/// A part of a job's output, from a byte on or its last lines, after waiting so long for its end.
pub(super) async fn output(
    place: &dyn Place,
    job: &str,
    part: Value,
    wait: Option<Duration>,
    cancel: &Cancel,
) -> Result<JobOutputData, String> {
    if let Some(wait) = wait {
        let fields = json!({ "job": job, "timeout": wait.as_secs() });
        ask::<JobWaitData>(place, "jobs.wait", fields, cancel).await?;
    }
    let mut fields = json!({ "job": job });
    if let (Value::Object(fields), Value::Object(part)) = (&mut fields, part) {
        fields.extend(part);
    }
    ask(place, "jobs.output", fields, cancel).await
}

/// Writes to a job's stdin, and closes it afterwards if so requested.
pub(super) async fn feed(
    place: &dyn Place,
    job: &str,
    text: &str,
    close: bool,
    cancel: &Cancel,
) -> Result<JobData, String> {
    let fields = json!({ "job": job, "text": text, "close": close });
    ask(place, "jobs.input", fields, cancel).await
}

/// Ends a job.
pub(super) async fn kill(
    place: &dyn Place,
    job: &str,
    cancel: &Cancel,
) -> Result<JobKillData, String> {
    let fields = json!({ "job": job, "grace": GRACE.as_secs() });
    ask(place, "jobs.kill", fields, cancel).await
}

/// A page of a stored output that fits into the window.
pub(super) async fn page(
    place: &dyn Place,
    args: &ReadArgs,
    window: Option<Window>,
    cancel: &Cancel,
) -> Result<PageData, String> {
    let lines = window.map_or(u64::MAX, |window| window.lines as u64);
    let bytes = window.map_or(usize::MAX, |window| window.bytes);
    let mut limit = args.limit.unwrap_or(lines).min(lines).max(1);
    let mut tried = 0;
    loop {
        let mut fields = json!({ "artifact": args.id.text() });
        match args.byte {
            Some(byte) => fields["byte"] = json!(byte),
            None => fields["offset"] = json!(args.offset.unwrap_or(1).max(1)),
        }
        if limit < u64::MAX {
            fields["limit"] = json!(limit);
        }
        let page: PageData = ask(place, "artifact.show", fields, cancel).await?;
        let (shown, fits) = (page.text.len(), page.text.len() <= bytes);
        tried += 1;
        if fits || limit == 1 || tried == ATTEMPTS || args.byte.is_some() {
            return Ok(page);
        }
        // Any two numbers may come from there.
        let shown_lines = page.lines.map_or(limit, |[first, last]| {
            last.saturating_sub(first).saturating_add(1)
        });
        limit = (shown_lines.saturating_mul(bytes as u64) / shown as u64).clamp(1, limit - 1);
    }
}

/// The lines of a stored output that match, with lines around them.
pub(super) async fn found(
    place: &dyn Place,
    args: &ReadArgs,
    (pattern, around, matches): (&str, usize, u64),
    cancel: &Cancel,
) -> Result<FoundData, String> {
    let fields = json!({
        "artifact": args.id.text(), "pattern": pattern, "context": around,
        "offset": args.offset.unwrap_or(1).max(1), "limit": matches,
    });
    ask(place, "artifact.grep", fields, cancel).await
}

/// What a target says is anybody's: it has the shape that was asked for, or it is no answer.
async fn ask<T: DeserializeOwned>(
    place: &dyn Place,
    kind: &str,
    fields: Value,
    cancel: &Cancel,
) -> Result<T, String> {
    let answer = place.ask(kind, fields, cancel).await?;
    serde_json::from_value(answer).map_err(|error| {
        let said = clean(error.to_string().as_bytes());
        format!(
            "{} answers `{kind}` with something else: {said}",
            place.name()
        )
    })
}

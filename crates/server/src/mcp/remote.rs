//! Jobs and stored outputs of a remote host, which are requested with RPC.

use super::tools::ReadArgs;
use crate::jobs::DEFAULT_GRACE;
use agent_bash::core::{Cancel, MetCondition, RemoteHost, Until, Window};
use agent_bash::session::ask;
use agent_bash_protocol::data::{
    ArtifactData, ArtifactsData, FoundData, JobData, JobKillData, JobOutputData, JobWaitData,
    JobsData, PageData,
};
use agent_bash_protocol::{Name, RpcCall};
use serde_json::json;
use std::num::NonZeroU64;
use std::time::Duration;

/// Maximum number of attempts to request a page that fits.
const MAX_ATTEMPTS: usize = 8;

/// The requested part of a job's output.
#[derive(Debug, Clone, Copy)]
pub(super) enum OutputRange {
    From(u64),
    LastLines(NonZeroU64),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SearchLimits {
    /// Number of context lines before and after each match.
    pub(super) context_lines: usize,
    /// Maximum number of matches.
    pub(super) max_matches: u64,
}

pub(super) async fn jobs(host: &dyn RemoteHost, cancel: &Cancel) -> Result<Vec<JobData>, String> {
    let listed: JobsData = ask(host, &RpcCall::JobsList { port: None }, cancel).await?;
    Ok(listed.jobs)
}

/// Waits for a job, at most for `wait`. Returns the condition that was met.
pub(super) async fn wait(
    host: &dyn RemoteHost,
    job: &str,
    (until, offset): (&Until, u64),
    wait: Duration,
    cancel: &Cancel,
) -> Result<Option<MetCondition>, String> {
    let wait = RpcCall::JobsWait {
        job: Name(job.to_owned()),
        until: until.clone(),
        offset: (!until.is_end()).then_some(offset),
        timeout: Some(json!(wait.as_secs_f64())),
    };
    let waited: JobWaitData = ask(host, &wait, cancel).await?;
    Ok(waited.met)
}

/// Returns a part of a job's output.
pub(super) async fn output(
    host: &dyn RemoteHost,
    job: &str,
    part: OutputRange,
    cancel: &Cancel,
) -> Result<JobOutputData, String> {
    let (offset, tail) = match part {
        OutputRange::From(offset) => (Some(offset), None),
        OutputRange::LastLines(lines) => (None, Some(lines)),
    };
    let output = RpcCall::JobsOutput {
        job: Name(job.to_owned()),
        offset,
        tail,
    };
    ask(host, &output, cancel).await
}

/// Writes to a job's stdin and, if `close`, closes the stdin afterwards.
pub(super) async fn write_input(
    host: &dyn RemoteHost,
    job: &str,
    text: &str,
    close: bool,
    cancel: &Cancel,
) -> Result<JobData, String> {
    let input = RpcCall::JobsInput {
        job: Name(job.to_owned()),
        text: text.to_owned(),
        close,
    };
    ask(host, &input, cancel).await
}

/// Ends a job.
pub(super) async fn kill(
    host: &dyn RemoteHost,
    job: &str,
    cancel: &Cancel,
) -> Result<JobKillData, String> {
    let kill = RpcCall::JobsKill {
        job: Name(job.to_owned()),
        grace: Some(json!(DEFAULT_GRACE.as_secs())),
    };
    ask(host, &kill, cancel).await
}

/// Returns all stored outputs.
pub(super) async fn artifacts(
    host: &dyn RemoteHost,
    cancel: &Cancel,
) -> Result<Vec<ArtifactData>, String> {
    let listed: ArtifactsData = ask(host, &RpcCall::ArtifactList, cancel).await?;
    Ok(listed.artifacts)
}

/// Returns a page of a stored output that fits into the window.
pub(super) async fn page(
    host: &dyn RemoteHost,
    args: &ReadArgs,
    window: Option<Window>,
    cancel: &Cancel,
) -> Result<PageData, String> {
    let lines = window.map_or(u64::MAX, |window| window.lines as u64);
    let bytes = window.map_or(usize::MAX, |window| window.bytes);
    let mut limit = args.limit.unwrap_or(lines).min(lines).max(1);
    let mut tried = 0;
    loop {
        let show = RpcCall::ArtifactShow {
            artifact: Name(args.id.text()),
            offset: match args.byte {
                Some(_) => None,
                None => Some(from_line(args)),
            },
            limit: NonZeroU64::new(limit).filter(|limit| limit.get() < u64::MAX),
            tail: None,
            byte: args.byte,
        };
        let page: PageData = ask(host, &show, cancel).await?;
        let (shown, fits) = (page.text.len(), page.text.len() <= bytes);
        tried += 1;
        if fits || limit == 1 || tried == MAX_ATTEMPTS || args.byte.is_some() {
            return Ok(page);
        }
        // The numbers of a remote host are not trusted.
        let shown_lines = page.lines.map_or(limit, |[first, last]| {
            last.saturating_sub(first).saturating_add(1)
        });
        limit = (shown_lines.saturating_mul(bytes as u64) / shown as u64).clamp(1, limit - 1);
    }
}

/// Returns the matching lines of a stored output, with lines of context.
pub(super) async fn search(
    host: &dyn RemoteHost,
    args: &ReadArgs,
    pattern: &str,
    limits: SearchLimits,
    cancel: &Cancel,
) -> Result<FoundData, String> {
    let grep = RpcCall::ArtifactGrep {
        artifact: Name(args.id.text()),
        pattern: pattern.to_owned(),
        context: limits.context_lines,
        offset: Some(from_line(args)),
        limit: Some(usize::try_from(limits.max_matches).unwrap_or(usize::MAX)),
    };
    ask(host, &grep, cancel).await
}

/// Returns the requested first line, from 1.
fn from_line(args: &ReadArgs) -> NonZeroU64 {
    let line = args.offset.and_then(NonZeroU64::new);
    line.unwrap_or(NonZeroU64::MIN)
}

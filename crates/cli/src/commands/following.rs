//! `jobs output --follow --on TARGET`: what a job on a target prints, as it comes.
//!
//! The output is a file there, which only grows, and is read byte for byte as any file of a target.
//! Its path is the target's, and is named to the target alone.

use crate::output::{self, PassThrough};
use agent_bash::core::{Cancel, RemoteHost};
use agent_bash::remote::protocol::data::{FilePieceData, JobData, JobOutputData, JobWaitData};
use agent_bash::remote::protocol::{Name, RpcCall};
use agent_bash::session::ask;
use anyhow::Error;
use serde_json::{Value, json};
use std::io;
use std::num::NonZeroU64;

/// How long the target waits for the job's end before it is read again.
const WAIT_INTERVAL: &str = "200ms";

/// The exit code if there is no such job, or none of its output is left.
const NOT_FOUND_EXIT_CODE: u8 = 1;

/// The followed job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FollowedJob<'a> {
    /// The job.
    pub(crate) job: &'a str,
    /// Begin with so many last lines, not with the first one.
    pub(crate) tail: Option<NonZeroU64>,
}

/// Prints it until the job has ended.
pub(crate) async fn follow(
    place: &dyn RemoteHost,
    followed: FollowedJob<'_>,
    cancel: &Cancel,
) -> anyhow::Result<u8> {
    // An unreachable host does not mean that the job is missing.
    ask::<Value>(place, &RpcCall::Ping, cancel)
        .await
        .map_err(Error::msg)?;
    let job = || Name(followed.job.to_owned());
    let show = RpcCall::JobsShow { job: job() };
    let shown = match ask::<JobData>(place, &show, cancel).await {
        Ok(shown) => shown,
        Err(why) => return Ok(not_there(&why)),
    };
    let Some(path) = shown.output else {
        return Ok(not_there(&format!("job {} keeps no output", followed.job)));
    };
    let mut offset = 0;
    if let Some(lines) = followed.tail {
        let last = RpcCall::JobsOutput {
            job: job(),
            offset: None,
            tail: Some(lines),
        };
        offset = ask::<JobOutputData>(place, &last, cancel)
            .await
            .map_err(Error::msg)?
            .from;
    }
    let mut out = PassThrough::new(io::stdout());
    let mut is_over = false;
    loop {
        let read = RpcCall::FileRead {
            path: path.clone(),
            offset,
            length: None,
        };
        let piece: FilePieceData = ask(place, &read, cancel).await.map_err(Error::msg)?;
        let bytes = &piece.data.0;
        if !output::pass(&mut out, bytes)? {
            return Ok(0);
        }
        offset += bytes.len() as u64;
        if !piece.at_end && !bytes.is_empty() {
            continue;
        }
        // The job may have printed between the last read and its end: read once more.
        if is_over {
            return Ok(0);
        }
        let wait = RpcCall::JobsWait {
            job: job(),
            timeout: Some(json!(WAIT_INTERVAL)),
        };
        is_over = ask::<JobWaitData>(place, &wait, cancel)
            .await
            .map_err(Error::msg)?
            .over;
    }
}

fn not_there(why: &str) -> u8 {
    output::say(&format!("agent-bash: {why}"));
    NOT_FOUND_EXIT_CODE
}

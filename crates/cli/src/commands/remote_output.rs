//! `jobs output --follow --on TARGET`: prints the output of a job on a target as it grows.
//!
//! The output is a file on the target that only grows; it is read like any file of a target. Its
//! path comes from the target and is sent only to the target.

use crate::args::FollowedJob;
use crate::commands::NOT_FOUND_EXIT_CODE;
use crate::output::{self, PassThrough};
use agent_bash::core::{Cancel, RemoteHost, Until};
use agent_bash::remote::protocol::data::{FilePieceData, JobData, JobOutputData, JobWaitData};
use agent_bash::remote::protocol::{Name, RpcCall};
use agent_bash::session::ask;
use anyhow::Error;
use serde_json::{Value, json};
use std::io;

/// How long the target waits for the job's end between two reads.
const WAIT_INTERVAL: &str = "200ms";

/// Prints the job's output until the job has ended.
pub(crate) async fn follow(
    remote: &dyn RemoteHost,
    followed: FollowedJob<'_>,
    cancel: &Cancel,
) -> anyhow::Result<u8> {
    // If the host is unreachable, the error is not about a missing job.
    ask::<Value>(remote, &RpcCall::Ping, cancel)
        .await
        .map_err(Error::msg)?;
    let job = || Name(followed.job.to_owned());
    let show = RpcCall::JobsShow { job: job() };
    let shown = match ask::<JobData>(remote, &show, cancel).await {
        Ok(shown) => shown,
        Err(why) => return Ok(say_not_found(&why)),
    };
    let Some(path) = shown.output else {
        return Ok(say_not_found(&format!(
            "job {} keeps no output",
            followed.job
        )));
    };
    let mut offset = 0;
    if let Some(lines) = followed.tail {
        let last = RpcCall::JobsOutput {
            job: job(),
            offset: None,
            tail: Some(lines),
        };
        offset = ask::<JobOutputData>(remote, &last, cancel)
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
        let piece: FilePieceData = ask(remote, &read, cancel).await.map_err(Error::msg)?;
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
            until: Until::default(),
            offset: None,
            timeout: Some(json!(WAIT_INTERVAL)),
        };
        is_over = ask::<JobWaitData>(remote, &wait, cancel)
            .await
            .map_err(Error::msg)?
            .over;
    }
}

/// Prints the reason, and returns the exit code for it.
fn say_not_found(why: &str) -> u8 {
    output::say(&format!("agent-bash: {why}"));
    NOT_FOUND_EXIT_CODE
}

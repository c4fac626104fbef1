//! The sentences of notices that list processes, ports, hosts, locks, secrets or unknown
//! observations.

use crate::observed::{listed, listens_on};
use crate::sandbox::{RefusedHost, Unknown};
use crate::{Holder, Survivor, short_duration};
use std::time::Duration;

/// Returns a requested duration as text.
pub(super) fn millis_text(millis: u64) -> String {
    // `Duration::MAX` in milliseconds: the requested value overflowed.
    if millis == u64::MAX {
        return "forever".to_owned();
    }
    short_duration(Duration::from_millis(millis))
}

/// Returns the sentence for unknown observations.
pub(super) fn unanswered_sentence(unknown: &[Unknown]) -> String {
    let clause = |unknown: &Unknown| match unknown {
        Unknown::Changed => "which protected files this call changed",
        Unknown::Denied => "which files this call was denied",
    };
    let clauses: Vec<&str> = unknown.iter().map(clause).collect();
    format!(
        "A file system does not answer, so it is not known {}.",
        clauses.join(", nor ")
    )
}

/// Returns the sentence for processes with unrecorded changes; names at most five.
pub(super) fn unwatched_sentence(pids: &[u32]) -> String {
    const MAX_NAMED: usize = 5;
    let named: Vec<String> = pids.iter().take(MAX_NAMED).map(u32::to_string).collect();
    let more = match pids.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let named = named.join(", ");
    format!(
        "The processes that still run (pid {named}{more}) are not traced: their further file changes are in no list"
    )
}

/// Returns the sentence for connections that the proxy of a sandbox refused; names at most five
/// targets, and the entries that would allow them.
pub(super) fn refused_hosts_sentence(refused: &[RefusedHost]) -> String {
    const MAX_NAMED: usize = 5;
    let total: u64 = refused.iter().map(|refused| refused.count).sum();
    let connections = match total {
        1 => "1 connection to a host that is not listed".to_owned(),
        _ => format!("{total} connections to hosts that are not listed"),
    };
    let target = |refused: &RefusedHost| match refused.count {
        1 => refused.host.clone(),
        count => format!("{} ({count} times)", refused.host),
    };
    // An entry without a port allows the ports 80 and 443.
    let entry = |refused: &RefusedHost| {
        let host = &refused.host;
        let without_port = host.strip_suffix(":443").or(host.strip_suffix(":80"));
        format!("\"{}\"", without_port.unwrap_or(host))
    };
    let named = &refused[..refused.len().min(MAX_NAMED)];
    let targets: Vec<String> = named.iter().map(target).collect();
    let mut entries: Vec<String> = named.iter().map(entry).collect();
    entries.dedup();
    let (more, rest) = match refused.len().saturating_sub(MAX_NAMED) {
        0 => (String::new(), ""),
        more => (format!(", and {more} more"), ", …"),
    };
    format!(
        "The sandbox refused {connections}: {}{more}; the user can allow them in the list `sandbox.network`: [{}{rest}].",
        targets.join(", "),
        entries.join(", ")
    )
}

/// Returns the sentence for an address in use. Without a port, names the jobs that listen.
pub(super) fn port_sentence(port: Option<u16>, holders: &[Holder]) -> String {
    let Some(port) = port else {
        let named = holders.iter().map(|holder| {
            let ports = listed(&holder.listens_on);
            format!("{holder} on {ports}")
        });
        let named: Vec<String> = named.collect();
        return format!("These jobs listen: {}", named.join("; "));
    };
    format!("Port {port} is in use by {}", listed(holders))
}

/// Returns the sentence for a held lock: names its holder, or its age if no visible process holds
/// it.
pub(super) fn lock_sentence(tool: &str, path: &str, holder: Option<&Holder>, age_s: u64) -> String {
    if let Some(holder) = holder {
        return format!("The lock `{path}` of {tool} is held by {holder}");
    }
    let age = short_duration(Duration::from_secs(age_s));
    format!(
        "The lock `{path}` of {tool} is {age} old; no visible process has it open, and no {tool} waits in this directory"
    )
}

/// Returns the sentence for masked secrets.
pub(super) fn secrets_masked_sentence(count: u64, artifact: Option<&str>) -> String {
    let masked = match count {
        1 => "1 secret in the output is shown as ‹name›".to_owned(),
        count => format!("{count} secrets in the output are shown as ‹name›"),
    };
    let stored = artifact.map(|uri| format!("; the file of {uri} has the output as printed"));
    format!("{masked}{}", stored.unwrap_or_default())
}

/// Returns the sentence for survivors; names at most five.
pub(super) fn survivors_sentence(survivors: &[Survivor]) -> String {
    const MAX_NAMED: usize = 5;
    let named: Vec<String> = survivors
        .iter()
        .take(MAX_NAMED)
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
            let ports = listens_on(&survivor.listens_on);
            format!(
                "pid {}{job}{held}: {}{ports}",
                survivor.pid, survivor.command
            )
        })
        .collect();
    let more = survivors.len().saturating_sub(MAX_NAMED);
    let rest = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    format!("Still running: {}{rest}", named.join("; "))
}

//! The sentence of each kind of notice.

use super::{LimitKind, NoticeKind, UncomparedDirectory};
use crate::observed::{listed, listens_on};
use crate::sandbox::{
    Access, DenialBasis, MissingPromise, Network, RefusedHost, SandboxLevel, UnknownObservation,
};
use crate::{Holder, Survivor, short_duration};
use std::time::Duration;

impl NoticeKind {
    #[expect(clippy::too_many_lines, reason = "a table: one sentence for each kind")]
    /// Returns the sentence of the notice.
    pub(super) fn sentence(&self) -> String {
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
            Self::SecretsMasked { count, artifact } => {
                secrets_masked_sentence(*count, artifact.as_deref())
            }
            Self::HeadSatisfied { lines } => {
                format!("The command was ended after its first {lines} lines, as `head` does")
            }
            Self::WaitingForInput { state } => {
                format!("The command was waiting for input ({state}) that the call cannot receive")
            }
            Self::PromptUnanswered {
                program,
                wanted,
                advice,
            } => {
                let program = match program {
                    Some(program) => format!("`{program}`"),
                    None => "A program".to_owned(),
                };
                format!("{program} asked for {wanted}, and got no answer: {advice}")
            }
            Self::FieldRenamed { name, used } => format!("`{name}` was read as `{used}`"),
            Self::Lifted { filter } => {
                format!("`{filter}` was applied to the output instead of being run")
            }
            Self::Advice {
                suggested_tool,
                message,
            } => {
                format!("Prefer the `{suggested_tool}` tool: {message}")
            }
            Self::RuleAdvice {
                rule,
                message,
                instead,
            } => {
                let instead = match &**instead {
                    "" => String::new(),
                    instead => format!("; instead: {instead}"),
                };
                format!("Advice ({rule}): {message}{instead}")
            }
            Self::AllowedByUser { rule } => {
                format!("The user allowed this command, which the rule {rule} refuses")
            }
            Self::LimitHit { limit, value } => {
                let effect = match limit {
                    LimitKind::CpuS | LimitKind::FileMb | LimitKind::MemoryMb => "ended",
                    LimitKind::Processes => "refused further processes",
                    LimitKind::CpuPercent => "slowed",
                };
                format!("The command was {effect} by its resource limit: {limit} = {value}")
            }
            Self::WithoutCgroup { limits, reason } => {
                let effect = |limit: &LimitKind| match limit {
                    LimitKind::CpuPercent => format!("{limit} is not enforced"),
                    LimitKind::Processes => format!("{limit} holds for all processes of this user"),
                    _ => format!("{limit} holds for each process alone"),
                };
                let effects: Vec<_> = limits.iter().map(effect).collect();
                format!("{}: {reason}", effects.join(", "))
            }
            Self::SnapshotSkipped { reason } => {
                format!("The shell's configuration was not loaded: {reason}")
            }
            Self::SnapshotLoaded => {
                "The shell's configuration is loaded from this call on".to_owned()
            }
            Self::DefinitionMissing { name, reason } => {
                format!("`{name}` of the shell's configuration is not loaded: {reason}")
            }
            Self::AuditFailed { reason } => {
                format!("The call is not in the audit log: {reason}")
            }
            Self::JournalFailed { reason } => {
                format!("The call is not in the session's journal: {reason}")
            }
            Self::SandboxDenied {
                path,
                access,
                basis,
                level,
                is_protected,
            } => {
                let forbidden = match access {
                    Access::Read => "read it",
                    Access::Write => "write there",
                };
                let observation = match (basis, access) {
                    // A message about a secret may name an entry of it, or a missing key.
                    (DenialBasis::Inferred, Access::Read) => "The output points to",
                    (DenialBasis::Inferred, Access::Write) => "The output names",
                    (DenialBasis::Observed, _) => "A process of this call was refused write access to",
                };
                let remedy = denial_remedy(path, *access, *level, *is_protected);
                format!(
                    "{observation} `{path}`; this call may not {forbidden} (sandbox: {level}; {remedy})."
                )
            }
            Self::SandboxSockets { is_full, level } => {
                let usable = if *is_full {
                    "only streams between its own processes"
                } else {
                    "none, not even between its own processes"
                };
                format!(
                    "The output names a refused Unix socket; this call can use {usable} (sandbox: {level})."
                )
            }
            Self::SandboxOperations { refused, level } => {
                let (error, list) = refused.error_and_list();
                let setting = refused.setting();
                format!(
                    "The output has an error such as `{error}`, by which the sandbox refuses {list} (sandbox: {level}; setting {setting})."
                )
            }
            Self::SandboxCache { tool, path } => format!(
                "{tool} says that its cache lacks something; this call may not write `{path}` (setting sandbox.caches)."
            ),
            Self::SandboxNetwork { refused, network } => {
                let refused = match refused {
                    1 => "1 attempt to reach the network was".to_owned(),
                    n => format!("{n} attempts to reach the network were"),
                };
                let available = match network {
                    Network::Loopback => "only a loopback interface (setting sandbox.network)",
                    Network::Hosts => "only a proxy to the listed hosts (`HTTPS_PROXY`)",
                    Network::Off | Network::On => "none (setting sandbox.network)",
                };
                format!("{refused} refused; this call has {available}.")
            }
            Self::SandboxHosts { refused } => refused_hosts_sentence(refused),
            Self::SandboxPartial {
                missing,
                network_uncounted,
            } => {
                let uncounted = if *network_uncounted {
                    " Attempts to reach the network fail (`Permission denied`) and are not counted."
                } else {
                    ""
                };
                let missing = MissingPromise::consequences(missing);
                format!(
                    "The sandbox is only partly enforced here. Not enforced: {missing}.{uncounted}"
                )
            }
            Self::ProtectedChanged { paths } => format!(
                "This call changed {}, which run or configure programs outside of the sandbox.",
                first_listed(paths)
            ),
            Self::ProtectedUncompared { directories } => {
                let named: Vec<String> = directories.iter().map(uncompared_text).collect();
                format!(
                    "The sandbox did not compare all files in {}. Files there that run or configure programs outside of the sandbox may have changed.",
                    first_listed(&named)
                )
            }
            Self::ProtectedInTrial { paths } => format!(
                "This trial would change {}, which run or configure programs outside of the sandbox.",
                first_listed(paths)
            ),
            Self::GitConfigDropped { keys } => format!(
                "The sandbox did not keep these changes of .git/config, which could affect programs outside of it: {}.",
                first_listed(keys)
            ),
            Self::SandboxUnsupported => "A program was ended by SIGSYS: the sandbox runs no 32-bit programs, since it filters the system calls of 64-bit ones only.".to_owned(),
            Self::SandboxUnknown { unknown } => unanswered_sentence(unknown),
            Self::Changes { line, .. } => line.clone(),
            Self::ChangesUnknown { reason } => {
                format!("The file changes of this call are not known: {reason}")
            }
            Self::ChangesLimit { max_mb } => format!(
                "The command was ended, as the former contents of the changed files exceed {max_mb} MiB (`changes.max_set_mb`)"
            ),
            Self::ChangesUntraced { pids } => untraced_sentence(pids),
            Self::PortInUse { port, holders } => port_sentence(*port, holders),
            Self::LockHeld {
                tool,
                path,
                holder,
                age_s,
            } => lock_sentence(tool, path, holder.as_ref(), *age_s),
            Self::WithoutSupervisor { reason } => {
                format!("Running without a supervisor: {reason}")
            }
        }
    }
}

/// Returns what would allow a denied access to this file, or why nothing would.
fn denial_remedy(
    path: &str,
    access: Access,
    level: SandboxLevel,
    is_protected: bool,
) -> &'static str {
    let directory = path.rsplit_once('/').map(|(directory, _)| directory);
    match (access, level) {
        (Access::Read, _) => "setting sandbox.readable",
        (Access::Write, _) if path.starts_with("/dev/") => "setting sandbox.devices",
        (Access::Write, SandboxLevel::ReadOnly) => "only `$TMPDIR` is writable",
        (Access::Write, _) if is_protected => "a protected file",
        (Access::Write, _) if matches!(directory, Some("/tmp" | "/var/tmp")) => {
            "use `$TMPDIR` instead"
        }
        (Access::Write, _) => "setting sandbox.writable",
    }
}

/// Returns a requested duration as text.
fn millis_text(millis: u64) -> String {
    // `Duration::MAX` in milliseconds: the requested value overflowed.
    if millis == u64::MAX {
        return "forever".to_owned();
    }
    short_duration(Duration::from_millis(millis))
}

/// Returns the sentence for unknown observations.
fn unanswered_sentence(unknown: &[UnknownObservation]) -> String {
    let clause = |unknown: &UnknownObservation| match unknown {
        UnknownObservation::Changed => "which protected files this call changed",
        UnknownObservation::Denied => "which files this call was denied",
    };
    let clauses: Vec<&str> = unknown.iter().map(clause).collect();
    format!(
        "A file system does not answer, so it is not known {}.",
        clauses.join(", nor ")
    )
}

/// Returns a list of paths; names at most forty, and says how many follow.
fn first_listed(paths: &[String]) -> String {
    const MAX_NAMED: usize = 40;
    let named = listed(&paths[..paths.len().min(MAX_NAMED)]);
    format!("{named}{}", more_than(MAX_NAMED, paths.len()))
}

/// Returns the path of a directory, and how much of the directory was not compared.
fn uncompared_text(directory: &UncomparedDirectory) -> String {
    let path = &directory.path;
    match directory.unreached {
        0 => format!("{path} (more than 10,000 names)"),
        1 => format!("{path} (1 subdirectory or more)"),
        number => format!("{path} ({number} subdirectories or more)"),
    }
}

/// Returns the end of a list of `count` values that names the first `named` values only.
fn more_than(named: usize, count: usize) -> String {
    match count.saturating_sub(named) {
        0 => String::new(),
        more => format!(", and {more} more"),
    }
}

/// Returns the sentence for processes with unrecorded changes; names at most five.
fn untraced_sentence(pids: &[u32]) -> String {
    const MAX_NAMED: usize = 5;
    let named: Vec<String> = pids.iter().take(MAX_NAMED).map(u32::to_string).collect();
    let more = more_than(MAX_NAMED, pids.len());
    let named = named.join(", ");
    format!(
        "The processes that still run (pid {named}{more}) are not traced: their further file changes are in no list"
    )
}

/// Returns the sentences for what the proxy of a sandbox refused: connections and secrets.
fn refused_hosts_sentence(refused: &[RefusedHost]) -> String {
    let has_secret = |refused: &&RefusedHost| refused.secret.is_some();
    let (secrets, connections): (Vec<_>, Vec<_>) = refused.iter().partition(has_secret);
    let connections = (!connections.is_empty()).then(|| refused_connections(&connections));
    let secrets = (!secrets.is_empty()).then(|| refused_secrets(&secrets));
    let sentences: Vec<String> = connections.into_iter().chain(secrets).collect();
    sentences.join(" ")
}

/// The largest number of targets in the sentences on what a proxy refused.
const MAX_NAMED_TARGETS: usize = 5;

/// Returns the target, and how often the proxy refused it.
fn counted_target(refused: &RefusedHost) -> String {
    match refused.count {
        1 => refused.host.clone(),
        count => format!("{} ({count} times)", refused.host),
    }
}

/// Returns the sentence for refused connections, which names the entries that would allow them.
fn refused_connections(refused: &[&RefusedHost]) -> String {
    let total: u64 = refused.iter().map(|refused| refused.count).sum();
    let connections = match total {
        1 => "1 connection to a host that is not listed".to_owned(),
        _ => format!("{total} connections to hosts that are not listed"),
    };
    // An entry without a port allows the ports 80 and 443.
    let entry = |refused: &&RefusedHost| {
        let host = &refused.host;
        let without_port = host.strip_suffix(":443").or(host.strip_suffix(":80"));
        format!("\"{}\"", without_port.unwrap_or(host))
    };
    let named = &refused[..refused.len().min(MAX_NAMED_TARGETS)];
    let targets: Vec<String> = named.iter().map(|it| counted_target(it)).collect();
    let mut entries: Vec<String> = named.iter().map(entry).collect();
    entries.dedup();
    let more = more_than(MAX_NAMED_TARGETS, refused.len());
    let rest = if more.is_empty() { "" } else { ", …" };
    format!(
        "The sandbox refused {connections}: {}{more}; the user can allow them in the list `sandbox.network`: [{}{rest}].",
        targets.join(", "),
        entries.join(", ")
    )
}

/// Returns the sentence for placeholders that were sent instead of secrets.
fn refused_secrets(refused: &[&RefusedHost]) -> String {
    let named = &refused[..refused.len().min(MAX_NAMED_TARGETS)];
    let target = |refused: &&RefusedHost| {
        let secret = refused.secret.as_deref().unwrap_or_default();
        format!("{secret} to {}", counted_target(refused))
    };
    let targets: Vec<String> = named.iter().map(target).collect();
    let more = more_than(MAX_NAMED_TARGETS, refused.len());
    format!(
        "The placeholders of these variables were sent, not their values: {}{more}; values go only into the credentials (`Authorization`, `PRIVATE-TOKEN`, `X-Api-Key`, …) of requests to `http://HOST/`, where the setting `sandbox.secrets` names the host.",
        targets.join(", ")
    )
}

/// Returns the sentence for an address in use. Without a port, names the jobs that listen.
fn port_sentence(port: Option<u16>, holders: &[Holder]) -> String {
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
fn secrets_masked_sentence(count: u64, artifact: Option<&str>) -> String {
    let masked = match count {
        1 => "1 secret in the output is shown as ‹name›".to_owned(),
        count => format!("{count} secrets in the output are shown as ‹name›"),
    };
    let stored = artifact.map(|uri| format!("; the file of {uri} has the output as printed"));
    format!("{masked}{}", stored.unwrap_or_default())
}

/// Returns the sentence for survivors; names at most five.
fn survivors_sentence(survivors: &[Survivor]) -> String {
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

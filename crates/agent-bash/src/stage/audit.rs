//! Writes a finished call to the audit log, if the host has an audit log.

use crate::tool_context::ToolContext;
use agent_bash_core::sandbox::SandboxRequest;
use agent_bash_core::{
    AuditEntry, AuditVerdict, Caller, Notice, NoticeKind, Status, Timestamp, hex,
};
use agent_bash_state::panics::catch_panic;
use sha2::{Digest, Sha256};

/// The recorded facts of a call.
pub(crate) struct AuditFacts<'a> {
    pub(crate) by: Caller,
    pub(crate) command: &'a str,
    /// The sandbox that the call requested.
    pub(crate) sandbox: Option<SandboxRequest>,
    /// True if the call passed all checks.
    pub(crate) allowed: bool,
    /// The rule that refuses the command, if the user allowed the command.
    pub(crate) overridden_rule: Option<String>,
    pub(crate) status: &'a Status,
    pub(crate) time: Timestamp,
    pub(crate) duration_ms: f64,
}

/// Records a call in the audit log. Returns a notice if the recording fails.
pub(crate) fn record(tool: &ToolContext, call: AuditFacts<'_>) -> Option<Notice> {
    let audit = tool.audit.as_ref()?;
    let (verdict, rule) = match call.status {
        Status::Blocked { rule, .. } => (AuditVerdict::Blocked, Some(rule.clone())),
        _ if call.allowed => (AuditVerdict::Allowed, call.overridden_rule),
        _ => (AuditVerdict::NotAsked, None),
    };
    let entry = AuditEntry {
        time: call.time,
        profile: tool.profile.name,
        by: call.by,
        command_sha256: digest(call.command),
        command_bytes: call.command.len() as u64,
        command: audit.commands.then(|| call.command.to_owned()),
        verdict,
        rule,
        sandbox: call.sandbox,
        status: call.status.clone(),
        duration_ms: call.duration_ms,
    };
    let reason = match catch_panic(|| audit.log.record(&entry)) {
        Ok(Ok(())) => return None,
        Ok(Err(error)) => error.to_string(),
        Err(panicked) => panicked.to_string(),
    };
    tracing::warn!(reason, "a call could not be written into the audit log");
    Some(NoticeKind::AuditFailed { reason }.into())
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_equals_that_of_sha256sum() {
        assert_eq!(
            digest("ls -la"),
            "1de700c29687cae34561545f50d3c8b3d9afe88e04cc11069f8a6dc6e4ce9464"
        );
    }
}

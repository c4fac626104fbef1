//! The fields of a request in the journal.

use agent_bash_core::visible::one_line;
use agent_bash_core::{Mode, Request, SessionName};
use agent_bash_journal::{Escalation, Journal, JournalEntry, MaskSecrets};
use agent_bash_process::environment::{EnvironmentPolicy, SecretFilter};
use std::sync::Arc;

/// The recorded fields of a request other than its command.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestDetails {
    description: Option<String>,
    mode: Option<Mode>,
    session: Option<SessionName>,
    secrets: Vec<String>,
    /// The request to leave the sandbox, and the approver's answer.
    pub(crate) escalation: Option<Escalation>,
}

/// Maximum number of characters of a command that is stored with its change set.
const MAX_LABEL_CHARS: usize = 200;

/// Returns the command `typed` as the label of a change set: on one line, shortened, with masked
/// secrets.
pub(crate) fn command_label(
    mask_secrets: &MaskSecrets,
    policy: &EnvironmentPolicy,
    request: &Request,
    typed: &str,
) -> String {
    let text = masked(mask_secrets, policy, request, typed.trim());
    let line = one_line(&text).into_owned();
    match line.char_indices().nth(MAX_LABEL_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Returns a text of a request for a record, with masked secrets of the host and of the request.
pub(crate) fn masked(
    mask_secrets: &MaskSecrets,
    policy: &EnvironmentPolicy,
    request: &Request,
    text: &str,
) -> String {
    let mut text = text.to_owned();
    for secret in secrets(policy, request) {
        text = text.replace(&secret, "[hidden]");
    }
    mask_secrets(&text).into_owned()
}

impl RequestDetails {
    /// Returns the recorded fields of a request; empty without a journal.
    pub(crate) fn of(
        journal: Option<&Arc<Journal>>,
        policy: &EnvironmentPolicy,
        request: &Request,
    ) -> Self {
        journal.map_or_else(Self::default, |_| Self {
            description: request.description.clone(),
            mode: request.mode,
            session: request.session.clone(),
            secrets: secrets(policy, request),
            escalation: None,
        })
    }

    /// Writes these fields into an entry.
    pub(crate) fn write_to(self, entry: &mut JournalEntry) {
        entry.description = self.description;
        entry.mode = self.mode;
        entry.session = self.session;
        entry.secrets = self.secrets;
        entry.escalation = self.escalation;
    }
}

/// Returns the values of the request's secret variables. The request is untrusted, and must not be
/// able to mask a command. So this function leaves out values that look like a command, and values
/// with which a command of the script begins.
fn secrets(policy: &EnvironmentPolicy, request: &Request) -> Vec<String> {
    const MIN_SECRET_BYTES: usize = 6;
    let default = SecretFilter::default();
    let filter = policy.secrets.as_ref().unwrap_or(&default);
    let looks_secret = |value: &str| {
        value.len() >= MIN_SECRET_BYTES
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && !value.contains(|c: char| c.is_whitespace() || ";|&()<>`$/\"'".contains(c))
    };
    let is_command = |value: &str| {
        let mut commands = request.command.split([';', '|', '&', '(', '\n', '`']);
        commands.any(|command| command.trim_start().starts_with(value))
    };
    let variables = request.env.iter();
    variables
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .filter(|(name, value)| filter.is_secret(name.as_ref(), value.as_ref()))
        .filter(|(_, value)| looks_secret(value) && !is_command(value))
        .map(|(_, value)| value.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn secrets_of_a_request_are_masked_unless_they_may_be_commands() {
        for (name, value, command, is_masked) in [
            ("API_TOKEN", "hunter16", "curl -H hunter16 x", true),
            ("EDITOR", "hunter16", "x", false),
            ("API_TOKEN", "python3", "ls; python3 evil.py", false),
            ("API_TOKEN", "python3", "python3 evil.py", false),
            ("API_TOKEN", "rm -rf 1", "sudo rm -rf 1", false),
            ("API_TOKEN", "/bin/x86evil", "sudo /bin/x86evil", false),
        ] {
            let variables = BTreeMap::from([(name.to_owned(), Some(value.to_owned()))]);
            let request = Request::new(command).env(variables);
            let found = secrets(&EnvironmentPolicy::default(), &request);
            assert_eq!(!found.is_empty(), is_masked, "{value}: {command}");
        }
    }
}

//! The record of a session for people: the settings, and how a session's journal is opened.

use agent_bash_core::visible::one_line;
use agent_bash_core::{Mode, Request, SessionName, Timestamp};
use agent_bash_journal::{
    Escalation, Journal, JournalEntry, JournalLevel, JournalOptions, MaskSecrets, RetentionLimits,
    sweep,
};
use agent_bash_process::environment::{EnvironmentPolicy, Masks, SecretFilter};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Settings of the journal: section `[journal]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalSettings {
    /// The level of the record. Without it, a session of many calls records commands and their
    /// outcome; a session of a single call records nothing.
    pub level: Option<JournalLevel>,
    /// Time for which a record is kept after it was last written.
    pub keep: Duration,
    /// Size of the record of one session's process, in MiB.
    pub max_mb: u64,
    /// Size of all records, in MiB.
    pub max_total_mb: u64,
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self {
            level: None,
            keep: Duration::from_secs(7 * 24 * 60 * 60),
            max_mb: 64,
            max_total_mb: 256,
        }
    }
}

impl JournalSettings {
    /// Returns the journal of a session in the state directory, if it has one. Old journals are
    /// removed first, unless this process makes a single call of a session that exists.
    ///
    /// `is_recorded`: the session has a journal unless the settings say otherwise. If this process
    /// makes only one of its calls (`many_calls` is false), it shares the journal with the others.
    /// `hide` masks the host's secrets.
    pub(crate) fn open(
        &self,
        state: PathBuf,
        session: &str,
        (is_recorded, many_calls): (bool, bool),
        hide: MaskSecrets,
        now: Timestamp,
    ) -> Option<Arc<Journal>> {
        let level = self.level.unwrap_or(if is_recorded {
            JournalLevel::Metadata
        } else {
            JournalLevel::Off
        });
        if level == JournalLevel::Off {
            return None;
        }
        // Not before each call of a conversation that other processes lead.
        if many_calls || !state.join(session).exists() {
            sweep(&state, self.retention(), now);
        }
        Some(Arc::new(Journal::new(JournalOptions {
            state,
            session: session.to_owned(),
            level,
            max_bytes: self.max_mb << 20,
            is_shared: is_recorded && !many_calls,
            hide,
        })))
    }

    /// The limits of age and size.
    pub fn retention(&self) -> RetentionLimits {
        RetentionLimits {
            time: self.keep,
            bytes: self.max_total_mb << 20,
        }
    }
}

/// Takes a host's secrets out of texts. The first text takes longer, since the environment is
/// judged then.
pub(crate) fn hide(
    environment: Arc<BTreeMap<OsString, OsString>>,
    secrets: SecretFilter,
) -> MaskSecrets {
    let masks = OnceLock::new();
    Arc::new(move |text| {
        let masks = masks.get_or_init(|| {
            let variables = environment.iter();
            Masks::new(
                variables.map(|(name, value)| (name.as_os_str(), value.as_os_str())),
                secrets.clone(),
            )
        });
        masks.hide(text)
    })
}

/// The recorded fields of a request, besides its command.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestDetails {
    description: Option<String>,
    mode: Option<Mode>,
    session: Option<SessionName>,
    secrets: Vec<String>,
    /// The reason for leaving the sandbox, and the answer.
    pub(crate) escalation: Option<Escalation>,
}

/// Characters of a command that is kept with what it did to files.
const MAX_NAME_CHARS: usize = 200;

/// A command to tell a set of changes by: on one line, cut, and without the secrets that records do
/// not have either.
pub(crate) fn named(
    hide: &MaskSecrets,
    policy: &EnvironmentPolicy,
    request: &Request,
    typed: &str,
) -> String {
    let text = hidden(hide, policy, request, typed.trim());
    let line = one_line(&text).into_owned();
    match line.char_indices().nth(MAX_NAME_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

/// Returns a text of a request as records show it: without the host's secrets and the request's
/// own.
pub(crate) fn hidden(
    hide: &MaskSecrets,
    policy: &EnvironmentPolicy,
    request: &Request,
    text: &str,
) -> String {
    let mut text = text.to_owned();
    for secret in secrets(policy, request) {
        text = text.replace(&secret, "[hidden]");
    }
    hide(&text).into_owned()
}

impl RequestDetails {
    /// Copies the facts of a call, unless there is no journal.
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

    /// Writes these facts into an entry.
    pub(crate) fn put_in(self, entry: &mut JournalEntry) {
        entry.description = self.description;
        entry.mode = self.mode;
        entry.session = self.session;
        entry.secrets = self.secrets;
        entry.escalation = self.escalation;
    }
}

/// Returns values of the request's secret variables. The request is untrusted: a value that could
/// be a command, or is part of this one, does not count, so that it cannot hide a command.
fn secrets(policy: &EnvironmentPolicy, request: &Request) -> Vec<String> {
    const MIN_SECRET_BYTES: usize = 6;
    let default = SecretFilter::default();
    let filter = policy.secrets.as_ref().unwrap_or(&default);
    let looks = |value: &str| {
        value.len() >= MIN_SECRET_BYTES
            && value.bytes().any(|b| b.is_ascii_digit())
            && !value.contains(|c: char| c.is_whitespace() || ";|&()<>`$/\"'".contains(c))
    };
    let is_command = |value: &str| {
        let mut commands = request.command.split([';', '|', '&', '(', '\n', '`']);
        commands.any(|command| command.trim_start().starts_with(value))
    };
    let given = request.env.iter();
    given
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .filter(|(name, value)| filter.is_secret(name.as_ref(), value.as_ref()))
        .filter(|(_, value)| looks(value) && !is_command(value))
        .map(|(_, value)| value.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_brings_is_hidden_but_no_command() {
        for (name, value, command, is_one) in [
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
            assert_eq!(!found.is_empty(), is_one, "{value}: {command}");
        }
    }
}

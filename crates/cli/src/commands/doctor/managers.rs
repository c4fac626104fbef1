//! The version and environment managers that the user's configuration sets up, and which version a
//! call gets from each.

use super::finding::{Finding, FindingGrade};
use crate::process_start::StartContext;
use agent_bash::core::Notice;
use agent_bash::core::changes::ChangesLevel;
use agent_bash::exec::ConfiguredNames;
use agent_bash::process::supervisor::Supervisor;
use agent_bash::session::{Conversation, ConversationOptions};
use agent_bash::settings::Settings;
use std::ffi::OsStr;

/// The thing that decides which version a call gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionChoice {
    /// The directory of the call.
    Directory,
    /// The configuration, until a command of the session activates another version.
    Activation,
}

/// The evidence that a configuration sets up a manager.
#[derive(Clone, Copy)]
enum ManagerEvidence {
    /// A function or an alias has this name.
    Definition(&'static str),
    /// The search path contains this text.
    Path(&'static str),
}

use ManagerEvidence::{Definition, Path};
use VersionChoice::{Activation, Directory};

/// The known managers: name, evidence, and the choice of the version.
const MANAGERS: &[(&str, ManagerEvidence, VersionChoice)] = &[
    ("direnv", Definition("_direnv_hook"), Directory),
    ("mise", Definition("mise"), Directory),
    ("mise shims", Path("/mise/shims"), Directory),
    ("asdf", Path("/.asdf/shims"), Directory),
    ("pyenv", Definition("pyenv"), Directory),
    ("rbenv", Definition("rbenv"), Directory),
    ("nodenv", Definition("nodenv"), Directory),
    ("goenv", Definition("goenv"), Directory),
    ("rustup", Path("/.cargo/bin"), Directory),
    ("volta", Path("/.volta/bin"), Directory),
    ("nvm", Definition("nvm"), Activation),
    ("fnm", Path("/fnm_multishells/"), Activation),
    ("conda", Definition("conda"), Activation),
    ("mamba", Definition("mamba"), Activation),
    ("micromamba", Definition("micromamba"), Activation),
    ("virtualenvwrapper", Definition("workon"), Activation),
    ("environment modules", Definition("module"), Activation),
    ("SDKMAN", Definition("sdk"), Activation),
];

/// The name of the conversation that reads the configuration, as servers do.
pub(super) const SESSION_NAME: &str = "doctor_managers";

/// Reads the user's configuration. Returns a finding with the managers in it, and how calls get
/// their versions.
pub(super) async fn managers(
    settings: &Settings,
    start: &StartContext,
    supervisor: &Supervisor,
) -> anyhow::Result<Finding> {
    let options = ConversationOptions {
        is_recorded: false,
        changes: ChangesLevel::Off,
        ..ConversationOptions::long_lived(SESSION_NAME, supervisor.clone())
    };
    let host = start.host.clone();
    let conversation = Conversation::open(settings, host, options)?;
    Ok(finding(conversation.configured().await))
}

fn finding(configured: Result<ConfiguredNames, Notice>) -> Finding {
    let configured = match configured {
        Ok(configured) => configured,
        Err(notice) => return Finding::new(FindingGrade::Note, "managers", notice.text),
    };
    let chosen_by = |wanted: VersionChoice| {
        let found = MANAGERS
            .iter()
            .filter(|(_, evidence, choice)| *choice == wanted && evidence.is_in(&configured));
        found.map(|(name, ..)| *name).collect::<Vec<_>>().join(", ")
    };
    let mut details = Vec::new();
    for (choice, how) in [
        (Directory, "the version of the call's directory"),
        (
            Activation,
            "the default; what a call activates lasts within its session",
        ),
    ] {
        let names = chosen_by(choice);
        if !names.is_empty() {
            details.push(format!("{names}: {how}"));
        }
    }
    if details.is_empty() {
        details.push("the shell's configuration sets up no version manager".to_owned());
    }
    Finding::new(FindingGrade::Works, "managers", details.join("\n"))
}

impl ManagerEvidence {
    /// True if the configuration shows this evidence.
    fn is_in(self, configured: &ConfiguredNames) -> bool {
        match self {
            Definition(name) => configured.names.iter().any(|defined| defined == name),
            Path(part) => {
                let path = configured.path.as_deref().unwrap_or(OsStr::new(""));
                path.to_string_lossy().contains(part)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_named_with_the_choice_of_their_versions() {
        let configured = ConfiguredNames {
            names: ["_direnv_hook", "nvm", "conda"].map(String::from).to_vec(),
            path: Some("/h/.cargo/bin:/usr/bin".into()),
            ..ConfiguredNames::default()
        };
        let found = finding(Ok(configured));
        assert_eq!(
            found.detail,
            "direnv, rustup: the version of the call's directory\n\
             nvm, conda: the default; what a call activates lasts within its session"
        );
        let none = finding(Ok(ConfiguredNames::default()));
        assert_eq!(
            none.detail,
            "the shell's configuration sets up no version manager"
        );
    }
}

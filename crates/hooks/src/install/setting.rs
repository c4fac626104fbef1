//! Edits the setting that names an agent's shell.

use super::bad_file::BadFile;
use super::json_member::JsonMember;
use crate::take_over::ShellSetting;
use serde_json::{Value, json};
use std::path::Path;

/// Returns the settings in which `link` is the agent's shell. Replaces a link that agent-bash wrote
/// earlier. `before` is the file's current text, if the file exists.
///
/// # Errors
/// [`BadFile`]. [`BadFile::AlreadySet`]: the user has set another shell.
pub fn with_shell(
    setting: &ShellSetting,
    before: Option<&str>,
    link: &str,
) -> Result<String, BadFile> {
    edit(setting, |member| member.with(before, link))
}

/// Returns the settings without our link; identical to the original if nothing else has changed.
/// `None` if the file is to be removed. A shell that the user has set is not removed.
///
/// # Errors
/// [`BadFile`]
pub fn without_shell(setting: &ShellSetting, before: &str) -> Result<Option<String>, BadFile> {
    edit(setting, |member| member.without(before))
}

/// Returns our link in the settings. `None` if the settings name no shell or another shell.
///
/// # Errors
/// [`BadFile`]
pub fn shell_of(setting: &ShellSetting, text: &str) -> Result<Option<String>, BadFile> {
    edit(setting, |member| member.program(text))
}

/// Calls `edit` with the member of the agent's JSON file that names the shell.
fn edit<T>(setting: &ShellSetting, edit: impl FnOnce(&JsonMember<'_>) -> T) -> T {
    let to_json = |link: &str| {
        let link = Value::from(link);
        match setting.member {
            Some(member) => format!("{{\n  \"{member}\": {link}\n}}"),
            None => link.to_string(),
        }
    };
    let link_of = |value: &Value| {
        let link = match setting.member {
            // An object with other members is the user's.
            Some(member) => value
                .get(member)
                .filter(|link| *value == json!({ member: link }))?,
            None => value,
        };
        let link = link.as_str()?;
        let is_ours = Path::new(link).ends_with(setting.link_end());
        is_ours.then(|| link.to_owned())
    };
    edit(&JsonMember {
        agent: setting.agent,
        json: setting.json,
        keys: setting.keys,
        to_json: &to_json,
        program_of: &link_of,
    })
}

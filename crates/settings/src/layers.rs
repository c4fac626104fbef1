//! Reads the settings of all layers (user, project, environment) in ascending precedence, and
//! records the origin of each value.

use super::Settings;
use super::key::{ProjectEffect, SettingKey, ValueForm};
use super::keys::KEYS;
use super::source::{self, FileLookup};
use crate::HostContext;
use crate::guarded_settings::{GuardedSettings, PROJECT_FILE};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The reason why a settings file is ignored.
const CREATED_BY_CALL: &str =
    "a sandboxed call created this file; save the file again to make it count";

/// The reason why the former text of a settings file is used.
const CHANGED_BY_CALL: &str = "a sandboxed call changed or removed this file, so its former text is used; save the file again to use its present text";

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The built-in default.
    Default,
    /// The user's settings file.
    User(PathBuf),
    /// A project's settings file.
    Project(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A command-line option.
    CommandLine(String),
    /// The host that sent the settings to a target.
    Host,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) | Self::Project(path) => path.display().fmt(f),
            Self::Environment(name) => write!(f, "${name}"),
            Self::CommandLine(option) => f.write_str(option),
            Self::Host => f.write_str("settings of the host"),
        }
    }
}

/// Why settings were rejected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A file exists but cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is not valid TOML.
    #[error("{}: {message}", path.display())]
    NotToml {
        /// The file's path.
        path: PathBuf,
        /// The error, with line and column.
        message: String,
    },
    /// Unknown key.
    #[error("{origin}: unknown setting `{key}`; {}", unknown_key_hint(*.nearest))]
    UnknownKey {
        /// The source with the error.
        origin: Origin,
        /// The key as written.
        key: String,
        /// The most similar key, if the user may have meant this key.
        nearest: Option<&'static str>,
    },
    /// Invalid value.
    #[error("{origin}: `{key}` = {value}: {expected}")]
    BadValue {
        /// The source with the error.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// The expected value, or the error.
        expected: String,
    },
    /// A project's file may not set this key to this value.
    #[error(
        "{origin}: a project's file may only tighten; `{key}` = {value} belongs in the user's settings file"
    )]
    NotForProjects {
        /// The source with the error.
        origin: Origin,
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
}

/// Settings, and the origin of each value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedSettings {
    /// The values.
    pub settings: Settings,
    origins: BTreeMap<&'static str, Origin>,
    ignored: Vec<(PathBuf, &'static str)>,
}

/// Reads all layers except the command line.
///
/// # Errors
/// [`SettingsError`]. A missing file is not an error.
pub fn load(host: &HostContext) -> Result<LoadedSettings, SettingsError> {
    let mut loaded = LoadedSettings {
        settings: Settings::default(),
        origins: BTreeMap::new(),
        ignored: Vec::new(),
    };
    let guarded = host.state_dir().map(|state| GuardedSettings::read(&state));
    let guarded = guarded.unwrap_or_default();
    if let Some(path) = host.user_settings()
        && let FileLookup::Text(text) = loaded.find(&guarded, &path, source::user_file)?
    {
        loaded.set_all(&parse(&path, &text)?, &Origin::User(path))?;
    }
    for dir in host.cwd.ancestors() {
        let path = dir.join(PROJECT_FILE);
        let is_parent = dir != host.cwd;
        let lookup = loaded.find(&guarded, &path, |_| {
            source::project(dir, PROJECT_FILE, is_parent)
        });
        match lookup? {
            FileLookup::Nothing | FileLookup::Ignored(_) => {}
            FileLookup::Text(text) => {
                loaded.set_all(&parse(&path, &text)?, &Origin::Project(path))?;
                break;
            }
        }
    }
    for key in KEYS.iter().filter(|key| key.form != ValueForm::FileOnly) {
        let name = variable(key);
        let value = host.env.get(&OsString::from(&name));
        if let Some(text) = value.filter(|text| !text.is_empty()) {
            let text = text.to_string_lossy();
            let origin = Origin::Environment(name);
            loaded.set_value(key, &parse_value(key, &text, &origin)?, &origin)?;
        }
    }
    Ok(loaded)
}

impl LoadedSettings {
    /// Sets a key from a text, as a command-line option does.
    ///
    /// # Errors
    /// Unknown key, or invalid value.
    pub fn set(&mut self, key: &str, text: &str, option: &str) -> Result<(), SettingsError> {
        let origin = Origin::CommandLine(option.to_owned());
        let key = find_key(key, &origin)?;
        let value = parse_value(key, text, &origin)?;
        self.set_value(key, &value, &origin)
    }

    /// Returns the files that are ignored, or replaced by their former text, each with the reason.
    pub fn ignored(&self) -> impl Iterator<Item = (&Path, &'static str)> {
        self.ignored
            .iter()
            .map(|(path, reason)| (path.as_path(), *reason))
    }

    /// Returns every key with its value as TOML (`None`: unset), and its origin.
    pub fn provenance(&self) -> impl Iterator<Item = (&'static str, Option<String>, &Origin)> {
        KEYS.iter().map(|key| {
            let value = (key.get)(&self.settings).map(|value| value.to_string());
            let origin = self.origins.get(key.name).unwrap_or(&Origin::Default);
            (key.name, value, origin)
        })
    }

    /// Returns the text to use for a settings file. If the file is ignored or its former text is
    /// used, records the reason.
    fn find(
        &mut self,
        guarded: &GuardedSettings,
        path: &Path,
        read: impl FnOnce(&Path) -> io::Result<FileLookup>,
    ) -> Result<FileLookup, SettingsError> {
        let (lookup, reason) = match guarded.replacement(path) {
            Some(Some(text)) => (FileLookup::Text(text.to_owned()), Some(CHANGED_BY_CALL)),
            Some(None) => (FileLookup::Ignored(CREATED_BY_CALL), Some(CREATED_BY_CALL)),
            None => match read(path).map_err(unreadable(path))? {
                FileLookup::Ignored(reason) => (FileLookup::Ignored(reason), Some(reason)),
                lookup => (lookup, None),
            },
        };
        if let Some(reason) = reason {
            tracing::warn!(path = %path.display(), reason, "settings are ignored");
            self.ignored.push((path.to_owned(), reason));
        }
        Ok(lookup)
    }

    /// Sets the keys of a settings file.
    fn set_all(&mut self, table: &Table, origin: &Origin) -> Result<(), SettingsError> {
        for (section, value) in table {
            match value {
                Value::Table(entries) if is_section(section) => {
                    for (name, value) in entries {
                        let key = find_key(&format!("{section}.{name}"), origin)?;
                        self.set_value(key, value, origin)?;
                    }
                }
                _ => self.set_value(find_key(section, origin)?, value, origin)?,
            }
        }
        Ok(())
    }

    /// Sets a key and records the origin. A project's file may only make the setting stricter.
    fn set_value(
        &mut self,
        key: &'static SettingKey,
        value: &Value,
        origin: &Origin,
    ) -> Result<(), SettingsError> {
        let mut changed = self.settings.clone();
        (key.set)(&mut changed, value).map_err(|expected| SettingsError::BadValue {
            origin: origin.clone(),
            key: key.name,
            value: value.to_string(),
            expected,
        })?;
        if matches!(origin, Origin::Project(_)) {
            let is_allowed = match key.project {
                ProjectEffect::Never => false,
                ProjectEffect::Tightens(tightens) => tightens(&self.settings, &changed),
                ProjectEffect::Adds(add) => {
                    add(&self.settings, &mut changed);
                    true
                }
            };
            if !is_allowed {
                return Err(SettingsError::NotForProjects {
                    origin: origin.clone(),
                    key: key.name,
                    value: value.to_string(),
                });
            }
            if (key.get)(&changed) == (key.get)(&self.settings) {
                // The project's file did not change the value, so the value keeps its origin.
                return Ok(());
            }
        }
        self.settings = changed;
        self.origins.insert(key.name, origin.clone());
        Ok(())
    }
}

/// Returns a settings file that explains every key, with the defaults commented out.
pub fn default_file() -> String {
    let defaults = Settings::default();
    let mut text =
        "# Settings of agent-bash. A line `#name = value` shows the default: take the `#` off to change it.\n\
         # A server and the interface read the settings once, when they start.\n".to_owned();
    let mut section = "";
    for key in KEYS {
        let name = match key.name.split_once('.') {
            Some((key_section, name)) => {
                if key_section != section {
                    section = key_section;
                    let _ = write!(text, "\n[{section}]\n");
                }
                name
            }
            None => key.name,
        };
        for line in key.doc.lines() {
            let _ = write!(text, "\n# {line}");
        }
        let shown = match ((key.get)(&defaults), key.form) {
            // A table takes several lines, and the built-in rules would fill a page.
            (_, ValueForm::FileOnly) | (None, _) => "…".to_owned(),
            (Some(value), _) => value.to_string(),
        };
        let _ = write!(text, "\n#{name} = {shown}\n");
    }
    text
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> SettingsError {
    move |source| SettingsError::Unreadable {
        path: path.to_path_buf(),
        source,
    }
}

fn parse(path: &Path, text: &str) -> Result<Table, SettingsError> {
    text.parse()
        .map_err(|error: toml::de::Error| SettingsError::NotToml {
            path: path.to_path_buf(),
            message: error.to_string(),
        })
}

fn is_section(name: &str) -> bool {
    let mut sections = KEYS.iter().filter_map(|key| key.name.split_once('.'));
    sections.any(|(section, _)| section == name)
}

pub(super) fn find_key(name: &str, origin: &Origin) -> Result<&'static SettingKey, SettingsError> {
    if let Some(key) = KEYS.iter().find(|key| key.name == name) {
        return Ok(key);
    }
    Err(SettingsError::UnknownKey {
        origin: origin.clone(),
        key: name.to_owned(),
        nearest: nearest(name),
    })
}

/// Returns the key that the user probably meant: its name, with or without the section, is within
/// the edit distance of a typo.
fn nearest(name: &str) -> Option<&'static str> {
    let distance = |known: &str| {
        let whole = strsim::damerau_levenshtein(known, name);
        match known.split_once('.') {
            Some((_, bare)) => whole.min(strsim::damerau_levenshtein(bare, name)),
            None => whole,
        }
    };
    let nearest = KEYS.iter().map(|key| (distance(key.name), key.name)).min();
    // One edit, and one more for every four characters.
    let max_edits = 1 + name.chars().count() / 4;
    nearest
        .filter(|(distance, _)| *distance <= max_edits)
        .map(|(_, known)| known)
}

fn unknown_key_hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("the nearest is `{nearest}`"),
        None => "`agent-bash settings --default` lists all settings".to_owned(),
    }
}

/// Returns environment variables that look like misspelt settings, each with the variable that the
/// user probably meant.
pub fn misspelt_variables(host: &HostContext) -> Vec<(String, String)> {
    /// Maximum number of edits between a mistyped and a known key.
    const MAX_EDITS: usize = 3;
    let known: Vec<String> = KEYS.iter().map(variable).collect();
    let names = host.env.keys().filter_map(|name| name.to_str());
    names
        .filter(|name| name.starts_with("AGENT_BASH_") && !OTHER_VARIABLES.contains(name))
        .filter(|name| !known.iter().any(|known| known == name))
        .filter_map(|name| {
            let distance = |known: &&String| strsim::damerau_levenshtein(known, name);
            let nearest = known.iter().min_by_key(distance)?;
            (distance(&nearest) <= MAX_EDITS).then(|| (name.to_owned(), nearest.clone()))
        })
        .collect()
}

/// Variables of agent-bash that are not settings.
const OTHER_VARIABLES: [&str; 3] = [
    "AGENT_BASH_STATE_DIR", "AGENT_BASH_LOG", "AGENT_BASH_NO_PTY",
];

/// Returns the key's environment variable, such as `AGENT_BASH_SAFE_MODE_LEVEL`.
fn variable(key: &SettingKey) -> String {
    let name = key.name.replace('.', "_").to_uppercase();
    format!("AGENT_BASH_{name}")
}

/// Converts the text of an environment variable or an option to the key's form.
fn parse_value(
    key: &'static SettingKey,
    text: &str,
    origin: &Origin,
) -> Result<Value, SettingsError> {
    match key.form {
        ValueForm::Text => Ok(Value::String(text.to_owned())),
        ValueForm::List => {
            let parts = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            Ok(Value::Array(parts.map(Value::from).collect()))
        }
        ValueForm::Number => text
            .trim()
            .parse()
            .map(Value::Integer)
            .map_err(|_| bad_value(key, text, origin, "a whole number, 1 or more")),
        ValueForm::FileOnly => Err(bad_value(
            key,
            text,
            origin,
            "this setting can only be set in a settings file",
        )),
    }
}

fn bad_value(
    key: &'static SettingKey,
    text: &str,
    origin: &Origin,
    expected: &str,
) -> SettingsError {
    SettingsError::BadValue {
        origin: origin.clone(),
        key: key.name,
        value: format!("{text:?}"),
        expected: expected.to_owned(),
    }
}

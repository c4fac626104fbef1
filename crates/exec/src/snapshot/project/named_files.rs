//! The files that a file of a version manager names, such as `.env.local` in `.envrc`. The manager
//! reads them, so a change of such a file changes the project.
//!
//! Finds names without knowledge of the manager's language: words that look like paths.

use agent_bash_os::read_regular_text;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The scripts of direnv, which are searched completely.
const SCRIPTS: &[&str] = &[".envrc"];

/// The beginnings of the searched lines of mise's files: `_.file = ".env.local"`.
const TOML_LINES: &[&str] = &["_.", "mise."];

/// Maximum size in bytes of a file that is searched.
const MAX_BYTES: u64 = 256 * 1024;

/// Maximum number of names in a file.
const MAX_NAMES: usize = 32;

/// Words of direnv's scripts that name files without writing their names.
const IMPLIED: &[(&str, &[&str])] = &[
    ("flake", &["flake.nix", "flake.lock"]),
    ("nix", &["shell.nix", "default.nix"]),
];

/// Returns the paths that a file names, whether or not they exist.
pub(super) fn read(file: &Path) -> Vec<PathBuf> {
    let is_script = SCRIPTS.iter().any(|name| file.ends_with(name));
    let is_searched = is_script || file.extension() == Some(OsStr::new("toml"));
    let (Some(directory), true) = (file.parent(), is_searched) else {
        return Vec::new();
    };
    let text = read_regular_text(file, MAX_BYTES).unwrap_or_default();
    let lines = text.lines().map(str::trim_start).filter(|line| {
        let mut beginnings = TOML_LINES.iter();
        is_script || beginnings.any(|beginning| line.starts_with(beginning))
    });
    let words =
        lines.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || "._-/+@".contains(c))));
    let mut names = BTreeSet::new();
    for word in words {
        if is_script && let Some((_, implied)) = IMPLIED.iter().find(|(name, _)| *name == word) {
            names.extend(implied.iter().copied());
        }
        if is_path(word) {
            names.insert(word);
        }
    }
    let names = names.into_iter().take(MAX_NAMES);
    names.map(|name| directory.join(name)).collect()
}

/// True for a word with a dot or a slash, unless the word looks like a version.
fn is_path(word: &str) -> bool {
    let is_version = word
        .trim_start_matches('v')
        .starts_with(|c: char| c.is_ascii_digit());
    let has_letter = word.contains(char::is_alphabetic);
    word.contains(['.', '/']) && has_letter && !is_version
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_finds_words_that_look_like_paths() {
        let root = tempfile::tempdir().unwrap();
        let names = |file: &str, text: &str| {
            let file = root.path().join(file);
            std::fs::write(&file, text).unwrap();
            let found = read(&file);
            let names = found
                .iter()
                .map(|path| path.strip_prefix(root.path()).unwrap_or(path));
            let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
            names
        };
        let envrc = "# see README\nuse node v18.1.0\nsource_env ../common.sh\ndotenv .env.local\n";
        assert_eq!(names(".envrc", envrc), ["../common.sh", ".env.local"]);
        assert_eq!(names(".envrc", "use flake"), ["flake.lock", "flake.nix"]);
        let toml = "[tools]\nnode = \"22.2.0\"\n[env]\n_.file = \"conf/dev.env\"\n\
                    [tasks.build]\nrun = \"cc src/main.c\"\n";
        assert_eq!(names("mise.toml", toml), ["_.file", "conf/dev.env"]);
        assert!(names(".tool-versions", "node 1.2.x\n").is_empty());
    }
}

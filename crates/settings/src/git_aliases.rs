//! Reads git aliases from the configuration files that apply to a directory.

use agent_bash_os::read_regular_text;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Maximum number of configuration files that are read. Included files count, too.
const MAX_FILES: usize = 16;

/// Maximum size of a configuration file; a larger file is ignored.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the aliases in force in a directory, from the configuration files of the system, the
/// user and the repository.
pub fn git_aliases(cwd: &Path, env: &BTreeMap<OsString, OsString>) -> BTreeMap<String, String> {
    let get = |name: &str| env.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let home = get("HOME").map(PathBuf::from);
    let mut files = vec![match get("GIT_CONFIG_SYSTEM") {
        Some(file) => PathBuf::from(file),
        None => PathBuf::from("/etc/gitconfig"),
    }];
    if let Some(file) = get("GIT_CONFIG_GLOBAL") {
        files.push(PathBuf::from(file));
    } else {
        let config = get("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| Some(home.as_ref()?.join(".config")));
        files.extend(config.map(|config| config.join("git/config")));
        files.extend(home.as_ref().map(|home| home.join(".gitconfig")));
    }
    files.extend(repository(cwd));
    // `files` is a stack: the last entry is read first.
    files.reverse();
    let mut aliases = BTreeMap::new();
    let mut count = 0;
    while let Some(file) = files.pop()
        && count < MAX_FILES
    {
        count += 1;
        read(&file, home.as_deref(), &mut aliases, &mut files);
    }
    aliases
}

/// Returns the configuration file of the repository that contains a directory.
fn repository(cwd: &Path) -> Option<PathBuf> {
    let mut candidates = cwd.ancestors().map(|directory| directory.join(".git"));
    let git = candidates.find(|git| git.exists())?;
    if git.is_dir() {
        return Some(git.join("config"));
    }
    // `.git` is a file in a worktree and in a submodule.
    let link = read_regular_text(&git, MAX_BYTES)?;
    let target = link.strip_prefix("gitdir:")?.trim();
    let directory = git.parent()?.join(target);
    let common = read_regular_text(&directory.join("commondir"), MAX_BYTES);
    let common = common.map(|common| directory.join(common.trim()));
    Some(common.unwrap_or(directory).join("config"))
}

/// Adds the aliases of a configuration file to `aliases`, and the files that it includes to
/// `includes`.
fn read(
    file: &Path,
    home: Option<&Path>,
    aliases: &mut BTreeMap<String, String>,
    includes: &mut Vec<PathBuf>,
) {
    let text = read_regular_text(file, MAX_BYTES).filter(|text| (text.len() as u64) < MAX_BYTES);
    let Some(text) = text else {
        return;
    };
    for (section, name, value) in entries(&text) {
        match section.split_once('.') {
            None if section == "alias" => drop(aliases.insert(name.to_lowercase(), value)),
            // Git 2.54 also accepts `[alias "NAME"] command = …`.
            Some(("alias", alias)) if name == "command" => {
                aliases.insert(alias.to_owned(), value);
            }
            // Every file of an `includeIf` is included, because its condition is not evaluated.
            _ if section.starts_with("include") && name == "path" => {
                let path = match (value.strip_prefix("~/"), home) {
                    (Some(rest), Some(home)) => home.join(rest),
                    _ => file.parent().unwrap_or(Path::new("/")).join(&value),
                };
                includes.push(path);
            }
            _ => {}
        }
    }
}

/// Returns the entries of a configuration file: section, name and value of each. A subsection is
/// part of the section, after a dot.
fn entries(text: &str) -> Vec<(String, String, String)> {
    let joined = text.replace("\r\n", "\n").replace("\\\n", "");
    let mut section = String::new();
    let mut entries = Vec::new();
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[')
            && let Some((header, after)) = rest.split_once(']')
        {
            section = match header.split_once('"') {
                Some((name, sub)) => {
                    format!(
                        "{}.{}",
                        name.trim().to_lowercase(),
                        sub.trim_end_matches('"')
                    )
                }
                None => header.trim().to_lowercase(),
            };
            line = after.trim();
        }
        if let Some((name, value)) = line.split_once('=')
            && !line.starts_with(['#', ';'])
        {
            let name = name.trim().to_lowercase();
            entries.push((section.clone(), name, unquoted(value.trim())));
        }
    }
    entries
}

/// Returns the value without quotes and without a comment, and with escapes replaced.
fn unquoted(value: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            '#' | ';' if !is_quoted => break,
            other => text.push(other),
        }
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_aliases_reads_user_repository_and_included_files() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        std::fs::create_dir_all(path("w/.git")).unwrap();
        std::fs::create_dir(path("w/sub")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(path(name), text).unwrap();
        write(
            ".gitconfig",
            "[user]\n\tname = a\n[Alias]\n\tPF = push --force # now\n\
             \tst = \"!git \\\n status\"\n[include]\n\tpath = ~/more\n",
        );
        write("more", "[alias] up = push -f\n; x = y\n");
        write(
            "w/.git/config",
            "[alias]\n\tst = status -s\n[remote \"alias\"]\n\tq = r\n",
        );
        let env = BTreeMap::from([("HOME".into(), root.path().into())]);
        let aliases = git_aliases(&path("w/sub"), &env);
        let get = |name: &str| aliases.get(name).map(String::as_str);
        assert_eq!(get("pf"), Some("push --force"));
        assert_eq!(get("up"), Some("push -f"));
        assert_eq!(get("st"), Some("status -s"));
        assert_eq!((get("q"), get("x")), (None, None));
        let aliases = git_aliases(root.path(), &env);
        assert_eq!(aliases.get("st").map(String::as_str), Some("!git  status"));
    }
}

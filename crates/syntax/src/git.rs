//! The command line of git: global options, subcommand, and options as git parses them (clusters,
//! unambiguous prefixes, `--no-`).

use super::field::Field;
use super::value::Value;

/// A parsed git command line.
#[derive(Debug)]
pub struct GitCommandLine<'w> {
    subcommand: Option<String>,
    /// The words after the subcommand.
    pub arguments: &'w [Field],
    /// The settings of `-c name=value`, with the name in lower case.
    pub config: Vec<(String, Value)>,
    /// Global options before the subcommand, and their values, without the settings in `config`.
    pub globals: Vec<&'w Field>,
}

impl<'w> GitCommandLine<'w> {
    /// Parses the words of a command that is `git` or `git-something`.
    pub fn read(words: &'w [Field]) -> GitCommandLine<'w> {
        let mut git = GitCommandLine {
            subcommand: None,
            arguments: &[],
            config: Vec::new(),
            globals: Vec::new(),
        };
        let name = words
            .first()
            .and_then(|field| field.value.literal())
            .unwrap_or("");
        let base = name.rsplit('/').next().unwrap_or(name);
        if let Some(subcommand) = base.strip_prefix("git-") {
            git.subcommand = Some(subcommand.to_owned());
            git.arguments = words.get(1..).unwrap_or(&[]);
            return git;
        }
        let mut index = 1;
        while let Some(field) = words.get(index) {
            let text = field.value.prefix();
            let consumed = match text {
                "-c" | "--config-env" => {
                    if let Some(next) = words.get(index + 1) {
                        git.push_config(&next.value);
                    }
                    2
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix"
                | "--attr-source" | "--exec-path" | "--list-cmds" => {
                    git.globals.extend(words.get(index + 1));
                    if text == "--exec-path" { 1 } else { 2 }
                }
                _ if text.starts_with('-') => 1,
                _ if text.is_empty() && field.value.may_split() && index + 1 < words.len() => 1,
                _ => break,
            };
            if !matches!(text, "-c" | "--config-env") {
                git.globals.push(field);
            }
            index += consumed;
        }
        git.subcommand = words
            .get(index)
            .and_then(|field| field.value.literal())
            .map(ToOwned::to_owned);
        git.arguments = words.get(index + 1..).unwrap_or(&[]);
        git
    }

    /// Adds a setting `name=value`; without a value, git sets `true`.
    fn push_config(&mut self, setting: &Value) {
        let script = setting.script();
        let (name, value) = script.split_once('=').unwrap_or((&script, "true"));
        self.config
            .push((name.to_ascii_lowercase(), Value::text(value)));
    }

    /// Returns the name, in lower case, and the value that `git config` sets.
    pub fn configures(&self) -> Option<(String, Value)> {
        if self.subcommand() != Some("config") {
            return None;
        }
        let mut operands = Vec::new();
        let mut words = self.arguments.iter();
        while let Some(field) = words.next() {
            match field.value.prefix() {
                "-f" | "--file" | "--blob" | "--type" | "--comment" | "--default" => {
                    words.next();
                }
                text if text.starts_with('-') => {}
                "set" | "add" if operands.is_empty() => {}
                _ => operands.push(&field.value),
            }
        }
        let name = operands.first()?.literal()?.to_ascii_lowercase();
        Some((name, (*operands.get(1)?).clone()))
    }

    /// Returns the subcommand, if it is known.
    pub fn subcommand(&self) -> Option<&str> {
        self.subcommand.as_deref()
    }
}

/// The options of a git command, as git's own parser defines them.
pub struct GitOptionTable {
    /// Letters of short options that take a value.
    pub valued: &'static str,
    /// All long options without dashes, with a trailing `=` if they take a value. The list must be
    /// complete, because git accepts only unambiguous prefixes.
    pub long: &'static [&'static str],
}

/// A parsed option or operand.
#[derive(Debug, PartialEq)]
pub enum GitArgument<'w> {
    /// A short option.
    Short(char, &'w Field),
    /// A long option.
    Long {
        /// The option's full name, without `no-`.
        name: String,
        /// True if the option was written with `no-`.
        negated: bool,
        /// The option's value, which is attached or is the next word.
        value: Option<Value>,
        /// The word with the option.
        field: &'w Field,
    },
    /// A word that is not an option.
    Operand(&'w Field),
}

impl GitOptionTable {
    /// Parses arguments. Options that git would reject are skipped.
    pub fn read<'w>(&self, arguments: &'w [Field]) -> Vec<GitArgument<'w>> {
        let mut out = Vec::new();
        let mut rest = arguments.iter();
        while let Some(field) = rest.next() {
            let text = field.value.prefix();
            if field.value.literal() == Some("--") {
                out.extend(rest.map(GitArgument::Operand));
                return out;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (written, attached) = match long.split_once('=') {
                    Some((written, value)) => (written, Some(Value::text(value))),
                    None => (long, None),
                };
                let Some((name, negated, valued)) = self.long(written) else {
                    continue;
                };
                let value = if attached.is_none() && valued && !negated {
                    rest.next().map(|field| field.value.clone())
                } else {
                    attached
                };
                out.push(GitArgument::Long {
                    name,
                    negated,
                    value,
                    field,
                });
            } else if text.len() > 1 && text.starts_with('-') {
                for (index, letter) in text.char_indices().skip(1) {
                    out.push(GitArgument::Short(letter, field));
                    if self.valued.contains(letter) {
                        if index + letter.len_utf8() == text.len() {
                            rest.next();
                        }
                        break;
                    }
                }
            } else {
                out.push(GitArgument::Operand(field));
            }
        }
        out
    }

    /// Resolves a long option as written. Returns its full name, true if it is negated, and true if
    /// it takes a value. `None` if git would reject the option.
    fn long(&self, written: &str) -> Option<(String, bool, bool)> {
        let lookup = |written: &str| {
            let mut found = None;
            for option in self.long {
                let name = option.trim_end_matches('=');
                if name == written {
                    return Some((name, option.ends_with('=')));
                }
                if name.starts_with(written) {
                    // Git rejects ambiguous prefixes.
                    found = match found {
                        None => Some(Some((name, option.ends_with('=')))),
                        Some(_) => Some(None),
                    };
                }
            }
            found.flatten()
        };
        if let Some((name, valued)) = lookup(written) {
            return match name.strip_prefix("no-") {
                Some(name) => Some((name.to_owned(), true, valued)),
                None => Some((name.to_owned(), false, valued)),
            };
        }
        let (name, valued) = lookup(written.strip_prefix("no-")?)?;
        Some((name.to_owned(), true, valued))
    }
}

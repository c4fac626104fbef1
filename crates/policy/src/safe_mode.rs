//! Safe mode: allows only commands on a list.
//!
//! Everything that is not recognised is refused. Both parsers must find the same commands, and the
//! script may only consist of lists and pipelines of simple commands. Each command must begin with
//! an entry of the list. It must not have an option by which it runs another program or writes a
//! file of the caller's choice (`git`, `programs`, `text_programs`).
//!
//! A check of the text cannot promise more, because the text does not show all effects of a
//! command: a test runner runs the project's code, and git runs programs that a repository's
//! configuration names. With [`SafeLevel::ReadOnly`], the caller also runs the command in a sandbox
//! that permits only reading.

mod git;
mod programs;
mod text_programs;

use serde::{Deserialize, Serialize};

use crate::agreement::{Agreement, agreement};
use crate::syntax::ast::{Command, List, Redir, RedirOp, Word, WordPart};
use crate::syntax::run::{Redirection, ResolvedCommand};
use crate::{Check, Finding, Script, Span, Verdict};

/// The message for a script that is not allowed (a fixed text of the `workspace` profile).
pub const NOT_ALLOWED: &str = "Error: Command not allowed in safe mode";

/// The message for a script that cannot be parsed (a fixed text of the `workspace` profile).
pub const INVALID_SYNTAX: &str = "Error: Invalid command syntax in safe mode";

/// The enforcement of safe mode's promise. The check of the text is the same at both levels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SafeLevel {
    /// The check of the script's text alone.
    Listed,
    /// The check of the text, and the kernel: the command runs in the sandbox, at the level
    /// `read_only`, or not at all.
    #[default]
    ReadOnly,
}

impl SafeLevel {
    /// Returns the level's name in settings and options.
    pub fn name(self) -> &'static str {
        match self {
            SafeLevel::Listed => "listed",
            SafeLevel::ReadOnly => "read_only",
        }
    }
}

/// The configuration of safe mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafeMode {
    /// The level.
    pub level: SafeLevel,
    /// The allowed command prefixes, in whole words.
    pub allowed: Vec<String>,
}

/// The list of the `workspace` profile, and programs that only read and print.
impl Default for SafeMode {
    fn default() -> Self {
        const DEFAULT_PROGRAMS: [&str; 50] = [
            "git", "grep", "rg", "find", "ls", "cat", "head", "tail", "wc", "swift test",
            "xcodebuild test", "npm test", "pytest", "cd", "pwd", "test", "true", "false", "type",
            "which", "command -v", "stat", "file", "du", "df", "tree", "basename", "dirname",
            "realpath", "readlink", "sort", "uniq", "cut", "tr", "nl", "tac", "paste", "column",
            "sed", "awk", "jq", "diff", "cmp", "comm", "md5sum", "sha256sum", "date", "whoami",
            "node --version", "python3 --version",
        ];
        SafeMode {
            level: SafeLevel::default(),
            allowed: DEFAULT_PROGRAMS.map(ToOwned::to_owned).to_vec(),
        }
    }
}

/// The reason why a script is refused.
struct SafeModeRefusal {
    rule: &'static str,
    span: Span,
    words: Vec<String>,
    why: String,
}

impl SafeModeRefusal {
    fn new(rule: &'static str, span: Span, why: impl Into<String>) -> Self {
        SafeModeRefusal {
            rule,
            span,
            words: Vec::new(),
            why: why.into(),
        }
    }
}

/// Checks a script by safe mode's list.
pub fn check_safe_mode(script: &Script<'_>, mode: &SafeMode) -> Verdict {
    let agreement = agreement(&script.parsed);
    if script.over_limit || agreement == Agreement::Unread {
        let offset = script.syntax_error.unwrap_or(0);
        return Verdict::Unreadable(Finding {
            check: Check::SafeMode,
            rule: "syntax".to_owned(),
            group: None,
            message: INVALID_SYNTAX.to_owned(),
            suggestion: "write one plain command".to_owned(),
            span: Span {
                start: offset,
                end: offset,
            },
            words: Vec::new(),
            paths: Vec::new(),
            suggested_tool: None,
        });
    }
    match refusal(script, agreement, mode) {
        None => Verdict::Allow,
        Some(refusal) => Verdict::Block(Finding {
            check: Check::SafeMode,
            rule: refusal.rule.to_owned(),
            group: None,
            message: NOT_ALLOWED.to_owned(),
            suggestion: refusal.why,
            span: refusal.span,
            words: refusal.words,
            paths: Vec::new(),
            suggested_tool: None,
        }),
    }
}

fn refusal(script: &Script<'_>, agreement: Agreement, mode: &SafeMode) -> Option<SafeModeRefusal> {
    if let Some(refusal) = check_shape(&script.parsed.list) {
        return Some(refusal);
    }
    if agreement == Agreement::Different {
        return Some(SafeModeRefusal::new(
            "ambiguous",
            Span::default(),
            "write it more plainly: it can be read in two ways",
        ));
    }
    script
        .commands
        .iter()
        .find_map(|command| check_command(command, mode))
}

/// Refuses anything but simple commands in lists and pipelines.
fn check_shape(list: &List) -> Option<SafeModeRefusal> {
    for entry in &list.entries {
        for stage in &entry.stages {
            let simple = match stage {
                Command::Simple(simple) => simple,
                Command::Compound(compound) => {
                    return Some(SafeModeRefusal::new(
                        "construct",
                        compound.span,
                        "write plain commands, without groups or loops",
                    ));
                }
            };
            if entry.background || entry.prefixed {
                return Some(SafeModeRefusal::new(
                    "construct", simple.span, "leave out &, ! and time",
                ));
            }
            if !simple.assigns.is_empty() || simple.words.is_empty() {
                return Some(SafeModeRefusal::new(
                    "environment",
                    simple.span,
                    "leave out variables in front of the command",
                ));
            }
            if let Some(word) = simple.words.iter().find(|word| !is_plain(word)) {
                return Some(SafeModeRefusal::new(
                    "expansion",
                    word.span,
                    "write the words out, without $ and substitutions",
                ));
            }
            let mut redirs = simple.redirs.iter();
            if let Some(redir) = redirs.find(|redir| !has_harmless_form(redir)) {
                return Some(SafeModeRefusal::new(
                    "redirection", redir.target.span, "leave out the redirection",
                ));
            }
        }
    }
    None
}

fn is_plain(word: &Word) -> bool {
    word.parts
        .iter()
        .all(|part| matches!(part, WordPart::Bare(_) | WordPart::Quoted(_)))
}

/// True if the form of a redirection is harmless; its target is checked by [`is_harmless_target`].
fn has_harmless_form(redir: &Redir) -> bool {
    match redir.op {
        RedirOp::Heredoc => redir.literal_body,
        RedirOp::HereString | RedirOp::ReadWrite => false,
        _ => is_plain(&redir.target),
    }
}

/// True if a redirection's target is harmless.
fn is_harmless_target(redirection: &Redirection) -> bool {
    let Some(target) = redirection.target.literal() else {
        return false;
    };
    match redirection.operator {
        ">" | ">>" | "&>" | "&>>" => target == "/dev/null",
        ">&" => target == "/dev/null" || is_descriptor(target),
        "<&" => is_descriptor(target),
        "<" => !target.starts_with("/dev/tcp/") && !target.starts_with("/dev/udp/"),
        "<<" => true,
        _ => false,
    }
}

fn is_descriptor(target: &str) -> bool {
    target == "-" || (!target.is_empty() && target.bytes().all(|b| b.is_ascii_digit()))
}

/// Checks one command: it must be on the list, and its options must neither run another program nor
/// write a file.
fn check_command(command: &ResolvedCommand, mode: &SafeMode) -> Option<SafeModeRefusal> {
    let refuse = |rule, why: String| {
        let words = command
            .words
            .iter()
            .map(|field| field.value.to_string())
            .collect();
        Some(SafeModeRefusal {
            rule,
            span: command.span,
            words,
            why,
        })
    };
    if let Some(redirection) = command
        .redirections
        .iter()
        .find(|redirection| !is_harmless_target(redirection))
    {
        return Some(SafeModeRefusal::new(
            "redirection", redirection.span, "leave out the redirection",
        ));
    }
    let literal: Vec<&str> = command
        .words
        .iter()
        .map(|field| field.value.literal().unwrap_or("\0"))
        .collect();
    let entry = mode
        .allowed
        .iter()
        .map(|entry| entry.split_whitespace().collect::<Vec<_>>())
        .filter(|entry| !entry.is_empty() && literal.starts_with(entry))
        .max_by_key(Vec::len);
    let Some(entry) = entry else {
        return refuse(
            "not_listed",
            format!(
                "`{}` is not on the list of what may run: {}",
                command
                    .words
                    .first()
                    .map_or_else(String::new, |field| field.value.to_string()),
                mode.allowed.join(", ")
            ),
        );
    };
    let arguments = command.words.get(entry.len()..).unwrap_or(&[]);
    let refused = match entry[..] {
        ["git"] => git::refused(command),
        _ => programs::refused(&entry, arguments),
    };
    refused.and_then(|word| {
        refuse(
            "option",
            format!(
                "`{word}` may let `{}` run another program or write a file; the list of what may run: {}",
                entry.join(" "),
                mode.allowed.join(", ")
            ),
        )
    })
}

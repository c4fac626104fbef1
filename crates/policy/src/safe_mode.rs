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

/// Returns the finding about a refused part of a script.
fn refused(rule: &str, span: Span, why: impl Into<String>) -> Finding {
    Finding {
        check: Check::SafeMode,
        rule: rule.to_owned(),
        message: NOT_ALLOWED.to_owned(),
        suggestion: why.into(),
        span,
        ..Finding::default()
    }
}

/// Checks a script by safe mode's list.
pub fn check_safe_mode(script: &Script<'_>, mode: &SafeMode) -> Verdict {
    let agreement = agreement(&script.parsed);
    if script.over_limit || agreement == Agreement::Unread {
        let start = script.syntax_error.unwrap_or(0);
        return Verdict::Unreadable(Finding {
            message: INVALID_SYNTAX.to_owned(),
            ..refused(
                "syntax",
                Span { start, end: start },
                "write one plain command",
            )
        });
    }
    let mut commands = script.commands.iter();
    let found = check_shape(&script.parsed.list)
        .map(|(rule, span, why)| refused(rule, span, why))
        .or_else(|| {
            let why = "write it more plainly: it can be read in two ways";
            let is_ambiguous = agreement == Agreement::Different;
            is_ambiguous.then(|| refused("ambiguous", Span::default(), why))
        })
        .or_else(|| commands.find_map(|command| check_command(command, mode)));
    found.map_or(Verdict::Allow, Verdict::Block)
}

/// Refuses anything but simple commands in lists and pipelines: the rule, the refused part, and the
/// reason.
fn check_shape(list: &List) -> Option<(&'static str, Span, &'static str)> {
    let stages = list
        .entries
        .iter()
        .flat_map(|entry| entry.stages.iter().map(move |stage| (entry, stage)));
    for (entry, stage) in stages {
        let simple = match stage {
            Command::Simple(simple) => simple,
            Command::Compound(compound) => {
                let why = "write plain commands, without groups or loops";
                return Some(("construct", compound.span, why));
            }
        };
        if entry.background || entry.prefixed {
            return Some(("construct", simple.span, "leave out &, ! and time"));
        }
        if !simple.assigns.is_empty() || simple.words.is_empty() {
            let why = "leave out variables in front of the command";
            return Some(("environment", simple.span, why));
        }
        if let Some(word) = simple.words.iter().find(|word| !is_plain(word)) {
            let why = "write the words out, without $ and substitutions";
            return Some(("expansion", word.span, why));
        }
        let mut redirs = simple.redirs.iter();
        if let Some(redir) = redirs.find(|redir| !has_harmless_form(redir)) {
            return Some(("redirection", redir.target.span, WITHOUT_REDIRECTION));
        }
    }
    None
}

/// The alternative to a refused redirection.
const WITHOUT_REDIRECTION: &str = "leave out the redirection";

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
fn check_command(command: &ResolvedCommand, mode: &SafeMode) -> Option<Finding> {
    let refuse = |rule, why: String| {
        let words = command.words.iter().map(|field| field.value.to_string());
        Some(Finding {
            words: words.collect(),
            ..refused(rule, command.span, why)
        })
    };
    let mut redirections = command.redirections.iter();
    if let Some(redirection) = redirections.find(|redirection| !is_harmless_target(redirection)) {
        return Some(refused(
            "redirection", redirection.span, WITHOUT_REDIRECTION,
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
    let list = || mode.allowed.join(", ");
    let Some(entry) = entry else {
        let first = command.words.first();
        let name = first.map_or_else(String::new, |field| field.value.to_string());
        let why = format!("`{name}` is not on the list of what may run: {}", list());
        return refuse("not_listed", why);
    };
    let arguments = command.words.get(entry.len()..).unwrap_or(&[]);
    let word = match entry[..] {
        ["git"] => git::refused(command),
        _ => programs::refused(&entry, arguments),
    }?;
    let why = format!(
        "`{word}` may let `{}` run another program or write a file; the list of what may run: {}",
        entry.join(" "),
        list()
    );
    refuse("option", why)
}

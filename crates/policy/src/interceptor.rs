//! The interceptor: decides whether the caller has a better tool for a command.
//!
//! Rules are data from the settings. A rule matches a resolved simple command in the one-line form
//! that [`line`] produces. This line has the command's name without directory, its words, and its
//! redirections, each as ` > target`. In words, special characters are escaped by a backslash and
//! white space is `␣`, so ` > ` in a pattern can only match a redirection.
//!
//! Commands in a pipe, and commands with captured output, are not intercepted: no tool can replace
//! them. Output that is only shortened by `head` or `tail` does not count as piped.

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::syntax::CommandHost;
use crate::syntax::run::ResolvedCommand;
use crate::syntax::value::{Value, ValuePiece};
use crate::{Check, Finding, Script, Span, Verdict};

/// The effect of a matching rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterceptMode {
    /// The command does not run.
    Block,
    /// The command runs, and the result has a notice.
    Advise,
    /// Rules are not applied.
    #[default]
    Off,
}

/// The text that a pattern is matched against.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchOn {
    /// Each resolved command separately.
    #[default]
    Command,
    /// The raw text of the script.
    Script,
}

/// A rule as written in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterceptRule {
    /// A regular expression (syntax of the `regex` crate).
    pub pattern: String,
    /// A regular expression for exceptions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless: Option<String>,
    /// The tool to use instead. The rule only applies if the caller has it.
    pub tool: String,
    /// The message.
    pub message: String,
    /// The text that the pattern is matched against.
    #[serde(default, rename = "match")]
    pub on: MatchOn,
}

/// A rule whose pattern is not a valid regular expression; it is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRule {
    /// The rule's index in the list.
    pub index: usize,
    /// The pattern.
    pub pattern: String,
    /// The error.
    pub error: String,
}

#[derive(Clone)]
struct CompiledRule {
    rule: InterceptRule,
    pattern: Regex,
    unless: Option<Regex>,
}

/// Compiled rules.
#[derive(Clone)]
pub struct Interceptor {
    rules: Vec<CompiledRule>,
    invalid: Vec<InvalidRule>,
}

impl Default for Interceptor {
    fn default() -> Self {
        Interceptor::new(default_rules())
    }
}

/// The rules for the tools `read`, `grep`, `find`, `edit` and `write`: the tool, the pattern, the
/// exceptions, and the message.
const DEFAULT_RULES: [[&str; 4]; 5] = [
    [
        "write",
        r"^(echo|printf|cat|tee)( .*)? (>>?|>\||&>>?) \S|^tee( -\S+)* [^-\s]",
        // Devices and kernel interfaces are not regular files, and the output of `tee` itself does
        // not matter.
        r"^[^t].* (>>?|&>>?) /(dev|proc|sys)/|^tee( -\S+)* (>>? )?/dev/\S+( < \S+)?$",
        "Use the `write` tool instead of echo/printf/cat/tee into a file.",
    ],
    [
        "read",
        r"^(cat|head|tail|less|more|bat|batcat|nl)( -\S+| \d+)* ([^-\s>&\d]|\d+[^\s>&<\d])|^(cat|head|tail|less|more|bat|batcat|nl)( -\S+)* -- \S",
        r"^tail( .*)? (-[a-zA-Z]*[fF]|--follow|--retry)| <<<?$| (--help|--version)( |$)",
        "Use the `read` tool instead of cat/head/tail/less.",
    ],
    [
        "grep",
        r"^(grep|egrep|fgrep|rg|ripgrep|ag|ack) \S",
        // A heredoc or here-string is not in a file, and printing a version searches nothing.
        r" <<<?$|^\S+ (--help|--version|--type-list|-V)( |$)",
        "Use the `grep` tool instead of grep/rg.",
    ],
    [
        "find",
        r"^find (.* )?-(i?name|i?path|i?wholename|i?regex|x?type) |^(fd|fdfind|locate)( \S|$)",
        r" (-exec|-execdir|-ok|-okdir|-delete|-x|-X|--exec|--exec-batch|--help|--version)( |$)",
        "Use the `find` tool instead of find/fd.",
    ],
    [
        "edit",
        r"^g?sed (.* )?(-[nErsuz]*i\S*|--in-place\S*)( |$)|^(perl|ruby)( -\S*[eE] \S+| -\S+)* -[pnlaws0-7]*i\S*( |$)|^[gmn]?awk (.* )?(-i ?|--include[= ]?)inplace( |$)",
        "",
        "Use the `edit` tool instead of editing in place with sed/perl/awk.",
    ],
];

/// Returns the rules for the tools `read`, `grep`, `find`, `edit` and `write`.
pub fn default_rules() -> Vec<InterceptRule> {
    let rule = |[tool, pattern, unless, message]: [&str; 4]| InterceptRule {
        pattern: pattern.to_owned(),
        unless: (!unless.is_empty()).then(|| unless.to_owned()),
        tool: tool.to_owned(),
        message: message.to_owned(),
        on: MatchOn::Command,
    };
    DEFAULT_RULES.map(rule).into()
}

impl Interceptor {
    /// Compiles rules. Rules with an invalid pattern are skipped and listed in
    /// [`Interceptor::invalid`].
    pub fn new(rules: impl IntoIterator<Item = InterceptRule>) -> Self {
        let mut out = Interceptor {
            rules: Vec::new(),
            invalid: Vec::new(),
        };
        for (index, rule) in rules.into_iter().enumerate() {
            let unless = rule.unless.as_deref().map(Regex::new).transpose();
            match (Regex::new(&rule.pattern), unless) {
                (Ok(pattern), Ok(unless)) => out.rules.push(CompiledRule {
                    rule,
                    pattern,
                    unless,
                }),
                (Err(error), _) | (_, Err(error)) => out.invalid.push(InvalidRule {
                    index,
                    pattern: rule.pattern,
                    error: error.to_string(),
                }),
            }
        }
        out
    }

    /// Returns the rules that were skipped.
    pub fn invalid(&self) -> &[InvalidRule] {
        &self.invalid
    }

    /// Returns the verdict of the first rule, in order, that matches and whose tool is in `tools`,
    /// the caller's tools.
    ///
    /// Never [`Verdict::Unreadable`]: unreadable scripts are not intercepted.
    pub fn check(&self, script: &Script<'_>, tools: &[String]) -> Verdict {
        if tools.is_empty() {
            return Verdict::Allow;
        }
        let text = script.parsed.text;
        let lines: Vec<(String, &ResolvedCommand)> = script
            .commands
            .iter()
            .filter(|command| is_replaceable(command))
            .map(|command| (line(command), command))
            .collect();
        let whole = Span {
            start: 0,
            end: text.len(),
        };
        let rules = self.rules.iter();
        for compiled in rules.filter(|compiled| tools.contains(&compiled.rule.tool)) {
            let unless = compiled.unless.as_ref();
            let matches = |line: &str| {
                let is_excepted = unless.is_some_and(|unless| unless.is_match(line));
                compiled.pattern.is_match(line) && !is_excepted
            };
            let found = match compiled.rule.on {
                MatchOn::Script => matches(text).then(|| (whole, text.to_owned())),
                MatchOn::Command => lines
                    .iter()
                    .find(|(line, _)| matches(line))
                    .map(|(line, command)| (command.span, line.clone())),
            };
            if let Some((span, words)) = found {
                return Verdict::Block(Finding {
                    check: Check::Interceptor,
                    rule: format!("use_{}", compiled.rule.tool),
                    message: compiled.rule.message.clone(),
                    suggestion: format!("use the {} tool", compiled.rule.tool),
                    span,
                    words: vec![words],
                    suggested_tool: Some(compiled.rule.tool.clone()),
                    ..Finding::default()
                });
            }
        }
        Verdict::Allow
    }
}

/// True if a tool could replace this command in its script.
fn is_replaceable(command: &ResolvedCommand) -> bool {
    // `./cat` is a program of the project, not the system's `cat` that the rules mean.
    let program = command.words.first();
    let program = program.and_then(|field| field.value.literal());
    let program = program.unwrap_or("");
    let is_of_project = program.contains('/') && !program.starts_with('/');
    // The caller's tools cannot see another machine. And one call of a tool cannot handle a list of
    // files that a program produces.
    let is_irreplaceable_launcher = |started_by: &String| {
        matches!(
            started_by.as_str(),
            "ssh" | "xargs" | "find" | "fd" | "parallel" | "npx" | "bunx" | "npm" | "pnpm" | "yarn"
        )
    };
    !command.words.is_empty()
        && command.host == CommandHost::Local
        && !is_of_project
        && !command.reads_pipe
        && !command.output_is_used
        && !command.may_never_run
        && !command.started_by.iter().any(is_irreplaceable_launcher)
}

/// Returns a command on one line, as matched by patterns.
fn line(command: &ResolvedCommand) -> String {
    let mut out = command.name().map_or_else(
        || written(&command.words[0].value),
        |name| written(&Value::text(name)),
    );
    for field in command.arguments() {
        out.push(' ');
        out.push_str(&written(&field.value));
    }
    let (heredocs, redirections): (Vec<_>, Vec<_>) = command
        .redirections
        .iter()
        .partition(|redirection| redirection.operator.starts_with("<<"));
    for redirection in redirections {
        out.push(' ');
        let reads = redirection.operator.starts_with('<');
        if let Some(fd) = redirection.fd.filter(|fd| *fd != 1 || reads) {
            out.push_str(&fd.to_string());
        }
        // `>& file` is another spelling of `&> file`.
        let is_stdout_and_stderr =
            redirection.operator == ">&" && !is_descriptor(&redirection.target);
        out.push_str(if is_stdout_and_stderr {
            "&>"
        } else {
            redirection.operator
        });
        out.push(' ');
        out.push_str(&written(&redirection.target));
    }
    // The heredoc's operator is last, so that it does not interfere with patterns for words.
    if let Some(redirection) = heredocs.first() {
        out.push(' ');
        out.push_str(redirection.operator);
    }
    out
}

fn is_descriptor(target: &Value) -> bool {
    target
        .literal()
        .is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
}

/// Represents white space inside a word.
const BLANK: char = '␣';

/// Returns a value with all special characters escaped.
fn written(value: &Value) -> String {
    let mut out = String::new();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Text(text) => {
                for c in text.chars() {
                    // A space in a pattern separates words.
                    if c.is_whitespace() {
                        out.push(BLANK);
                        continue;
                    }
                    if !(c.is_alphanumeric() || "%+,-./:=@_{}[]^~!#".contains(c)) {
                        out.push('\\');
                    }
                    out.push(c);
                }
            }
            ValuePiece::Glob(glob) => out.push_str(glob),
            ValuePiece::Unknown { .. } => out.push('$'),
        }
    }
    if out.is_empty() {
        out.push_str("''");
    }
    out
}

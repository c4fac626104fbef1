//! Compares a script with a template, which is shell text with placeholders. Both are parsed and
//! compared command by command.
//!
//! A script matches if it has the template's commands, operators, words and redirections, with the
//! same quoting. White space and comments may differ. Syntax that no template uses never matches.

use crate::wrapper_form::FileForm;
use agent_bash_syntax::Parsed;
use agent_bash_syntax::ast::{
    Arm, Assign, Command, Compound, CompoundKind, Link, List, ListEntry, Param, Redir, Simple,
    Word, WordPart,
};
use std::borrow::Cow;
use std::path::PathBuf;

/// The placeholder for the model's text as one literal word.
pub(super) const COMMAND_PLACEHOLDER: &str = "@command@";

/// The placeholder for the model's text as lines: all lines up to the end of the subshell.
pub(super) const LINES_PLACEHOLDER: &str = "@lines@";

/// The placeholder for options of zsh that are switched off, as the last words of a command. Each
/// version of an agent has others.
const OPTIONS_PLACEHOLDER: &str = "@no-options@";

/// A script that is compared with templates.
#[derive(Debug)]
pub(super) struct Comparison<'s> {
    script: &'s str,
    files: &'static [FileForm],
    /// The model's text, once a placeholder has matched it.
    pub(super) command: Option<Cow<'s, str>>,
    /// The files that the matched commands of the wrapper write.
    pub(super) written_files: Vec<PathBuf>,
}

impl<'s> Comparison<'s> {
    pub(super) fn new(script: &'s str, files: &'static [FileForm]) -> Self {
        Comparison {
            script,
            files,
            command: None,
            written_files: Vec::new(),
        }
    }

    /// Returns the number of commands at the start of `entries` that equal this template. `None` if
    /// they differ. `link` is the operator before the first command.
    pub(super) fn match_prefix(
        &mut self,
        template: &str,
        link: Link,
        entries: &[ListEntry],
    ) -> Option<usize> {
        let template = Parsed::read(template);
        let expected = &template.list.entries;
        let (first, others) = expected.split_first()?;
        let (actual_first, actual_others) = entries.get(..expected.len())?.split_first()?;
        let (captured, written) = (self.command.clone(), self.written_files.len());
        let is_equal = actual_first.link == link
            && self.entry(first, actual_first)
            && self.entries(others, actual_others);
        if !is_equal {
            self.command = captured;
            self.written_files.truncate(written);
        }
        is_equal.then_some(expected.len())
    }

    fn list(&mut self, expected: &List, actual: &List) -> bool {
        expected.entries.len() == actual.entries.len()
            && self.entries(&expected.entries, &actual.entries)
    }

    /// Compares as many commands as `expected` has.
    fn entries(&mut self, expected: &[ListEntry], actual: &[ListEntry]) -> bool {
        expected
            .iter()
            .zip(actual)
            .all(|(expected, actual)| expected.link == actual.link && self.entry(expected, actual))
    }

    /// Compares two pipelines, without the operator before each.
    fn entry(&mut self, expected: &ListEntry, actual: &ListEntry) -> bool {
        expected.background == actual.background
            && expected.prefixed == actual.prefixed
            && expected.stderr_too == actual.stderr_too
            && all_equal(&expected.stages, &actual.stages, |expected, actual| match (
                expected, actual,
            ) {
                (Command::Simple(expected), Command::Simple(actual)) => {
                    self.simple(expected, actual)
                }
                (Command::Compound(expected), Command::Compound(actual)) => {
                    self.compound(expected, actual)
                }
                _ => false,
            })
    }

    fn simple(&mut self, expected: &Simple, actual: &Simple) -> bool {
        all_equal(&expected.assigns, &actual.assigns, |expected, actual| {
            self.assign(expected, actual)
        }) && self.words(&expected.words, &actual.words)
            && self.redirs(&expected.redirs, &actual.redirs)
    }

    fn words(&mut self, expected: &[Word], actual: &[Word]) -> bool {
        let (expected, actual) = match expected.split_last() {
            Some((last, before)) if bare(last) == Some(OPTIONS_PLACEHOLDER) => {
                match actual.split_at_checked(before.len()) {
                    Some((actual, options)) if options.iter().all(is_option_off) => {
                        (before, actual)
                    }
                    _ => return false,
                }
            }
            _ => (expected, actual),
        };
        all_equal(expected, actual, |expected, actual| {
            self.word(expected, actual)
        })
    }

    fn assign(&mut self, expected: &Assign, actual: &Assign) -> bool {
        expected.name == actual.name
            && expected.index.is_none()
            && actual.index.is_none()
            && expected.append == actual.append
            && self.word(&expected.value, &actual.value)
    }

    fn redirs(&mut self, expected: &[Redir], actual: &[Redir]) -> bool {
        all_equal(expected, actual, |expected, actual| {
            expected.fd == actual.fd
                && expected.op == actual.op
                && expected.body.is_none()
                && actual.body.is_none()
                && self.word(&expected.target, &actual.target)
        })
    }

    fn compound(&mut self, expected: &Compound, actual: &Compound) -> bool {
        let is_equal = match (&expected.kind, &actual.kind) {
            (CompoundKind::Group(expected), CompoundKind::Group(actual)) => {
                self.list(expected, actual)
            }
            (CompoundKind::Subshell(inner), CompoundKind::Subshell(actual_inner)) => {
                match inner.entries.split_last() {
                    Some((last, before)) if is_lines(last) => {
                        self.lines(before, actual_inner, actual)
                    }
                    _ => self.list(inner, actual_inner),
                }
            }
            (
                CompoundKind::Case { subject, arms },
                CompoundKind::Case {
                    subject: actual_subject,
                    arms: actual_arms,
                },
            ) => {
                self.word(subject, actual_subject)
                    && all_equal(arms, actual_arms, |expected, actual| {
                        self.arm(expected, actual)
                    })
            }
            _ => false,
        };
        is_equal && self.redirs(&expected.redirs, &actual.redirs)
    }

    fn arm(&mut self, expected: &Arm, actual: &Arm) -> bool {
        expected.falls_through == actual.falls_through
            && all_equal(&expected.patterns, &actual.patterns, |expected, actual| {
                self.word(expected, actual)
            })
            && self.list(&expected.body, &actual.body)
    }

    /// Compares the commands before [`LINES_PLACEHOLDER`], and takes the lines between them and the
    /// closing parenthesis as the model's text.
    fn lines(&mut self, before: &[ListEntry], inner: &List, subshell: &Compound) -> bool {
        let Some(last) = inner.entries.get(..before.len()).and_then(<[_]>::last) else {
            return false;
        };
        let end = match last.stages.last() {
            Some(Command::Simple(simple)) => simple.span.end,
            Some(Command::Compound(compound)) => compound.span.end,
            None => return false,
        };
        let is_next_unconditional = inner
            .entries
            .get(before.len())
            .is_none_or(|next| next.link == Link::Next);
        let text = self
            .script
            .get(end..subshell.span.end)
            .and_then(|rest| rest.strip_suffix(')'))
            .and_then(|rest| rest.strip_prefix('\n'))
            .and_then(|rest| rest.strip_suffix('\n'));
        let Some(text) = text else { return false };
        is_next_unconditional
            && subshell.redirs.is_empty()
            && self.entries(before, &inner.entries)
            && self.capture(Cow::Borrowed(text))
    }

    fn word(&mut self, expected: &Word, actual: &Word) -> bool {
        if let [WordPart::Bare(name)] = &expected.parts[..] {
            if name == COMMAND_PLACEHOLDER {
                let Some(text) = self.literal(actual) else {
                    return false;
                };
                return self.capture(text);
            }
            if let Some(form) = self.files.iter().find(|form| form.placeholder == name) {
                let path = self.literal(actual).filter(|path| form.matches(path));
                let Some(path) = path else { return false };
                if form.is_written {
                    self.written_files.push(PathBuf::from(path.into_owned()));
                }
                return true;
            }
        }
        parts_equal(&expected.parts, &actual.parts)
    }

    /// Returns the text of a word in which bash expands nothing; `None` for other words.
    fn literal(&self, word: &Word) -> Option<Cow<'s, str>> {
        let source = self.script.get(word.span.start..word.span.end)?;
        match &word.parts[..] {
            [WordPart::Bare(text)] if is_inert(text) && source == text => {
                Some(Cow::Borrowed(source))
            }
            [WordPart::Quoted(text)] => {
                let quoted = source.strip_prefix('\'').and_then(|s| s.strip_suffix('\''));
                let quoted = quoted.filter(|quoted| quoted == text);
                Some(quoted.map_or_else(|| Cow::Owned(text.clone()), Cow::Borrowed))
            }
            parts => {
                let texts = parts.iter().map(|part| match part {
                    WordPart::Bare(text) if is_inert(text) => Some(text.as_str()),
                    WordPart::Quoted(text) => Some(text.as_str()),
                    _ => None,
                });
                texts.collect::<Option<String>>().map(Cow::Owned)
            }
        }
    }

    /// Stores the model's text. Returns false if another placeholder has already matched a text.
    fn capture(&mut self, text: Cow<'s, str>) -> bool {
        self.command.replace(text).is_none()
    }
}

/// Compares two sequences of the same length item by item.
fn all_equal<T>(expected: &[T], actual: &[T], mut is_equal: impl FnMut(&T, &T) -> bool) -> bool {
    expected.len() == actual.len()
        && expected
            .iter()
            .zip(actual)
            .all(|(expected, actual)| is_equal(expected, actual))
}

fn parts_equal(expected: &[WordPart], actual: &[WordPart]) -> bool {
    all_equal(expected, actual, |expected, actual| {
        match (expected, actual) {
            (WordPart::Bare(expected), WordPart::Bare(actual))
            | (WordPart::Quoted(expected), WordPart::Quoted(actual)) => expected == actual,
            (
                WordPart::Param { param, quoted },
                WordPart::Param {
                    param: actual,
                    quoted: actual_quoted,
                },
            ) => quoted == actual_quoted && same_param(param, actual),
            _ => false,
        }
    })
}

fn same_param(expected: &Param, actual: &Param) -> bool {
    expected.name == actual.name
        && expected.indirect == actual.indirect
        && expected.length == actual.length
        && expected.index.is_none()
        && actual.index.is_none()
        && expected.operator == actual.operator
        && parts_equal(&expected.operand, &actual.operand)
}

/// Returns the text of a word without quotes and expansions.
fn bare(word: &Word) -> Option<&str> {
    match &word.parts[..] {
        [WordPart::Bare(text)] => Some(text.as_str()),
        _ => None,
    }
}

/// True for an option of zsh that is switched off: `NO_EXTENDED_GLOB`.
fn is_option_off(word: &Word) -> bool {
    let name = bare(word).and_then(|text| text.strip_prefix("NO_"));
    name.is_some_and(|name| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
}

/// True for the placeholder [`LINES_PLACEHOLDER`] as a command.
fn is_lines(entry: &ListEntry) -> bool {
    let [Command::Simple(simple)] = &entry.stages[..] else {
        return false;
    };
    matches!(&simple.words[..], [word] if matches!(&word.parts[..], [WordPart::Bare(text)] if text == LINES_PLACEHOLDER))
}

/// True if bash leaves this unquoted text as it is: no tilde, brace, glob character or comment.
fn is_inert(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@+,-%".contains(&byte);
    text.bytes().all(is_plain)
}

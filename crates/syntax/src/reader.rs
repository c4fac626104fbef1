//! The reader: a hand-written parser of bash text.
//!
//! The reader follows bash's tokenizer wherever the tokenizer decides which commands run:
//! redirections may be anywhere, heredoc bodies begin at the next newline, a backslash-newline is
//! removed, `time`, `!` and `coproc` are keywords. Commands before a syntax error are returned,
//! because bash runs a script line by line and would run these commands.
//!
//! The reader does not resolve words. It runs in time linear in the length of the text. At a
//! nesting of [`MAX_DEPTH`], it stops and reports the limit.

mod compound;
mod expansion;
mod heredoc;
mod parts;
mod pending;
mod redirection;
mod word;

use std::cell::Cell;
use std::rc::Rc;

use super::ast::{Assign, Command, Compound, Link, List, ListEntry, Redir, Simple, Word, WordPart};
use crate::Span;
use pending::PendingHeredoc;

/// Maximum nesting (groups, substitutions, quotes inside expansions). Real scripts stay below 10;
/// each level costs about 2 KiB of stack.
pub(crate) const MAX_DEPTH: u16 = 48;

/// Maximum number of words and commands per script, including nested texts.
pub(crate) const MAX_NODES: u32 = 50_000;

/// The largest number of stages of a pipeline. Real scripts have fewer stages, and an unfinished
/// pipeline is the most expensive input for tree-sitter's grammar.
const MAX_STAGES: usize = 500;

/// Why a text could not be parsed completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadProblem {
    /// Bash would report a syntax error here.
    Syntax,
    /// The text exceeds a limit of the reader; bash might run it.
    Limit,
}

/// The result of parsing a text.
#[derive(Debug)]
pub(crate) struct ReadText {
    /// The commands before the problem, or all commands.
    pub(crate) list: List,
    /// Why parsing stopped, and the byte offset in the text.
    pub(crate) problem: Option<(ReadProblem, usize)>,
}

/// The source of a text, so that spans refer to the caller's script.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// Part of the script, at this byte offset.
    At(usize),
    /// A text that is created at run time (`eval`, `bash -c`): all spans refer to the word that
    /// contains it.
    Generated(Span),
}

/// Parses `text`, counting words and commands against `budget`.
pub(crate) fn read(text: &str, origin: Origin, budget: &Cell<u32>, depth: u16) -> ReadText {
    let mut reader = Reader::new(text, origin, budget, depth);
    let mut list = List::default();
    reader.list(&mut list);
    if reader.problem.is_none() && reader.pos < text.len() {
        reader.fail(ReadProblem::Syntax);
    }
    reader.read_heredoc_bodies();
    ReadText {
        list,
        problem: reader.problem,
    }
}

/// Parses a text that bash expands like the inside of double quotes.
pub(crate) fn read_text(text: &str, origin: Origin, budget: &Cell<u32>) -> Vec<WordPart> {
    let mut reader = Reader::new(text, origin, budget, 0);
    reader.heredoc_parts()
}

/// The state of the reader.
pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    pos: usize,
    origin: Origin,
    depth: u16,
    budget: &'a Cell<u32>,
    pending: Vec<PendingHeredoc>,
    /// Number of open command substitutions.
    substitutions: u16,
    /// True directly within `${ …; }`: a `}` at the position of a command closes the substitution,
    /// even if other characters follow.
    in_function_substitution: bool,
    problem: Option<(ReadProblem, usize)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, origin: Origin, budget: &'a Cell<u32>, depth: u16) -> Self {
        Reader {
            text,
            bytes: text.as_bytes(),
            pos: 0,
            origin,
            depth,
            budget,
            pending: Vec::new(),
            substitutions: 0,
            in_function_substitution: false,
            problem: None,
        }
    }

    /// Records the first problem and moves to the end, so that all loops terminate.
    fn fail(&mut self, problem: ReadProblem) {
        if self.problem.is_none() {
            self.problem = Some((problem, self.pos));
        }
        self.pos = self.bytes.len();
    }

    /// Counts one word or command against the budget.
    fn charge_budget(&mut self) {
        match self.budget.get().checked_sub(1) {
            Some(left) => self.budget.set(left),
            None => self.fail(ReadProblem::Limit),
        }
    }

    /// Runs `inner` one nesting level deeper, or stops reading.
    fn deeper<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.fail(ReadProblem::Limit);
            return T::default();
        }
        self.depth += 1;
        let out = inner(self);
        self.depth -= 1;
        out
    }

    /// Returns the span in the caller's script for a range of this text.
    fn span(&self, start: usize, end: usize) -> Span {
        match self.origin {
            Origin::At(base) => Span {
                start: base + start,
                end: base + end,
            },
            Origin::Generated(span) => span,
        }
    }

    /// Returns the remaining text; empty after a failure.
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.pos..).unwrap_or(&[])
    }

    /// Returns the byte that is `ahead` bytes after the current position.
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.pos + ahead).copied()
    }

    fn starts_with(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix.as_bytes())
    }

    /// Consumes `operator` if it is next, and returns true. A backslash-newline inside the operator
    /// is removed, as in bash.
    fn take(&mut self, operator: &str) -> bool {
        let start = self.pos;
        for byte in operator.bytes() {
            self.skip_continuations();
            if self.byte(0) != Some(byte) {
                self.pos = start;
                return false;
            }
            self.pos += 1;
        }
        true
    }

    fn skip_continuations(&mut self) {
        while self.starts_with("\\\n") {
            self.pos += 2;
        }
    }

    /// Skips blanks, continuations and a comment.
    fn skip_blanks(&mut self) {
        loop {
            self.skip_continuations();
            match self.byte(0) {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'#') => {
                    while !matches!(self.byte(0), None | Some(b'\n')) {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines, reading heredoc bodies after each newline.
    fn skip_newlines(&mut self) {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return;
            }
            self.pos += 1;
            self.read_heredoc_bodies();
        }
    }

    /// Returns the unquoted word at this position, without consuming it.
    fn keyword(&self) -> &'a str {
        let rest = self.rest();
        let len = rest
            .iter()
            .position(|b| b" \t\n|&;()<>".contains(b))
            .unwrap_or(rest.len());
        self.text.get(self.pos..self.pos + len).unwrap_or("")
    }

    /// Consumes this keyword if it is next, and returns true.
    fn take_keyword(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let found = self.keyword() == word;
        if found {
            self.pos += word.len();
        }
        found
    }

    fn expect_keyword(&mut self, word: &str) {
        self.skip_newlines();
        if !self.take_keyword(word) {
            self.fail(ReadProblem::Syntax);
        }
    }

    /// True if the current list ends here.
    fn at_list_end(&self) -> bool {
        match self.byte(0) {
            None | Some(b')') => true,
            Some(b'}') if self.in_function_substitution => true,
            Some(b';') => matches!(self.byte(1), Some(b';' | b'&')),
            _ => matches!(
                self.keyword(),
                "then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}"
            ),
        }
    }

    /// Parses and-or lists up to a closing word, a `)`, a `;;` or the end.
    pub(super) fn list(&mut self, list: &mut List) {
        let mut link = Link::Next;
        loop {
            self.skip_newlines();
            if self.at_list_end() {
                if link != Link::Next {
                    self.fail(ReadProblem::Syntax);
                }
                return;
            }
            let before = self.pos;
            let entry = self.pipeline(link);
            let made_no_progress = self.pos == before;
            list.entries.push(entry);
            self.skip_blanks();
            link = match self.byte(0) {
                Some(b'&') if self.take("&&") => Link::And,
                Some(b'|') if self.take("||") => Link::Or,
                Some(b'&') => {
                    self.pos += 1;
                    mark_background(list);
                    Link::Next
                }
                Some(b';') if !matches!(self.byte(1), Some(b';' | b'&')) => {
                    self.pos += 1;
                    Link::Next
                }
                Some(b'\n') => Link::Next,
                _ => {
                    if !self.at_list_end() || made_no_progress {
                        self.fail(ReadProblem::Syntax);
                    }
                    return;
                }
            };
            if made_no_progress {
                self.fail(ReadProblem::Syntax);
            }
        }
    }

    fn pipeline(&mut self, link: Link) -> ListEntry {
        let mut entry = ListEntry {
            link,
            background: false,
            prefixed: false,
            stderr_too: false,
            stages: Vec::new(),
        };
        loop {
            entry.prefixed |= self.pipeline_prefix();
            if let Some(stage) = self.command() {
                entry.stages.push(stage);
                if entry.stages.len() > MAX_STAGES {
                    self.fail(ReadProblem::Limit);
                }
            } else if !entry.prefixed {
                self.fail(ReadProblem::Syntax);
            }
            self.skip_blanks();
            if self.byte(0) != Some(b'|') || self.starts_with("||") {
                return entry;
            }
            self.pos += 1;
            if self.byte(0) == Some(b'&') {
                self.pos += 1;
                entry.stderr_too = true;
            }
            self.skip_newlines();
        }
    }

    /// Parses any number of `!` and `time`; returns true if at least one is present.
    fn pipeline_prefix(&mut self) -> bool {
        let mut is_prefixed = false;
        loop {
            self.skip_blanks();
            if self.keyword() == "!" {
                self.pos += 1;
            } else if self.keyword() == "time" {
                self.pos += 4;
                for option in ["-p", "--"] {
                    self.take_keyword(option);
                }
            } else {
                return is_prefixed;
            }
            is_prefixed = true;
        }
    }

    /// Parses a pipeline stage; `None` if no command begins here.
    fn command(&mut self) -> Option<Command> {
        self.charge_budget();
        self.skip_blanks();
        let start = self.pos;
        if let Some(kind) = self.compound_kind() {
            let mut redirs = Vec::new();
            let mut end = self.pos;
            loop {
                self.skip_blanks();
                let Some(redir) = self.redirection() else {
                    break;
                };
                redirs.push(redir);
                end = self.pos;
            }
            let span = self.span(start, end);
            return Some(Command::Compound(Rc::new(Compound { kind, redirs, span })));
        }
        self.simple()
    }

    fn simple(&mut self) -> Option<Command> {
        let start = self.pos;
        let mut end = start;
        let (mut assigns, mut words, mut redirs) = (
            Vec::<Assign>::new(),
            Vec::<Word>::new(),
            Vec::<Redir>::new(),
        );
        loop {
            self.skip_blanks();
            if let Some(redir) = self.redirection() {
                redirs.push(redir);
            } else if let Some(assign) = self.assignment(words.is_empty()) {
                assigns.push(assign);
            } else if let Some(word) = self.word() {
                if words.is_empty() && assigns.is_empty() && redirs.is_empty() {
                    let name = self.text.get(start..self.pos).unwrap_or("");
                    if let Some(function) = self.function_after(name, start) {
                        return Some(function);
                    }
                }
                words.push(word);
            } else {
                break;
            }
            end = self.pos;
            self.charge_budget();
        }
        if assigns.is_empty() && words.is_empty() && redirs.is_empty() {
            return None;
        }
        let span = self.span(start, end);
        Some(Command::Simple(Rc::new(Simple {
            assigns,
            words,
            redirs,
            span,
        })))
    }
}

/// Marks the and-or list at the end of `list` as running in the background.
fn mark_background(list: &mut List) {
    for entry in list.entries.iter_mut().rev() {
        entry.background = true;
        if entry.link == Link::Next {
            break;
        }
    }
}

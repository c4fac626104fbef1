//! Tokens of commands: finds the words that are keywords and the words that name a program.

use super::lexer::{Heredoc, LastWord, Lexer, MAX_DEPTH, TokenKind};
use super::word::WordFacts;

/// Programs whose first operand is a command.
const WRAPPERS: [&str; 9] = [
    "builtin", "command", "env", "exec", "nice", "nohup", "setsid", "sudo", "xargs",
];

/// The role of the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextWord {
    Command,
    Argument,
    /// The name after `for` or `select`.
    Name,
    /// The word `in` after the name of `for` or `select`.
    In,
    /// The word after `case`.
    Subject,
    /// The word `in` after the subject of a `case`.
    CaseIn,
    /// A pattern of a `case` arm.
    Pattern,
    /// The name after `function`.
    FunctionName,
    /// Within `[[ … ]]`.
    Test,
}

/// The state of the lexer while it reads commands up to a closing byte, or to the end.
struct Frame {
    next: NextWord,
    /// The words of the current command so far.
    words: Vec<String>,
    /// The number of open `(` in this frame.
    groups: usize,
    /// The number of open `case` in this frame.
    cases: usize,
    /// True if the next word is the target of a redirection.
    redirects: bool,
    /// `Some` if the next word is the delimiter of a heredoc; true if the heredoc strips leading
    /// tabs.
    heredoc: Option<bool>,
}

impl Lexer<'_> {
    /// Reads commands up to and including `closer`.
    pub(super) fn commands(&mut self, closer: Option<u8>) {
        if self.depth >= MAX_DEPTH {
            self.pos = self.bytes.len();
            return;
        }
        self.depth += 1;
        let mut frame = Frame {
            next: NextWord::Command,
            words: Vec::new(),
            groups: 0,
            cases: 0,
            redirects: false,
            heredoc: None,
        };
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' => self.pos += 1,
                b'\\' if self.byte(1) == Some(b'\n') => self.pos += 2,
                b'\n' => {
                    self.pos += 1;
                    self.heredoc_bodies();
                    frame.ends_command();
                }
                b'#' => self.comment(),
                b')' if closer == Some(b')')
                    && frame.groups == 0
                    && frame.next != NextWord::Pattern =>
                {
                    self.take(1, TokenKind::Operator);
                    self.depth -= 1;
                    return;
                }
                b'`' if closer == Some(b'`') => {
                    self.take(1, TokenKind::Operator);
                    self.depth -= 1;
                    return;
                }
                b';' | b'&' | b'|' | b'(' | b')' => self.operator(&mut frame),
                b'<' | b'>' if self.byte(1) != Some(b'(') => self.redirection(&mut frame),
                _ => self.next_word(&mut frame, closer),
            }
        }
        self.end_with(Some(LastWord {
            start: self.bytes.len(),
            value: Some(String::new()),
            quote: None,
            is_command: frame.next == NextWord::Command && !frame.redirects,
            before: frame.words,
        }));
        self.depth -= 1;
    }

    fn comment(&mut self) {
        let rest = &self.text[self.pos..];
        self.take(rest.find('\n').unwrap_or(rest.len()), TokenKind::Comment);
        if self.pos == self.bytes.len() {
            self.end_with(None);
        }
    }

    fn operator(&mut self, frame: &mut Frame) {
        const LONG_OPERATORS: [&str; 8] = [";;&", "&>>", ";;", ";&", "&&", "||", "|&", "&>"];
        if frame.next == NextWord::Command && self.starts_with("((") {
            let start = self.pos;
            let rest = &self.text[start..];
            let closed = rest.find("))");
            self.take(
                closed.map_or(rest.len(), |end| end + 2),
                TokenKind::Variable,
            );
            if closed.is_none() {
                self.open(start);
                self.end_with(None);
            }
            frame.next = NextWord::Argument;
            return;
        }
        let long = LONG_OPERATORS.iter().find(|long| self.starts_with(long));
        let text = long.map_or_else(
            || char::from(self.bytes[self.pos]).to_string(),
            ToString::to_string,
        );
        self.take(text.len(), TokenKind::Operator);
        match &*text {
            _ if frame.next == NextWord::Test => {}
            "&>" | "&>>" => frame.redirects = true,
            ";;" | ";&" | ";;&" if frame.cases > 0 => {
                frame.ends_command();
                frame.next = NextWord::Pattern;
            }
            ")" if frame.next == NextWord::Pattern => frame.ends_command_for(NextWord::Command),
            "(" | "|" if frame.next == NextWord::Pattern => {}
            "(" => {
                frame.groups += 1;
                frame.ends_command();
            }
            ")" => {
                frame.groups = frame.groups.saturating_sub(1);
                frame.ends_command();
            }
            _ => frame.ends_command(),
        }
    }

    fn redirection(&mut self, frame: &mut Frame) {
        const LONG_OPERATORS: [&str; 8] = ["<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&"];
        let long = LONG_OPERATORS.iter().find(|long| self.starts_with(long));
        let text = long.copied().unwrap_or(">");
        self.take(text.len(), TokenKind::Operator);
        if frame.next == NextWord::Test {
            return;
        }
        frame.redirects = true;
        frame.heredoc = match text {
            "<<" => Some(false),
            "<<-" => Some(true),
            _ => None,
        };
    }

    /// Reads a word. The position of the word in its command decides the kind of its token.
    fn next_word(&mut self, frame: &mut Frame, closer: Option<u8>) {
        let (start, first) = (self.pos, self.out.tokens.len());
        let written = self.word(closer);
        let raw = &self.text[start..self.pos];
        if self.pos == start {
            // A word cannot begin with this byte.
            self.take(1, TokenKind::Text);
            return;
        }
        let is_number = raw.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && matches!(self.byte(0), Some(b'<' | b'>')) {
            self.out.tokens.truncate(first);
            self.token(start, TokenKind::Operator);
            return;
        }
        let is_command = frame.next == NextWord::Command && !frame.redirects;
        if self.pos == self.bytes.len() {
            self.end_with(Some(LastWord {
                start,
                value: written.value.clone(),
                quote: written.quote,
                is_command,
                before: frame.words.clone(),
            }));
        }
        let kind = if std::mem::take(&mut frame.redirects) {
            if let Some(strips_tabs) = frame.heredoc.take() {
                self.heredocs.push(Heredoc {
                    delimiter: raw.replace(['\'', '"', '\\'], ""),
                    strips_tabs,
                    delimiter_start: start,
                });
                TokenKind::String
            } else if (is_number || raw == "-") && self.text[..start].ends_with('&') {
                // The target of `2>&1` or `<&-` is a descriptor, not a file.
                TokenKind::Operator
            } else {
                TokenKind::Text
            }
        } else {
            frame.kind(raw, &written)
        };
        if kind == TokenKind::Variable
            && let Some(len) = assigned_name_len(raw)
        {
            self.mark_assigned_name(first, start, len);
            return;
        }
        for token in &mut self.out.tokens[first..] {
            if token.kind == TokenKind::Text && token.span.start >= start {
                token.kind = kind;
            }
        }
    }

    /// Marks the name of an assignment, which is at the beginning of the token `first`.
    fn mark_assigned_name(&mut self, first: usize, start: usize, len: usize) {
        let Some(token) = self.out.tokens.get_mut(first) else {
            return;
        };
        let mut name = *token;
        name.kind = TokenKind::Variable;
        name.span.end = start + len;
        token.span.start = start + len;
        self.out.tokens.insert(first, name);
    }
}

impl Frame {
    /// Ends the current command.
    fn ends_command(&mut self) {
        let next = match self.next {
            stays @ (NextWord::Pattern | NextWord::Test | NextWord::CaseIn) => stays,
            _ => NextWord::Command,
        };
        self.ends_command_for(next);
    }

    /// Ends the current command; the next word has the role `next`.
    fn ends_command_for(&mut self, next: NextWord) {
        self.next = next;
        self.words.clear();
        self.redirects = false;
        self.heredoc = None;
    }

    /// Returns the kind of a word's token, and sets the role of the next word.
    fn kind(&mut self, raw: &str, written: &WordFacts) -> TokenKind {
        let (kind, next) = match (self.next, raw) {
            (NextWord::Command, _) => return self.command_word(raw, written),
            (NextWord::Name, _) => (TokenKind::Variable, NextWord::In),
            (NextWord::In, "do") => (TokenKind::Keyword, NextWord::Command),
            (NextWord::In, _) | (NextWord::Test, "]]") => (TokenKind::Keyword, NextWord::Argument),
            (NextWord::Subject, _) => (TokenKind::Text, NextWord::CaseIn),
            (NextWord::CaseIn, _) => {
                self.cases += 1;
                (TokenKind::Keyword, NextWord::Pattern)
            }
            (NextWord::Pattern, "esac") => {
                self.cases = self.cases.saturating_sub(1);
                (TokenKind::Keyword, NextWord::Command)
            }
            (NextWord::FunctionName, _) => (TokenKind::Command, NextWord::Command),
            (same @ (NextWord::Pattern | NextWord::Test), _) => (TokenKind::Text, same),
            (NextWord::Argument, _) => {
                self.words.push(written.value.clone().unwrap_or_default());
                (TokenKind::Text, NextWord::Argument)
            }
        };
        self.next = next;
        kind
    }

    /// Returns the kind of a word in the position of a command, and sets the role of the next word.
    fn command_word(&mut self, raw: &str, written: &WordFacts) -> TokenKind {
        let is_wrapped = !self.words.is_empty();
        let (kind, next) = match raw {
            _ if is_wrapped && raw.starts_with('-') => (TokenKind::Text, NextWord::Command),
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "time" | "{"
            | "coproc" | "fi" | "done" | "}" => (TokenKind::Keyword, NextWord::Command),
            "esac" => {
                self.cases = self.cases.saturating_sub(1);
                (TokenKind::Keyword, NextWord::Command)
            }
            "for" | "select" => (TokenKind::Keyword, NextWord::Name),
            "case" => (TokenKind::Keyword, NextWord::Subject),
            "function" => (TokenKind::Keyword, NextWord::FunctionName),
            "[[" => (TokenKind::Keyword, NextWord::Test),
            _ if assigned_name_len(raw).is_some() => (TokenKind::Variable, NextWord::Command),
            _ => {
                let word = written.value.clone().unwrap_or_default();
                let wraps = WRAPPERS.contains(&&*word);
                self.words.clear();
                self.words.push(word);
                let next = if wraps {
                    NextWord::Command
                } else {
                    NextWord::Argument
                };
                (TokenKind::Command, next)
            }
        };
        self.next = next;
        kind
    }
}

/// Returns the length of the assigned name; `None` if a word is not an assignment.
fn assigned_name_len(raw: &str) -> Option<usize> {
    let name = raw
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count();
    let is_name = name > 0 && !raw.as_bytes()[0].is_ascii_digit();
    let rest = &raw[name..];
    let after = match rest.strip_prefix('[') {
        Some(index) => index.split_once(']').map_or("", |(_, after)| after),
        None => rest,
    };
    (is_name && (after.starts_with('=') || after.starts_with("+="))).then_some(name)
}

//! Compound commands: groups, subshells, loops, `if`, `case`, functions, `[[`, `((`, `coproc`.

use std::rc::Rc;

use super::super::ast::{Arm, Command, Compound, CompoundKind, List, Word, WordPart};
use super::{ReadProblem, Reader};

impl Reader<'_> {
    /// Parses the compound command that begins here, without the redirections after it.
    pub(super) fn compound_kind(&mut self) -> Option<CompoundKind> {
        if self.byte(0) == Some(b'(') {
            return Some(self.parenthesis());
        }
        let keyword = self.keyword();
        let kind = match keyword {
            "{" => Self::group,
            "if" => Self::if_clause,
            "while" | "until" => Self::while_loop,
            "for" | "select" => Self::for_loop,
            "case" => Self::case,
            "function" => Self::function,
            "[[" => Self::condition,
            "coproc" => Self::coprocess,
            _ => return None,
        };
        self.pos += keyword.len();
        self.deeper(|reader| Some(kind(reader)))
    }

    /// Parses a list; an empty list is a syntax error, as in bash.
    fn required_list(&mut self) -> List {
        let list = self.optional_list();
        if list.entries.is_empty() {
            self.fail(ReadProblem::Syntax);
        }
        list
    }

    /// Parses a list that may be empty.
    fn optional_list(&mut self) -> List {
        self.list_within(false)
    }

    /// Parses a list. `is_function_substitution` is true directly within `${ …; }`.
    pub(super) fn list_within(&mut self, is_function_substitution: bool) -> List {
        let outer = self.in_function_substitution;
        self.in_function_substitution = is_function_substitution;
        let mut list = List::default();
        self.list(&mut list);
        self.in_function_substitution = outer;
        list
    }

    /// Fails if the line ends here: bash requires a word.
    fn expect_more_on_line(&mut self) {
        if self.byte(0) == Some(b'\n') {
            self.fail(ReadProblem::Syntax);
        }
    }

    /// Parses `(( … ))` or `( … )`.
    fn parenthesis(&mut self) -> CompoundKind {
        if self.byte(1) == Some(b'(')
            && let Some(close) = self.arithmetic_extent(self.pos + 2)
        {
            let parts = self.parts_of(self.pos + 2, close);
            self.pos = close + 2;
            return CompoundKind::Arithmetic(parts);
        }
        self.pos += 1;
        let list = self.deeper(Self::required_list);
        self.expect_byte(b')');
        CompoundKind::Subshell(list)
    }

    pub(super) fn expect_byte(&mut self, byte: u8) {
        self.skip_newlines();
        if self.byte(0) == Some(byte) {
            self.pos += 1;
        } else {
            self.fail(ReadProblem::Syntax);
        }
    }

    fn group(&mut self) -> CompoundKind {
        let list = self.required_list();
        self.expect_keyword("}");
        CompoundKind::Group(list)
    }

    fn if_clause(&mut self) -> CompoundKind {
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.required_list();
            self.expect_keyword("then");
            branches.push((condition, self.required_list()));
            self.skip_newlines();
            if self.take_keyword("elif") {
                continue;
            }
            if self.take_keyword("else") {
                otherwise = Some(self.required_list());
            }
            self.expect_keyword("fi");
            return CompoundKind::If {
                branches,
                otherwise,
            };
        }
    }

    fn while_loop(&mut self) -> CompoundKind {
        let condition = self.required_list();
        let body = self.loop_body();
        CompoundKind::While { condition, body }
    }

    /// Parses `do … done`, or the `{ … }` that bash also accepts after `for`.
    fn loop_body(&mut self) -> List {
        self.skip_newlines();
        if self.take_keyword("{") {
            let body = self.required_list();
            self.skip_newlines();
            self.expect_keyword("}");
            return body;
        }
        self.expect_keyword("do");
        let body = self.required_list();
        self.expect_keyword("done");
        body
    }

    fn for_loop(&mut self) -> CompoundKind {
        self.skip_blanks();
        if self.starts_with("((") {
            return self.counted_for();
        }
        self.expect_more_on_line();
        let name = self.keyword();
        self.pos += name.len();
        self.skip_newlines();
        let words = self.take_keyword("in").then(|| self.words());
        self.skip_blanks();
        if self.byte(0) == Some(b';') {
            self.pos += 1;
        }
        let body = self.loop_body();
        CompoundKind::For {
            name: name.to_owned(),
            words,
            body,
        }
    }

    fn counted_for(&mut self) -> CompoundKind {
        let Some(close) = self.arithmetic_extent(self.pos + 2) else {
            self.fail(ReadProblem::Syntax);
            return CompoundKind::Arithmetic(Vec::new());
        };
        let header = self.parts_of(self.pos + 2, close);
        self.pos = close + 2;
        self.skip_blanks();
        if self.byte(0) == Some(b';') {
            self.pos += 1;
        }
        let body = self.loop_body();
        CompoundKind::CountedFor { header, body }
    }

    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let Some(word) = self.word() else {
                return words;
            };
            self.charge_budget();
            words.push(word);
        }
    }

    fn case(&mut self) -> CompoundKind {
        self.skip_blanks();
        self.expect_more_on_line();
        let start = self.pos;
        let subject = self.word().unwrap_or_else(|| Word {
            parts: Vec::new(),
            span: self.span(start, start),
        });
        self.expect_keyword("in");
        let mut arms = Vec::new();
        loop {
            self.skip_newlines();
            if self.take_keyword("esac") {
                return CompoundKind::Case { subject, arms };
            }
            if self.byte(0) == Some(b'(') {
                self.pos += 1;
            }
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                patterns.extend(self.word());
                self.skip_blanks();
                if self.byte(0) != Some(b'|') {
                    break;
                }
                self.pos += 1;
            }
            if patterns.is_empty() {
                self.fail(ReadProblem::Syntax);
                return CompoundKind::Case { subject, arms };
            }
            self.expect_more_on_line();
            self.expect_byte(b')');
            let body = self.optional_list();
            self.skip_newlines();
            let falls_through = self.take(";;&") || self.take(";&");
            if !falls_through && !self.take(";;") && self.keyword() != "esac" {
                self.fail(ReadProblem::Syntax);
            }
            arms.push(Arm {
                patterns,
                body,
                falls_through,
            });
        }
    }

    fn function(&mut self) -> CompoundKind {
        self.skip_blanks();
        let name = self.keyword();
        self.pos += name.len();
        self.skip_blanks();
        if self.byte(0) == Some(b'(') {
            self.pos += 1;
            self.expect_byte(b')');
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: &str) -> CompoundKind {
        self.skip_newlines();
        if let Some(body) = self.command() {
            CompoundKind::Function {
                name: name.to_owned(),
                body,
            }
        } else {
            self.fail(ReadProblem::Syntax);
            CompoundKind::Group(List::default())
        }
    }

    /// Parses `( )` and a function body, if parentheses follow the word that was just read.
    pub(super) fn function_after(&mut self, name: &str, start: usize) -> Option<Command> {
        let after_word = self.pos;
        self.skip_blanks();
        if self.byte(0) != Some(b'(') {
            self.pos = after_word;
            return None;
        }
        self.pos += 1;
        self.expect_byte(b')');
        let kind = self.deeper(|reader| Some(reader.function_body(name)))?;
        let span = self.span(start, self.pos);
        Some(Command::Compound(Rc::new(Compound {
            kind,
            redirs: Vec::new(),
            span,
        })))
    }

    /// Parses `[[ … ]]` into its words, without the operators.
    fn condition(&mut self) -> CompoundKind {
        let mut words = Vec::new();
        loop {
            self.skip_newlines();
            if self.keyword() == "]]" {
                self.pos += 2;
                return CompoundKind::Condition(words);
            }
            match self.byte(0) {
                None => {
                    self.fail(ReadProblem::Syntax);
                    return CompoundKind::Condition(words);
                }
                Some(b'<' | b'>') if self.byte(1) != Some(b'(') => self.pos += 1,
                Some(b'(' | b')' | b'|' | b'&' | b';') => self.pos += 1,
                _ if self.keyword() == "=~" => {
                    self.pos += 2;
                    self.skip_blanks();
                    words.push(self.regex());
                }
                _ => match self.word() {
                    Some(word) => {
                        self.charge_budget();
                        words.push(word);
                    }
                    None => self.pos += 1,
                },
            }
        }
    }

    /// Parses the word after `=~`, in which parentheses and bars are ordinary characters.
    fn regex(&mut self) -> Word {
        let start = self.pos;
        let mut parts: Vec<WordPart> = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                Some(b'(') => open += 1,
                Some(b')') => open = open.saturating_sub(1),
                Some(b' ' | b'\t') if open > 0 => {}
                Some(b'|' | b'<' | b'>' | b'&' | b';') => {}
                None | Some(b' ' | b'\t' | b'\n') => break,
                _ => {
                    if let Some(word) = self.word() {
                        parts.extend(word.parts);
                        continue;
                    }
                }
            }
            self.pos += 1;
        }
        Word {
            parts,
            span: self.span(start, self.pos),
        }
    }

    /// Parses `coproc [NAME] command`; a name is only allowed before a compound command.
    fn coprocess(&mut self) -> CompoundKind {
        self.skip_blanks();
        let start = self.pos;
        let name = self.keyword();
        if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.pos += name.len();
            self.skip_blanks();
            let is_compound_next = matches!(
                self.keyword(),
                "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[["
            ) || self.byte(0) == Some(b'(');
            let is_keyword = matches!(
                name,
                "if" | "while" | "until" | "for" | "select" | "case" | "function" | "coproc"
            );
            if !is_compound_next || is_keyword {
                self.pos = start;
            }
        }
        if let Some(command) = self.command() {
            CompoundKind::Coprocess(command)
        } else {
            self.fail(ReadProblem::Syntax);
            CompoundKind::Group(List::default())
        }
    }
}

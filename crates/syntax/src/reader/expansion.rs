//! Expansions inside a word, introduced by `$` or a backtick: parameters, substitutions,
//! arithmetic.

use std::rc::Rc;

use super::super::ast::{List, Param, Substitution, WordPart};
use super::super::escape;
use super::parts::{PartCollector, plain_param};
use super::{Origin, ReadProblem, Reader};

/// Operators after a parameter's name, longest first.
const OPERATORS: [&str; 23] = [
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "~~", "-", "=", "?", "+",
    "#", "%", "/", "^", ",", "@", ":",
];

impl Reader<'_> {
    /// Parses `` `…` ``: one level of backslashes is removed, and the result is parsed as a script.
    pub(super) fn backtick(&mut self, parts: &mut PartCollector, quoted: bool) {
        self.pos += 1;
        let start = self.pos;
        let mut text = String::new();
        loop {
            match self.byte(0) {
                None => return self.fail(ReadProblem::Syntax),
                Some(b'`') => break,
                Some(b'\\') => {
                    self.pos += 1;
                    let c = self.character();
                    let is_removed =
                        matches!(c.as_str(), "`" | "\\" | "$") || (quoted && c == "\"");
                    if !is_removed {
                        text.push('\\');
                    }
                    text.push_str(&c);
                }
                _ => text.push_str(&self.character()),
            }
        }
        let origin = match self.origin {
            Origin::At(base) if text.len() == self.pos - start => Origin::At(base + start),
            _ => Origin::Generated(self.span(start, self.pos)),
        };
        self.pos += 1;
        let depth = self.depth;
        let list = self
            .deeper(|_| true)
            .then(|| super::read(&text, origin, self.budget, depth + 1));
        let Some(reading) = list else { return };
        if let Some((problem, _)) = reading.problem {
            self.fail(problem);
        }
        parts.push(WordPart::Command {
            list: Rc::new(reading.list),
            quoted,
            form: Substitution::Subshell,
        });
    }

    /// Parses the commands of `$( … )` or `<( … )` after the opening, through the closing `)`.
    pub(super) fn substitution(&mut self) -> Rc<List> {
        self.substitution_until(b')')
    }

    /// Parses the commands of a substitution through the closing byte `end`.
    fn substitution_until(&mut self, end: u8) -> Rc<List> {
        // The bodies of outer heredocs begin after an outer newline. Heredocs that are pending at
        // the end of the substitution are added to the outer heredocs.
        let outer_pending = std::mem::take(&mut self.pending);
        let list = self.deeper(|reader| {
            reader.substitutions += 1;
            let list = reader.list_within(end == b'}');
            reader.expect_byte(end);
            reader.substitutions = reader.substitutions.saturating_sub(1);
            list
        });
        self.pending.splice(0..0, outer_pending);
        Rc::new(list)
    }

    /// Parses the expansion that begins with the `$` here; a `$` alone is text.
    pub(super) fn dollar(&mut self, parts: &mut PartCollector, quoted: bool) {
        match self.byte(1) {
            Some(b'(') => {
                if self.byte(2) == Some(b'(')
                    && let Some(inner) = self.arithmetic_extent(self.pos + 3)
                {
                    let inside = self.parts_of(self.pos + 3, inner);
                    self.pos = inner + 2;
                    return parts.push(WordPart::Arithmetic(inside));
                }
                self.pos += 2;
                let list = self.substitution();
                let form = Substitution::Subshell;
                parts.push(WordPart::Command { list, quoted, form });
            }
            Some(b'{') => {
                self.pos += 2;
                if let Some(part) = self.deeper(|reader| Some(reader.braced(quoted))) {
                    parts.push(part);
                }
            }
            Some(b'[') => {
                self.pos += 2;
                let inside = self.deeper(|reader| reader.bracketed(quoted));
                parts.push(WordPart::Arithmetic(inside));
            }
            Some(b'\'') if !quoted => {
                self.pos += 2;
                let rest = self.text.get(self.pos..).unwrap_or("");
                let (text, len) = escape::ansi_c(rest);
                parts.quoted(&text);
                match len {
                    Some(len) => self.pos += len,
                    None => self.fail(ReadProblem::Syntax),
                }
            }
            Some(b'"') if !quoted => {
                self.pos += 2;
                self.double_quoted(parts);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.pos += 1;
                parts.push(plain_param(self.name(), quoted));
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.pos += 2;
                parts.push(plain_param(char::from(byte).to_string(), quoted));
            }
            _ => {
                self.pos += 1;
                if quoted {
                    parts.quoted("$");
                } else {
                    parts.bare("$");
                }
            }
        }
    }

    /// Parses the name of a variable; empty if no name begins here.
    pub(super) fn name(&mut self) -> String {
        let rest = self.rest();
        let len = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let name = self
            .text
            .get(self.pos..self.pos + len)
            .unwrap_or("")
            .to_owned();
        self.pos += len;
        name
    }

    /// Parses `${ … }` after the opening.
    pub(super) fn braced(&mut self, quoted: bool) -> WordPart {
        // `${ command; }` of bash 5.3.
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            let form = match self.byte(0) {
                Some(b'|') => Substitution::Reply,
                _ => Substitution::Shell,
            };
            self.pos += 1;
            let list = self.substitution_until(b'}');
            return WordPart::Command { list, quoted, form };
        }
        let mut param = Param {
            name: String::new(),
            indirect: false,
            length: false,
            index: None,
            operator: String::new(),
            operand: Vec::new(),
        };
        let begins_name = |byte: Option<u8>| {
            byte.is_some_and(|b| b.is_ascii_alphanumeric() || b"_@*?$!-#".contains(&b))
        };
        if self.byte(0) == Some(b'#') && begins_name(self.byte(1)) {
            param.length = true;
            self.pos += 1;
        } else if self.byte(0) == Some(b'!') && self.byte(1) != Some(b'}') {
            param.indirect = true;
            self.pos += 1;
        }
        param.name = self.name();
        if param.name.is_empty() {
            param.name = self.character();
        }
        if self.byte(0) == Some(b'[') {
            self.pos += 1;
            param.index = Some(self.bracketed(quoted));
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| self.starts_with(operator)) {
            (*operator).clone_into(&mut param.operator);
            self.pos += operator.len();
        }
        let keeps_single_quotes = quoted
            && matches!(
                param.operator.trim_start_matches(':'),
                "-" | "=" | "?" | "+"
            );
        param.operand = self.braced_operand(quoted, keeps_single_quotes);
        WordPart::Param {
            param: Rc::new(param),
            quoted,
        }
    }

    /// Parses the operand of a `${ … }`, through the closing brace.
    pub(super) fn braced_operand(
        &mut self,
        quoted: bool,
        keeps_single_quotes: bool,
    ) -> Vec<WordPart> {
        let mut parts = PartCollector::default();
        loop {
            match self.byte(0) {
                None => {
                    self.fail(ReadProblem::Syntax);
                    return parts.finish();
                }
                Some(b'}') => {
                    self.pos += 1;
                    return parts.finish();
                }
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.skip_continuations(),
                Some(b'\'') if keeps_single_quotes => {
                    self.pos += 1;
                    parts.quoted("'");
                }
                Some(b'<' | b'>') if !quoted && self.byte(1) == Some(b'(') => {
                    let reads = self.byte(0) == Some(b'<');
                    self.pos += 2;
                    let list = self.substitution();
                    parts.push(WordPart::Process { list, reads });
                }
                Some(b'$') => self.dollar(&mut parts, quoted),
                Some(b'`') => self.backtick(&mut parts, quoted),
                _ => self.piece(&mut parts, true),
            }
        }
    }

    /// Parses the contents of `[ … ]`, through the closing bracket.
    pub(super) fn bracketed(&mut self, quoted: bool) -> Vec<WordPart> {
        let mut parts = PartCollector::default();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None => {
                    self.fail(ReadProblem::Syntax);
                    return parts.finish();
                }
                Some(b']') if open == 0 => {
                    self.pos += 1;
                    return parts.finish();
                }
                Some(b'[') => {
                    open += 1;
                    self.pos += 1;
                    parts.bare("[");
                }
                Some(b']') => {
                    open -= 1;
                    self.pos += 1;
                    parts.bare("]");
                }
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.skip_continuations(),
                Some(b'$') => self.dollar(&mut parts, quoted),
                Some(b'`') => self.backtick(&mut parts, quoted),
                _ => self.piece(&mut parts, true),
            }
        }
    }

    /// Returns the position of the `))` that closes the arithmetic expression at `start`; `None` if
    /// the text is nested subshells.
    pub(super) fn arithmetic_extent(&self, start: usize) -> Option<usize> {
        let mut open = 0_usize;
        let mut pos = start;
        while let Some(byte) = self.bytes.get(pos) {
            match byte {
                b'\\' => pos += 1,
                b'\'' => pos += 1 + self.bytes[pos + 1..].iter().position(|b| *b == b'\'')?,
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => return (self.bytes.get(pos + 1) == Some(&b')')).then_some(pos),
                _ => {}
            }
            pos += 1;
        }
        None
    }
}

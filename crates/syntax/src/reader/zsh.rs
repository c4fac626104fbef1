//! Syntax that only zsh has, recognised if the text is zsh and kept as written. For bash, every function here finds
//! nothing.
//!
//! Compound commands that only zsh has (short loops, `always`, anonymous functions) are not recognised: they are
//! syntax errors to us, and the walk records the pipeline that contains them.

use super::super::ast::{Part, RedirOp, Word};
use super::Reader;
use super::parts::Parts;
use crate::Dialect;

/// Letters after `$name:` that change the value (`:h`, `:t`, …), and those that repeat the letter after them.
const MODIFIERS: &[u8] = b"aAcehlPqQrstu&";
const REPEATS: &[u8] = b"gfFwW";

impl Reader<'_> {
    fn is_zsh(&self) -> bool {
        self.dialect == Dialect::Zsh
    }

    /// Everything read since `start`, with the given parts in it.
    fn zsh_part(&self, start: usize, inside: Vec<Part>) -> Part {
        let text = self.text.get(start..self.pos).unwrap_or("").to_owned();
        Part::Zsh { text, inside }
    }

    /// A word of a simple command. `=rm` as the first word means the path of rm.
    pub(super) fn command_word(&mut self, is_first: bool) -> Option<Word> {
        let named = |byte: u8| byte.is_ascii_alphanumeric() || b"_./".contains(&byte);
        if is_first
            && self.is_zsh()
            && self.byte(0) == Some(b'=')
            && self.byte(1).is_some_and(named)
        {
            self.pos += 1;
        }
        self.word()
    }

    /// `repeat N {`; without the brace it is an ordinary command that runs its arguments.
    pub(super) fn at_repeated_group(&self) -> bool {
        if !self.is_zsh() || self.keyword() != "repeat" {
            return false;
        }
        let line = self.rest().split(|byte| *byte == b'\n').next();
        let mut words = line
            .unwrap_or(&[])
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        words.nth(2).is_some_and(|word| word.starts_with(b"{"))
    }

    /// `=name` and `=( … )` at the start of a word, `( … )` and `<1-5>` inside it.
    pub(super) fn zsh_in_word(&mut self, parts: &mut Parts) -> bool {
        if !self.is_zsh() {
            return false;
        }
        let start = self.pos;
        match self.byte(0) {
            Some(b'=') if parts.is_empty() && self.byte(1) == Some(b'(') => {
                self.pos += 2;
                let list = self.substitution();
                parts.push(Part::Process { list, reads: true });
            }
            Some(b'=')
                if parts.is_empty()
                    && self
                        .byte(1)
                        .is_some_and(|byte| !b" \t\n;&|)".contains(&byte)) =>
            {
                self.pos += 1;
                parts.push(self.zsh_part(start, Vec::new()));
            }
            // `name()` is a function definition, `name=( … )` an array.
            Some(b'(')
                if !parts.is_empty()
                    && !parts.is_array_assignment()
                    && self.byte(1) != Some(b')') =>
            {
                let mut inside = Parts::default();
                self.balanced(&mut inside);
                parts.push(self.zsh_part(start, inside.finish()));
            }
            Some(b'<') if self.at_numeric_glob() => {
                let len = self
                    .rest()
                    .iter()
                    .position(|byte| *byte == b'>')
                    .unwrap_or(0);
                self.pos += len + 1;
                parts.push(self.zsh_part(start, Vec::new()));
            }
            _ => return false,
        }
        true
    }

    /// `<1-5>`, `<->`: a numeric range.
    pub(super) fn at_numeric_glob(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix(b"<") else {
            return false;
        };
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let from = digits(rest);
        self.is_zsh()
            && rest.get(from) == Some(&b'-')
            && rest.get(from + 1 + digits(&rest[from + 1..])) == Some(&b'>')
    }

    /// Redirections that override `noclobber`; bash only has `>|`.
    pub(super) fn zsh_redirection(&self) -> Option<(RedirOp, usize)> {
        const OPERATORS: [(&str, RedirOp); 5] = [
            ("&>>", RedirOp::AppendBoth),
            ("&>", RedirOp::WriteBoth),
            (">>", RedirOp::Append),
            (">&", RedirOp::WriteBoth),
            (">", RedirOp::Write),
        ];
        let (text, op) = OPERATORS.iter().find(|(text, _)| self.starts_with(text))?;
        let insists = matches!(self.byte(text.len()), Some(b'!' | b'|'));
        (self.is_zsh() && insists).then_some((*op, text.len() + 1))
    }

    /// `&!` and `&|`, after the `&`.
    pub(super) fn skip_disown(&mut self) {
        if self.is_zsh() && matches!(self.byte(0), Some(b'!' | b'|')) {
            self.pos += 1;
        }
    }

    /// `$=name`, `${(flags)name}`, `${${…}…}`: expansions whose first characters only zsh accepts.
    pub(super) fn zsh_expansion(&mut self, quoted: bool) -> Option<Part> {
        if !self.is_zsh() {
            return None;
        }
        let start = self.pos;
        let flag = |byte: Option<u8>| byte.is_some_and(|byte| b"=~^+".contains(&byte));
        if self.byte(1) != Some(b'{') {
            let flags = self.rest()[1..]
                .iter()
                .take_while(|byte| flag(Some(**byte)))
                .count();
            let named = |byte: u8| byte.is_ascii_alphanumeric() || b"_{@*".contains(&byte);
            if flags == 0 || !self.byte(1 + flags).is_some_and(named) {
                return None;
            }
            self.pos += 1 + flags;
            if self.byte(0) == Some(b'{') {
                self.pos += 1;
                return Some(self.zsh_rest(start, quoted));
            }
            self.name();
            let part = self.zsh_behind_name(start, quoted);
            return Some(part.unwrap_or_else(|| self.zsh_part(start, Vec::new())));
        }
        let inner = match self.byte(2) {
            Some(b'(' | b'"') => true,
            Some(b'$') => matches!(self.byte(3), Some(b'{' | b'(')),
            byte => flag(byte) && self.byte(3) != Some(b'}'),
        };
        if !inner {
            return None;
        }
        self.pos += 2;
        if self.byte(0) == Some(b'(') {
            let flags = self.rest().iter().position(|byte| *byte == b')');
            self.pos += flags.map_or(1, |len| len + 1);
        }
        Some(self.zsh_rest(start, quoted))
    }

    /// The rest of a `${ … }` that began at `start`.
    pub(super) fn zsh_rest(&mut self, start: usize, quoted: bool) -> Part {
        let inside = self.deeper(|reader| reader.braced_operand(quoted, false));
        self.zsh_part(start, inside)
    }

    /// `$name[…]` and `$name:h`, after the name of an expansion that began at `start`.
    pub(super) fn zsh_behind_name(&mut self, start: usize, quoted: bool) -> Option<Part> {
        if !self.is_zsh() {
            return None;
        }
        match self.byte(0) {
            Some(b'[') => {
                self.pos += 1;
                let inside = self.deeper(|reader| reader.bracketed(quoted));
                Some(self.zsh_part(start, inside))
            }
            Some(b':') => {
                let ahead =
                    1 + usize::from(self.byte(1).is_some_and(|byte| REPEATS.contains(&byte)));
                if !self
                    .byte(ahead)
                    .is_some_and(|byte| MODIFIERS.contains(&byte))
                {
                    return None;
                }
                self.pos += ahead + 1;
                Some(self.zsh_part(start, Vec::new()))
            }
            _ => None,
        }
    }

    /// Whether what follows the name in `${name…}` is only valid in zsh: `:h`, `:#`, `:|`, `::=`, a second
    /// subscript.
    pub(super) fn is_zsh_operator(&self, operator: &str) -> bool {
        let Some(next) = self.byte(0) else {
            return false;
        };
        self.is_zsh()
            && match operator {
                "" => next != b'}',
                ":" => next.is_ascii_alphabetic() || b"#|*^&:@=".contains(&next),
                _ => false,
            }
    }
}

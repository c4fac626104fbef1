//! Splits a program in another language into strings, names and other characters, which is enough
//! to find the arguments of calls. Quotes, commas and brackets mean the same in all these
//! languages.

use std::iter::Peekable;
use std::str::Chars;

use super::super::interpreter::Notation;

/// A token of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A string literal, with escapes resolved.
    Text(String),
    /// A string literal with interpolation (`f"…{x}…"`, `` `…${x}…` ``).
    Interpolated(String),
    /// A name or a number.
    Name(String),
    /// Any other character.
    Mark(char),
}

/// Maximum length of the examined part of a program, in bytes; longer programs are not one-liners.
const MAX_BYTES: usize = 256 * 1024;

/// Ways to write the home directory into a string.
const HOME_SPELLINGS: [&str; 10] = [
    "$ENV{HOME}", "$ENV{'HOME'}", "#{ENV['HOME']}", "#{Dir.home}", "${process.env.HOME}",
    "${os.homedir()}", "{os.environ['HOME']}", "{Path.home()}", "{os.path.expanduser('~')}",
    "{os.path.expanduser(\"~\")}",
];

/// The call used for notations that run a command without naming a call (backticks).
const RUN_CALL: &str = "system";

/// Splits a program into tokens.
pub(super) fn tokens(program: &str, notation: Notation) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let program = program.get(..MAX_BYTES).unwrap_or(program);
    let mut chars = program.chars().peekable();
    let mut begins_word = true;
    while let Some(c) = chars.next() {
        let is_first =
            std::mem::replace(&mut begins_word, c.is_whitespace() || ";{}(),".contains(c));
        let mut comment = notation.comment.chars();
        if is_first
            && comment.next() == Some(c)
            && comment.next().is_none_or(|c| chars.peek() == Some(&c))
        {
            while chars.next_if(|c| *c != '\n').is_some() {}
        } else if matches!(c, '"' | '\'' | '`') {
            let is_run = c == '`' && (notation.backticks || out.last() == Some(&Token::Mark('$')));
            let text = with_home(string(&mut chars, c));
            let prefix = out.pop_if(|last| matches!(last, Token::Name(name) if is_prefix(name)));
            let is_format = matches!(prefix, Some(Token::Name(name)) if name.contains(['f', 'F']));
            out.extend(is_run.then(|| Token::Name(RUN_CALL.to_owned())));
            out.push(
                if is_format && text.contains('{') || c == '`' && text.contains("${") {
                    Token::Interpolated(text)
                } else {
                    Token::Text(text)
                },
            );
        } else if c.is_alphanumeric() || c == '_' {
            let mut name = String::from(c);
            while let Some(next) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                name.push(next);
            }
            let is_percent = out.last() == Some(&Token::Mark('%'));
            if notation.backticks
                && begins_string(&name, is_percent)
                && let Some(open) = chars.next_if(|c| "({[<|!/".contains(*c))
            {
                out.pop_if(|last| *last == Token::Mark('%'));
                named_string(&name, delimited(&mut chars, open), &mut out);
            } else {
                out.push(Token::Name(name));
            }
        } else if c == '<'
            && notation.backticks
            && let Some(pattern) = globbed(&chars)
        {
            chars.by_ref().take_while(|c| *c != '>').for_each(drop);
            out.extend([Token::Name("glob".to_owned()), Token::Text(pattern)]);
        } else if !matches!(c, ' ' | '\t' | '\r') {
            out.push(Token::Mark(c));
        }
    }
    out
}

/// The longest pattern of Perl's `<*.c>` that is recognised, in characters.
const MAX_PATTERN_CHARS: usize = 256;

/// True if a token is one of these names.
pub(super) fn is_name(token: &Token, names: &[&str]) -> bool {
    matches!(token, Token::Name(name) if names.contains(&name.as_str()))
}

/// Returns the pattern of Perl's `<*.c>`, whose `<` was consumed.
fn globbed(chars: &Peekable<Chars<'_>>) -> Option<String> {
    let ahead = chars.clone().take(MAX_PATTERN_CHARS);
    let text: String = ahead.take_while(|c| !c.is_whitespace()).collect();
    let (pattern, _) = text.split_once('>')?;
    pattern.contains(['*', '~']).then(|| pattern.to_owned())
}

/// True if a name begins a string of Perl (`q(…)`) or, after `%`, of Ruby (`%w[…]`).
fn begins_string(name: &str, is_percent: bool) -> bool {
    let names = if is_percent {
        ["q", "Q", "w", "x"]
    } else {
        ["q", "qq", "qw", "qx"]
    };
    names.contains(&name)
}

/// Returns the text up to the delimiter that closes `open`, which was consumed.
fn delimited(chars: &mut Peekable<Chars<'_>>, open: char) -> String {
    let close = match open {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    chars.by_ref().take_while(|c| *c != close).collect()
}

/// Adds the tokens of a string such as `qw(…)`: words, a command, or a text.
fn named_string(name: &str, text: String, out: &mut Vec<Token>) {
    match name {
        "qw" | "w" => {
            for word in text.split_whitespace() {
                out.extend([Token::Text(word.to_owned()), Token::Mark(',')]);
            }
            out.pop_if(|last| *last == Token::Mark(','));
        }
        "qx" | "x" => out.extend([Token::Name(RUN_CALL.to_owned()), Token::Text(text)]),
        _ => out.push(Token::Text(with_home(text))),
    }
}

/// Replaces expressions for the home directory in a string by `$HOME`.
fn with_home(text: String) -> String {
    match HOME_SPELLINGS.iter().find(|home| text.contains(*home)) {
        Some(home) => text.replace(home, "$HOME"),
        None => text,
    }
}

/// True if a name before a string is a prefix of it: `f'…'`, `r"…"`.
fn is_prefix(name: &str) -> bool {
    name.len() <= 2 && name.chars().all(|c| "fFrRbBuU".contains(c))
}

/// Returns the contents of a string literal whose opening quote was consumed.
fn string<'p>(chars: &mut Peekable<Chars<'p>>, quote: char) -> String {
    // The characters after two further quotes, if two quotes follow.
    let after_two_quotes = |chars: &Peekable<Chars<'p>>| {
        let mut ahead = chars.clone();
        (ahead.next() == Some(quote) && ahead.next() == Some(quote)).then_some(ahead)
    };
    // `"""…"""`, in which single quotes have no meaning.
    let triple = after_two_quotes(chars).filter(|_| quote != '`');
    let is_triple = triple.is_some();
    if let Some(ahead) = triple {
        *chars = ahead;
    }
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            _ if c == quote && !is_triple => break,
            _ if c == quote => match after_two_quotes(chars) {
                Some(ahead) => {
                    *chars = ahead;
                    break;
                }
                None => text.push(c),
            },
            '\\' => text.extend(chars.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            _ => text.push(c),
        }
    }
    text
}

/// Maximum number of tokens examined in one statement or one call's arguments.
const MAX_STATEMENT_TOKENS: usize = 256;

/// Returns the tokens up to the end of the statement, or to the closing bracket around it.
pub(super) fn statement(tokens: &[Token]) -> &[Token] {
    let tokens = &tokens[..tokens.len().min(MAX_STATEMENT_TOKENS)];
    let mut open = 0_usize;
    let end = tokens
        .iter()
        .enumerate()
        .position(|(index, token)| match token {
            Token::Mark('(' | '[' | '{') => {
                open += 1;
                false
            }
            Token::Mark(')' | ']' | '}') if open > 0 => {
                open -= 1;
                false
            }
            Token::Mark(')' | ']' | '}') => true,
            Token::Mark(';' | '\n') => open == 0,
            Token::Mark(':') => open == 0 && tokens.get(index + 1) == Some(&Token::Mark('\n')),
            _ => false,
        });
    &tokens[..end.unwrap_or(tokens.len())]
}

/// Returns the arguments of a call whose name precedes `tokens`: the contents of its brackets, or
/// the rest of the statement. `None` if the name is not a call but is assigned or is a key.
pub(super) fn arguments(tokens: &[Token]) -> Option<&[Token]> {
    match tokens.first()? {
        Token::Mark('(') => Some(statement(&tokens[1..])),
        Token::Mark('[' | '{' | '$' | '@')
        | Token::Text(_)
        | Token::Interpolated(_)
        | Token::Name(_) => Some(statement(tokens)),
        Token::Mark(_) => None,
    }
}

/// Returns the tokens between top-level commas.
pub(super) fn split(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut open = 0_usize;
    tokens
        .split(move |token| {
            match token {
                Token::Mark('(' | '[' | '{') => open += 1,
                Token::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
                _ => {}
            }
            open == 0 && *token == Token::Mark(',')
        })
        .filter(|argument| !argument.is_empty())
}

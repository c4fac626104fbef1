//! What a program takes from its surroundings: the arguments behind it, the path separator, the home.

use super::tokens::Token;

/// Ways to write the home directory into a string.
const HOMES: [&str; 9] = [
    "$ENV{HOME}",
    "$ENV{'HOME'}",
    "#{ENV['HOME']}",
    "#{Dir.home}",
    "${process.env.HOME}",
    "${os.homedir()}",
    "{os.environ['HOME']}",
    "{os.environ[\"HOME\"]}",
    "{Path.home()}",
];

/// The program with such things written out. `given` are the arguments behind it.
pub(super) fn written_out(all: Vec<Token>, given: &[String]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(all.len());
    let mut tokens = all.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => out.push(Token::Text(with_home(text))),
            Token::Filled(text) => {
                let text = with_home(text);
                out.push(if text.contains('{') {
                    Token::Filled(text)
                } else {
                    Token::Text(text)
                });
            }
            // `os.sep`, `os.path.sep`, `path.sep`
            Token::Name(name) if name == "sep" && out.last() == Some(&Token::Mark('.')) => {
                without_owner(&mut out);
                out.push(Token::Text("/".to_owned()));
            }
            Token::Name(name) if matches!(name.as_str(), "argv" | "ARGV") && !given.is_empty() => {
                // `argv` begins with the program's own name.
                let first = usize::from(name == "argv");
                without_owner(&mut out);
                let index = index(&mut tokens);
                let chosen = match index {
                    Some(index) => index
                        .checked_sub(first)
                        .and_then(|at| given.get(at))
                        .map(std::slice::from_ref)
                        .unwrap_or_default(),
                    None => given,
                };
                for (at, text) in chosen.iter().enumerate() {
                    if at > 0 {
                        out.push(Token::Mark(','));
                    }
                    out.push(Token::Text(text.clone()));
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn with_home(text: String) -> String {
    match HOMES.iter().find(|home| text.contains(*home)) {
        Some(home) => text.replace(home, "$HOME"),
        None => text,
    }
}

/// Takes `sys.`, `process.`, `$` or `@` off the end.
fn without_owner(out: &mut Vec<Token>) {
    if out.last() == Some(&Token::Mark('.')) {
        while out.last() == Some(&Token::Mark('.')) {
            out.pop();
            out.pop_if(|last| matches!(last, Token::Name(_)));
        }
    } else {
        out.pop_if(|last| matches!(last, Token::Mark('$' | '@')));
    }
}

/// `[2]` behind `argv`, which is taken; a slice such as `[1:]` is taken too, and all are meant.
fn index(tokens: &mut std::iter::Peekable<std::vec::IntoIter<Token>>) -> Option<usize> {
    tokens.next_if_eq(&Token::Mark('['))?;
    let inside: Vec<Token> =
        std::iter::from_fn(|| tokens.next().filter(|token| *token != Token::Mark(']'))).collect();
    match inside.as_slice() {
        [Token::Name(number)] => number.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{Dialect, tokens};
    use super::*;

    #[test]
    fn arguments_are_put_in_their_places() {
        let given = ["a".to_owned(), "b".to_owned()];
        let text = |text: &str| Token::Text(text.to_owned());
        for (program, expect) in [
            ("sys.argv[1]", vec![text("a")]),
            ("argv[2]", vec![text("b")]),
            ("argv[0]", vec![]),
            ("$ARGV[0]", vec![text("a")]),
            ("@ARGV", vec![text("a"), Token::Mark(','), text("b")]),
            ("sys.argv[1:]", vec![text("a"), Token::Mark(','), text("b")]),
            ("os.sep", vec![text("/")]),
            ("os.path.sep", vec![text("/")]),
            ("'rm $ENV{HOME}'", vec![text("rm $HOME")]),
        ] {
            let found = written_out(tokens(program, Dialect::default()), &given);
            assert_eq!(found, expect, "{program}");
        }
        let none = written_out(tokens("sys.argv[1]", Dialect::default()), &[]);
        assert_eq!(none, tokens("sys.argv[1]", Dialect::default()));
    }
}

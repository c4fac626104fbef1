//! What an awk program runs: `system(…)`, and the command at either end of a pipe.

use super::calls::{self, Call};
use super::tokens::{Bindings, Dialect, Token, statement, tokens};
use crate::syntax::run::shell_name;

const DIALECT: Dialect = Dialect {
    comment: "#",
    named_quotes: false,
};

/// What an awk program runs.
pub(super) fn calls(program: &str) -> Vec<Call> {
    let mut out = calls::calls(program, DIALECT, false);
    let all = without_patterns(tokens(program, DIALECT));
    let bindings = Bindings::of(&all);
    for (at, token) in all.iter().enumerate() {
        if *token != Token::Mark('|') {
            continue;
        }
        let neighbour = |index: Option<usize>| index.and_then(|index| all.get(index));
        // `a || b` is no pipe.
        if neighbour(Some(at + 1)) == Some(&Token::Mark('|'))
            || neighbour(at.checked_sub(1)) == Some(&Token::Mark('|'))
        {
            continue;
        }
        let behind = statement(&all[at + 1..]);
        let behind = behind.strip_prefix(&[Token::Mark('&')]).unwrap_or(behind);
        // `"command" | getline`, `print | "command"`
        let reads = matches!(behind.first(), Some(Token::Name(name)) if name == "getline");
        let command = match (reads, at.checked_sub(1)) {
            (true, Some(before)) => &all[before..at],
            (true, None) => continue,
            (false, _) => behind,
        };
        let text: String = bindings
            .fill(command)
            .iter()
            .filter_map(|token| match token {
                Token::Text(text) | Token::Filled(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        // `print | "sh"`: what it reads, or makes of that.
        if !reads && shell_name(&text) {
            out.push(Call::Input);
        } else if !text.is_empty() {
            out.push(Call::Script(text));
        }
    }
    let line = ["system", "0"].map(|name| Token::Name(name.to_owned()));
    let runs_lines = all.windows(4).any(|four| {
        four[0] == line[0]
            && four[1] == Token::Mark('(')
            && four[2] == Token::Mark('$')
            && four[3] == line[1]
    });
    out.extend(runs_lines.then_some(Call::Input));
    out
}

/// The program without its `/patterns/`: a slash where no value stands in front begins one.
fn without_patterns(program: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(program.len());
    let mut inside = false;
    for token in program {
        if token == Token::Mark('/') {
            let divides = matches!(
                out.last(),
                Some(Token::Name(_) | Token::Text(_) | Token::Mark(')' | ']'))
            );
            inside = !inside && !divides;
        } else if !inside {
            out.push(token);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_awk_runs_is_found() {
        for (program, expect) in [
            ("BEGIN{system(\"ls -l\")}", Some("ls -l")),
            ("BEGIN{\"ls -l\" | getline}", Some("ls -l")),
            ("{print | \"ls -l\"}", Some("ls -l")),
            ("{print $1 |& \"ls -l\"}", Some("ls -l")),
            ("BEGIN{c=\"ls -l\"; c | getline x}", Some("ls -l")),
            ("BEGIN{c=\"ls -l\"; system(c)}", Some("ls -l")),
            ("{print $1 \"|\" $2 \"ls -l\"}", None),
            ("$1 == \"a\" || $2 == \"ls -l\" {print}", None),
            ("/ls -l|x/ {print \"ls -l\"}", None),
        ] {
            let found = calls(program);
            match expect {
                Some(text) => assert!(
                    found.contains(&Call::Script(text.to_owned())),
                    "{program}: {found:?}"
                ),
                None => assert_eq!(found, [], "{program}"),
            }
        }
    }
}

//! What a program of Tcl or expect runs: `exec`, `spawn`, `system`, `send`, `file delete -force`.

use std::collections::HashMap;

use super::calls::Call;

/// Most variables, and most bytes of one, that are followed.
const MAX_SET: usize = 32;
const MAX_VALUE: usize = 256;

/// Deepest nesting of braces and brackets that is followed.
const MAX_DEPTH: u8 = 16;

/// What the program runs and removes.
pub(super) fn calls(program: &str) -> Vec<Call> {
    let mut out = Vec::new();
    walk(program, 0, &mut HashMap::new(), &mut out);
    out
}

fn walk(program: &str, depth: u8, set: &mut HashMap<String, String>, out: &mut Vec<Call>) {
    if depth > MAX_DEPTH {
        return;
    }
    for words in commands(program) {
        for word in &words {
            if let Word::Nested(inside) = word {
                walk(inside, depth + 1, set, out);
            }
        }
        let texts: Vec<String> = words.iter().map(|word| put_in(word.text(), set)).collect();
        let [name, given @ ..] = texts.as_slice() else {
            continue;
        };
        // Options of `exec` and `spawn` themselves.
        let from = given.iter().position(|word| !word.starts_with('-'));
        let given = &given[from.unwrap_or(given.len())..];
        match name.as_str() {
            "exec" | "spawn" | "system" | "open" => {
                let quoted: Vec<String> = given
                    .iter()
                    .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
                    .collect();
                out.push(Call::Script(quoted.join(" ")));
                out.push(Call::Script(given.join(" ")));
            }
            "send" => out.extend(
                given
                    .last()
                    .map(|text| Call::Script(text.replace("\\r", "\n").replace("\\n", "\n"))),
            ),
            "file" if given.first().is_some_and(|word| word == "delete") => {
                out.extend(given[1..].iter().cloned().map(Call::Remove));
            }
            "set" => {
                if let [name, value] = given
                    && value.len() <= MAX_VALUE
                    && set.len() < MAX_SET
                {
                    set.insert(name.clone(), value.clone());
                }
            }
            _ => {}
        }
    }
}

/// A word of a command.
enum Word<'p> {
    /// As it stands, or in quotes.
    Plain(&'p str),
    /// In braces or brackets: text, or commands.
    Nested(&'p str),
}

impl<'p> Word<'p> {
    fn text(&self) -> &'p str {
        match self {
            Word::Plain(text) | Word::Nested(text) => text,
        }
    }
}

/// The commands of a program, their words apart.
fn commands(program: &str) -> Vec<Vec<Word<'_>>> {
    let mut out = vec![Vec::new()];
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let (length, word) = match c {
            ';' | '\n' => {
                out.push(Vec::new());
                (1, None)
            }
            _ if c.is_whitespace() => (c.len_utf8(), None),
            '\\' if rest.starts_with("\\\n") => (2, None),
            '{' | '[' => {
                let length = closed(rest, c);
                let inside = rest[1..length].trim_end_matches(['}', ']']);
                (length, Some(Word::Nested(inside)))
            }
            '"' => {
                let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
                (end, Some(Word::Plain(rest[1..end].trim_end_matches('"'))))
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == ';');
                let end = end.unwrap_or(rest.len());
                (end, Some(Word::Plain(&rest[..end])))
            }
        };
        if let (Some(word), Some(last)) = (word, out.last_mut()) {
            last.push(word);
        }
        rest = &rest[length..];
    }
    out
}

/// The length of what begins with a brace or bracket, up to the one that closes it.
fn closed(text: &str, open: char) -> usize {
    let close = if open == '{' { '}' } else { ']' };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    text.len()
}

/// A text with what the program has set put in.
fn put_in(text: &str, set: &HashMap<String, String>) -> String {
    let mut out = text.to_owned();
    if text.contains('$') {
        for (name, value) in set {
            out = out.replace(&format!("${name}"), value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tcl_runs_is_found() {
        let script = |text: &str| Some(Call::Script(text.to_owned()));
        for (program, expect) in [
            ("exec ls /", script("ls /")),
            ("exec -ignorestderr ls", script("ls")),
            ("spawn sh -c {ls /}", script("'sh' '-c' 'ls /'")),
            ("if {1} { exec ls / }", script("ls /")),
            ("puts [exec ls /]", script("ls /")),
            ("set d /; exec ls $d", script("ls /")),
            ("send \"ls\\r\"", script("ls\n")),
            ("send -- {ls}", script("ls")),
            ("file delete -force /", Some(Call::Remove("/".to_owned()))),
            ("puts {exec_ls}", None),
            ("puts \"exec ls\"", None),
            ("file exists /", None),
        ] {
            let found = calls(program);
            match expect {
                Some(expect) => assert!(found.contains(&expect), "{program}: {found:?}"),
                None => assert_eq!(found, [], "{program}"),
            }
        }
        assert_eq!(calls(&"{".repeat(100)), []);
    }
}

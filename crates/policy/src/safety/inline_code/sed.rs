//! The commands of a sed program that run something: `e`, and `s` with the flag `e`.

use super::calls::Call;

/// What a sed program runs.
pub(super) fn calls(program: &str) -> Vec<Call> {
    let mut out = Vec::new();
    let mut rest = program;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ";{}".contains(c));
        rest = after_addresses(rest);
        let mut chars = rest.chars();
        let Some(command) = chars.next() else {
            return out;
        };
        rest = chars.as_str();
        match command {
            's' | 'y' => {
                let Some(mark) = rest.chars().next() else {
                    return out;
                };
                let Some((_, after)) = delimited(&rest[mark.len_utf8()..], mark) else {
                    return out;
                };
                let Some((with, after)) = delimited(after, mark) else {
                    return out;
                };
                let flags = after
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .unwrap_or(after.len());
                // `w file` takes the rest of the line.
                let named = after[..flags].find('w').unwrap_or(flags);
                if command == 's' && after[..named].contains('e') {
                    out.push(Call::Script(with));
                }
                rest = if named < flags {
                    next_line(after)
                } else {
                    &after[flags..]
                };
            }
            'e' => {
                let line = rest.split('\n').next().unwrap_or("");
                out.push(match line.trim_matches([' ', '\t', ';', '}']) {
                    // Alone, it runs the line it has read.
                    "" => Call::Input,
                    text => Call::Script(text.to_owned()),
                });
                rest = next_line(rest);
            }
            // Text, to the end of the line. A line that ends in a backslash goes on.
            'a' | 'i' | 'c' => {
                while rest
                    .split('\n')
                    .next()
                    .is_some_and(|line| line.ends_with('\\'))
                {
                    rest = next_line(rest);
                }
                rest = next_line(rest);
            }
            // The name of a file.
            'r' | 'R' | 'w' | 'W' | '#' => rest = next_line(rest),
            'b' | 't' | 'T' | ':' => rest = rest.find([';', '\n']).map_or("", |at| &rest[at..]),
            _ => {}
        }
    }
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

/// What stands behind the addresses of a command: numbers, `$`, `/regex/`, `first~step`, `,`, `!`.
fn after_addresses(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || "$,!~+ \t".contains(c));
        let mark = match rest.as_bytes() {
            [b'/', ..] => '/',
            [b'\\', ..] => {
                let Some(mark) = rest[1..].chars().next() else {
                    return "";
                };
                rest = &rest[1..];
                mark
            }
            _ => return rest,
        };
        let Some((_, after)) = delimited(&rest[mark.len_utf8()..], mark) else {
            return "";
        };
        rest = after.trim_start_matches(['I', 'M']);
    }
}

/// The text up to an unescaped `mark`, without the backslashes in front of marks, and what follows it.
fn delimited(text: &str, mark: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            _ if c == mark => return Some((out, chars.as_str())),
            '\\' => {
                let escaped = chars.next()?;
                if escaped != mark {
                    out.push('\\');
                }
                out.push(escaped);
            }
            _ => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sed_runs_is_found() {
        for (program, expect) in [
            ("1e rm -rf /", Some("rm -rf /")),
            ("e rm -rf /", Some("rm -rf /")),
            ("$!{e ls\n}", Some("ls")),
            ("/x;y/,/z/e ls", Some("ls")),
            (r"\#x#e ls", Some("ls")),
            ("0~2e ls", Some("ls")),
            ("s/.*/ls/e", Some("ls")),
            (r"s/.*/rm -rf \//e", Some("rm -rf /")),
            ("s#x#git push -f#ge", Some("git push -f")),
            ("p;s|a|b|;s|x|ls|e", Some("ls")),
            ("s/a/b/\ne ls", Some("ls")),
            ("s/e rm -rf/x/", None),
            ("s/a/e rm -rf \\//g", None),
            ("/e rm -rf/p", None),
            ("1i\\\ne rm", None),
            ("a e rm -rf /", None),
            ("s/a/b/w e rm", None),
            ("be rm", None),
            ("y/e/ls/", None),
        ] {
            let found: Vec<Call> = calls(program);
            let expect: Vec<Call> = expect
                .into_iter()
                .map(|text| Call::Script(text.to_owned()))
                .collect();
            assert_eq!(found, expect, "{program}");
        }
        assert_eq!(calls("1e"), [Call::Input]);
    }
}

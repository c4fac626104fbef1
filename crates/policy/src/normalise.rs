//! Normalisation: turns a trailing `| head` or `| tail` into a limit on the shown output.
//!
//! Works on the syntax tree, and only where the result is the same. The whole script must be a
//! single pipeline, both parsers must find the same commands, and its last stages must be plain
//! `head` and `tail` with a positive number. `agent-bash` and `agent-bash-sink` apply the limits.

use crate::agreement::{Agreement, agreement};
use crate::syntax::Parsed;
use crate::syntax::ast::{Command, ListEntry, Simple, WordPart};
use std::num::NonZeroU64;

/// A script without its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiftedScript<'t> {
    /// The script to run.
    pub command: &'t str,
    /// The number of lines of the beginning that are shown; `None` shows all.
    pub head: Option<NonZeroU64>,
    /// The number of lines of the end that are shown; `None` shows all.
    pub tail: Option<NonZeroU64>,
    /// The removed text, for the notice.
    pub filter: &'t str,
}

/// Returns the script without surrounding white space. A blank escaped by a backslash is kept.
pub fn trimmed(script: &str) -> &str {
    let start = script.trim_start_matches([' ', '\t', '\n', '\r']);
    let both = start.trim_end_matches([' ', '\t', '\n', '\r']);
    if both.ends_with('\\') { start } else { both }
}

/// Removes `head` and `tail` from the end of a script; `None` if the script does not end with them
/// or they cannot be removed.
pub fn lift<'t>(script: &Parsed<'t>) -> Option<LiftedScript<'t>> {
    let [
        ListEntry {
            background: false,
            prefixed: false,
            stages,
            stderr_too,
            ..
        },
    ] = script.list.entries.as_slice()
    else {
        return None;
    };
    if *stderr_too {
        return None;
    }
    let (mut head, mut tail) = (None, None);
    let mut kept = stages.len();
    let stage = |index: usize| match &stages[index] {
        Command::Simple(simple) => limit(simple),
        Command::Compound(_) => None,
    };
    for (wanted, limit) in [("tail", &mut tail), ("head", &mut head)] {
        if kept > 1
            && let Some((name, lines)) = stage(kept - 1)
            && name == wanted
        {
            *limit = Some(lines);
            kept -= 1;
        }
    }
    // `x | head | head`, `x | tail | tail`: one limit cannot express two filters. `x | tail -n 2 |
    // head -n 1` cannot be expressed as limits, which apply in the other order.
    if kept == stages.len() || kept > 1 && stage(kept - 1).is_some() {
        return None;
    }
    let end = match &stages[kept - 1] {
        Command::Simple(simple) => simple.span.end,
        Command::Compound(compound) => compound.span.end,
    };
    let (command, rest) = script.text.split_at_checked(end)?;
    // A heredoc body or a comment after the pipeline would be lost. The agreement is checked last,
    // because it is expensive: most pipelines have nothing to lift.
    if rest.contains(['\n', '#']) || agreement(script) != Agreement::Same {
        return None;
    }
    Some(LiftedScript {
        command,
        head,
        tail,
        filter: rest.trim(),
    })
}

/// Returns the program and the number of lines of a `head` or `tail` with a plain positive number
/// of lines and no other argument.
fn limit(simple: &Simple) -> Option<(&'static str, NonZeroU64)> {
    if !simple.assigns.is_empty() || !simple.redirs.is_empty() {
        return None;
    }
    let words: Vec<&str> = simple
        .words
        .iter()
        .map(|word| match word.parts.as_slice() {
            [WordPart::Bare(text)] => Some(text.as_str()),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let (name, options) = words.split_first()?;
    let name = ["head", "tail"].into_iter().find(|known| known == name)?;
    let number = match options {
        ["-n", number] => number,
        [option] => option
            .strip_prefix("--lines=")
            .or_else(|| option.strip_prefix("-n"))
            .or_else(|| option.strip_prefix('-'))?,
        _ => return None,
    };
    let is_number = number.bytes().all(|b| b.is_ascii_digit());
    Some((name, number.parse().ok().filter(|_| is_number)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifted(script: &str) -> Option<LiftedScript<'_>> {
        lift(&Parsed::read(trimmed(script)))
    }

    #[test]
    fn limits_are_lifted_only_where_nothing_changes() {
        for (script, command, head, tail) in [
            ("seq 9 | head -3", "seq 9", Some(3), None),
            ("seq 9 | head -n 3", "seq 9", Some(3), None),
            ("seq 9 | head -n3", "seq 9", Some(3), None),
            ("seq 9 | tail --lines=3", "seq 9", None, Some(3)),
            ("  seq 9 |tail -3\n", "seq 9", None, Some(3)),
            ("seq 9 | head -n 5 | tail -n 2", "seq 9", Some(5), Some(2)),
            ("a | b | head -5", "a | b", Some(5), None),
            ("{ a; b; } | head -5", "{ a; b; }", Some(5), None),
            ("(a; b) 2>&1 | tail -5", "(a; b) 2>&1", None, Some(5)),
            (
                "cargo test 2>&1 | tail -50",
                "cargo test 2>&1",
                None,
                Some(50),
            ),
            ("grep 'a|b' f | head -1", "grep 'a|b' f", Some(1), None),
            (
                "for i in 1 2; do echo $i; done | head -1",
                "for i in 1 2; do echo $i; done",
                Some(1),
                None,
            ),
        ] {
            let got = lifted(script).unwrap();
            let limits = (got.head.map(Into::into), got.tail.map(Into::into));
            assert_eq!((got.command, limits), (command, (head, tail)), "{script}");
        }
    }

    #[test]
    fn escaped_blank_at_the_end_stays() {
        for (script, expect) in [
            ("  ls \n", "ls"),
            ("echo a\\ ", "echo a\\ "),
            ("echo a\\\n", "echo a\\\n"),
        ] {
            assert_eq!(trimmed(script), expect);
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        for script in [
            "a || head -5", "echo A; seq 9 | head -3", "seq 9 | head -3; echo A",
            "seq 9 | head -3 && echo A", "echo A && seq 9 | head -3", "echo A\nseq 9 | head -3",
            "seq 9 | head -3 &", "! seq 9 | head -3", "time seq 9 | head -3", "seq 9 |& head -3",
            "{ seq 9 | head -3; }", "(seq 9 | head -3)", "seq 9 | head", "seq 9 | head -n +3",
            "seq 9 | head -n -3", "seq 9 | head -n 0", "seq 9 | head -c 3", "seq 9 | head -3 f",
            "seq 9 | head -3 >f", "seq 9 | head -3 2>/dev/null", "seq 9 | X=1 head -3",
            "seq 9 | head -\"3\"", "seq 9 | head -$N", "seq 9 | tail -f", "seq 9 | tail -n +3",
            "seq 9 | tail -2 | head -n 1", "seq 9 | head -5 | head -3",
            "seq 9 | tail -5 | tail -3", "a | head -5|tail -3|tail -1",
            "a | head -2|head -1|tail -1", "head -3", "cat <<E | head -1\na\nb\nE",
            "echo 'a | head -3'", "seq 9 | sudo head -3", "seq 9 | /usr/bin/head -3",
            "a|head -18446744073709551616", "seq 9 | head -3 # three", "seq 9 | (head -3",
        ] {
            assert_eq!(lifted(script), None, "{script}");
        }
    }
}

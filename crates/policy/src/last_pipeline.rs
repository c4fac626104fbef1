//! Which commands stand in the pipeline that a script ends with.
//!
//! For those who ask bash for the exit status of each stage: the answer means something only if the
//! last statement is a pipeline, and whether a stage's failure is one depends on its command.

use crate::syntax::ast::{Command, Entry, Link, Part, Simple};
use crate::syntax::{self};

/// The leading literal words of each stage of the script's last statement, if that is a pipeline of two
/// stages or more, in the foreground, not behind `&&`, `||`, `!` or `time`, and both readers agree on
/// a script without an error. A compound stage, or one whose command word is computed, has no words.
pub fn last_pipeline(script: &str) -> Option<Vec<Vec<String>>> {
    if !script.contains('|') {
        return None;
    }
    let script = syntax::parse(script);
    match script.list.entries.last()? {
        Entry {
            link: Link::Next,
            background: false,
            prefixed: false,
            stages,
            ..
        } if stages.len() > 1 && script.is_agreed() => Some(stages.iter().map(words).collect()),
        _ => None,
    }
}

fn words(stage: &Command) -> Vec<String> {
    match stage {
        Command::Simple(simple) => literal_words(simple),
        Command::Compound(_) => Vec::new(),
    }
}

fn literal_words(simple: &Simple) -> Vec<String> {
    let literal = |parts: &[Part]| match parts {
        [Part::Bare(text)] => Some(text.clone()),
        _ => None,
    };
    simple
        .words
        .iter()
        .map_while(|word| literal(&word.parts))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(script: &str) -> Option<Vec<String>> {
        last_pipeline(script).map(|stages| stages.iter().map(|words| words.join(" ")).collect())
    }

    #[test]
    fn the_last_statement_must_be_the_pipeline() {
        for (script, want) in [
            ("false | true", vec!["false", "true"]),
            (
                "cd x; grep a f | wc -l\n# the end\n",
                vec!["grep a f", "wc -l"],
            ),
            ("sh -c 'exit 3' | cat | cat", vec!["sh -c", "cat", "cat"]),
            ("{ a; b; } | git diff", vec!["", "git diff"]),
            ("$CC x | tee", vec!["", "tee"]),
            ("X=1 a | b", vec!["a", "b"]),
            ("set -o pipefail\nmake |& tail", vec!["make", "tail"]),
        ] {
            assert_eq!(
                stages(script).as_deref(),
                Some(want)
                    .as_deref()
                    .map(|w| w.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
                    .as_deref(),
                "{script}"
            );
        }
    }

    #[test]
    fn what_is_no_plain_pipeline_at_the_end_is_none() {
        for script in [
            "true", "a || b", "a | b && c | d", "a && b | c", "! a | b", "time a | b", "a | b &",
            "a | b; c", "if a | b; then c; fi", "echo 'a | b'", "a | b |", "echo $(a | b",
        ] {
            assert_eq!(last_pipeline(script), None, "{script}");
        }
    }
}

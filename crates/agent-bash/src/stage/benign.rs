//! Exit codes that are no failure: `grep` found nothing, `diff` found something.
//!
//! Asked where a trailing `head` or `tail` was lifted: bash would have reported the filter's success, so the producer's
//! own code takes its place only where it says that something went wrong.

use agent_bash_policy::{Context, Policy, explain};

/// Programs whose exit code 1 is an answer.
const PROGRAMS: [&str; 6] = ["grep", "rg", "diff", "test", "[", "find"];

/// Subcommands of git for which the same holds.
const GIT: [&str; 2] = ["diff", "grep"];

/// Options of git that take the next word.
const GIT_OPTIONS_WITH_VALUE: [&str; 2] = ["-C", "-c"];

/// Whether exit code 1 of this pipeline is an answer of its last command.
pub(crate) fn is_answer(pipeline: &str, context: &Context) -> bool {
    let end = pipeline.trim_end().len();
    let commands = explain(pipeline, context, &Policy::default()).commands;
    // The outermost of those that end where the pipeline ends; substitutions lie inside.
    commands
        .iter()
        .filter(|command| command.span.end == end && command.through.is_empty())
        .min_by_key(|command| command.span.start)
        .is_some_and(|command| answers(&command.text))
}

/// Whether this command, given by its leading words, answers with exit code 1.
pub(crate) fn answers(command: &str) -> bool {
    let mut words = command.split_whitespace();
    match words.next() {
        Some("git") => subcommand(words).is_some_and(|name| GIT.contains(&name)),
        Some(name) => {
            let name = name.rsplit('/').next().unwrap_or(name);
            PROGRAMS.contains(&name)
        }
        None => false,
    }
}

fn subcommand<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    while let Some(word) = words.next() {
        if GIT_OPTIONS_WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_that_answer_with_1_are_taken_for_an_answer() {
        let context = Context::new("/");
        for (pipeline, want) in [
            ("grep x f", true),
            ("/usr/bin/grep -rn 'a b' src", true),
            ("cat f | grep x", true),
            ("LC_ALL=C grep \"$(cat pattern)\" f", true),
            ("git diff --exit-code", true),
            ("git -C sub --no-pager grep x", true),
            ("diff a b", true),
            ("find . -name x", true),
            ("git status", false),
            ("make", false),
            ("grep x f | make", false),
            ("echo $(grep x f)", false),
            ("cargo test grep", false),
        ] {
            assert_eq!(is_answer(pipeline, &context), want, "{pipeline}");
        }
    }
}

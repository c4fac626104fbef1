//! The steps of `cargo xtask test`, and how they are run and reported.
//!
//! The work of each step is in the module that the step names. Cheap checks come first, so that
//! mistakes are reported within seconds.

use crate::cargo_command::{cargo, check, words};
use crate::{
    Tree, agents, built_once, clients, environments, generated, layers, links, no_arguments,
    other_targets, packaged, programs, say, source_rules, system_calls, tests_step, word_rules,
};
use anyhow::{Context, Result};
use std::time::Instant;

/// One step of the suite.
struct Step {
    name: &'static str,
    /// True if `cargo xtask lint` also runs the step. Such a step runs no tests, and builds only
    /// crates that clippy builds.
    lint: bool,
    run: RunStep,
}

type RunStep = fn(&Tree) -> Result<()>;

const fn lint_step(name: &'static str, run: RunStep) -> Step {
    let lint = true;
    Step { name, lint, run }
}

const fn test_step(name: &'static str, run: RunStep) -> Step {
    let lint = false;
    Step { name, lint, run }
}

const STEPS: &[Step] = &[
    test_step("programs the tests need", programs::ensure),
    lint_step("format", |tree| {
        check(&cargo(tree, &["fmt", "--all", "--check"]))
    }),
    lint_step("layers", layers::check_tree),
    lint_step("each crate is compiled once", built_once::check_tree),
    lint_step("source rules", source_rules::check_tree),
    lint_step("names and sentences", word_rules::check_tree),
    lint_step("links between pages", links::check_tree),
    lint_step("generated files are fresh", generated::check_tree),
    lint_step("types of the clients are fresh", clients::check_tree),
    lint_step("clippy", |tree| {
        let arguments = "clippy --workspace --all-targets --quiet -- -D warnings";
        check(&cargo(tree, &words(arguments)))
    }),
    lint_step("other targets: they compile", other_targets::check_tree),
    lint_step("numbers of system calls", system_calls::check_tree),
    test_step("documentation builds without warnings", |tree| {
        let command = cargo(tree, &words("doc --workspace --no-deps --quiet"));
        check(&command.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    test_step("crates as they would be published", packaged::check_tree),
    test_step(
        "tests, doc tests, and the census after them",
        tests_step::run,
    ),
    test_step("clients in Python and TypeScript", clients::test),
    test_step("agents, as they are published", agents::step),
    test_step("version managers and bash 5.3", environments::step),
];

/// `cargo xtask test`.
pub(crate) fn test(tree: &Tree, arguments: &[String]) -> Result<()> {
    if arguments == ["--list"] {
        for step in STEPS {
            say(step.name);
        }
        return Ok(());
    }
    no_arguments(arguments)?;
    run(tree, STEPS.iter())
}

/// `cargo xtask lint`.
pub(crate) fn lint(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    run(tree, STEPS.iter().filter(|step| step.lint))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build tool times its own steps; there is no Clock here"
)]
fn run<'a>(tree: &Tree, steps: impl Iterator<Item = &'a Step>) -> Result<()> {
    let begin = Instant::now();
    for step in steps {
        say(&format!("── {}", step.name));
        let started = Instant::now();
        (step.run)(tree).with_context(|| format!("step `{}` failed", step.name))?;
        say(&format!("   {:.1} s", started.elapsed().as_secs_f64()));
    }
    say(&format!("all good: {:.0} s", begin.elapsed().as_secs_f64()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lint_has_only_steps_without_tests() {
        let lint: Vec<_> = STEPS.iter().filter(|step| step.lint).collect();
        assert!(!lint.is_empty() && lint.len() < STEPS.len());
        assert!(lint.iter().all(|step| !step.name.contains("tests")));
    }
}

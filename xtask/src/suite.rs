//! The steps of `cargo xtask test`, and how they are run and reported.
//!
//! The work of each step is in the module that the step names. Cheap checks come first, so that
//! mistakes are reported within seconds.

use crate::{
    Tree, agents, built_once, clients, environments, generated, layers, links, no_arguments,
    other_targets, packaged, programs, say, source_rules, system_calls, tests_step, word_rules,
};
use anyhow::{Context, Result, bail};
use std::time::Instant;
use xshell::{Cmd, cmd};

/// One step of the suite.
struct Step {
    name: &'static str,
    /// True if `cargo xtask lint` also runs the step. Such a step runs no tests, and builds only
    /// crates that clippy builds.
    lint: bool,
    run: fn(&Tree) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step {
        name: "programs the tests need",
        lint: false,
        run: programs::ensure,
    },
    Step {
        name: "format",
        lint: true,
        run: |tree| check(&cargo(tree, &["fmt", "--all", "--check"])),
    },
    Step {
        name: "layers",
        lint: true,
        run: layers::check_tree,
    },
    Step {
        name: "each crate is compiled once",
        lint: true,
        run: built_once::check_tree,
    },
    Step {
        name: "source rules",
        lint: true,
        run: source_rules::check_tree,
    },
    Step {
        name: "names and sentences",
        lint: true,
        run: word_rules::check_tree,
    },
    Step {
        name: "links between pages",
        lint: true,
        run: links::check_tree,
    },
    Step {
        name: "generated files are fresh",
        lint: true,
        run: generated::check_tree,
    },
    Step {
        name: "types of the clients are fresh",
        lint: true,
        run: clients::check_tree,
    },
    Step {
        name: "clippy",
        lint: true,
        run: |tree| {
            let arguments = "clippy --workspace --all-targets --quiet -- -D warnings";
            check(&cargo(tree, &words(arguments)))
        },
    },
    Step {
        name: "other targets: they compile",
        lint: true,
        run: other_targets::check_tree,
    },
    Step {
        name: "numbers of system calls",
        lint: true,
        run: system_calls::check_tree,
    },
    Step {
        name: "documentation builds without warnings",
        lint: false,
        run: |tree| {
            let command = cargo(tree, &words("doc --workspace --no-deps --quiet"));
            check(&command.env("RUSTDOCFLAGS", "-D warnings"))
        },
    },
    Step {
        name: "crates as they would be published",
        lint: false,
        run: packaged::check_tree,
    },
    Step {
        name: "tests, doc tests, and the census after them",
        lint: false,
        run: tests_step::run,
    },
    Step {
        name: "clients in Python and TypeScript",
        lint: false,
        run: clients::test,
    },
    Step {
        name: "agents, as they are published",
        lint: false,
        run: agents::step,
    },
    Step {
        name: "version managers and bash 5.3",
        lint: false,
        run: environments::step,
    },
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

/// A cargo command in the checkout. Removes the variables about *this* package that the outer
/// `cargo run` has set: build scripts that watch them would rebuild on every change between nested
/// and direct calls.
pub(crate) fn cargo<'a>(tree: &'a Tree, arguments: &[&str]) -> Cmd<'a> {
    let program = &tree.cargo;
    let mut command = cmd!(tree.shell, "{program} {arguments...}").quiet();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command = command.env_remove(name);
        }
    }
    command
}

/// Runs a command whose own output explains any failure.
pub(crate) fn check(command: &Cmd<'_>) -> Result<()> {
    let shown = command.to_string();
    if command.run().is_err() {
        bail!("`{shown}` failed; its output is above");
    }
    Ok(())
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
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

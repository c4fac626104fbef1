//! The project's own commands: `cargo xtask <command>`.
//!
//! CI and developers run these checks, and they regenerate checked-in files; the product needs none
//! of them. Each command is an entry of [`COMMANDS`]; the steps of `test` are `STEPS` in [`suite`].

mod agents;
mod attempts_page;
mod benches;
mod built_once;
mod circles;
mod clients;
mod conformance;
mod corpora;
mod crates;
mod environments;
mod findings_page;
mod fuzz;
mod generated;
mod hooks_page;
mod keys_page;
mod layers;
mod links;
mod other_targets;
mod packaged;
mod picture;
mod programs;
mod repeated_tests;
mod rpc_page;
mod rules_page;
mod rust_tokens;
mod sentences;
mod soak;
mod source_rules;
mod static_build;
mod suite;
mod system_calls;
mod tests_step;
mod third_party_page;
mod word_rules;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use xshell::Shell;

/// One command of this tool.
struct Command {
    name: &'static str,
    /// Arguments as shown in the help.
    arguments: &'static str,
    /// One line for the help.
    summary: &'static str,
    run: fn(&Tree, &[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "",
        summary: "runs everything that CI checks, up to the first failure (`--list` shows the steps)",
        run: suite::test,
    },
    Command {
        name: "ci",
        arguments: "",
        summary: "the same as `test`",
        run: suite::test,
    },
    Command {
        name: "lint",
        arguments: "",
        summary: "runs the steps of `test` that run no test: format, layers, source rules, clippy",
        run: suite::lint,
    },
    Command {
        name: "layers",
        arguments: "",
        summary: "compares the dependencies in every Cargo.toml with xtask/crates.toml",
        run: layers::command,
    },
    Command {
        name: "docs",
        arguments: "",
        summary: "rewrites the generated files in docs/ (JSON Schemas, RPC requests, settings, safety rules, surprises, …), and the clients' types",
        run: generated::write,
    },
    Command {
        name: "words",
        arguments: "[--checkout DIR] [PATH…]",
        summary: "lists names and sentences that break the rules of CONTRIBUTING.md; PATH limits the list",
        run: word_rules::command,
    },
    Command {
        name: "picture",
        arguments: "",
        summary: "records the screens of the README's picture in a real session and draws them",
        run: picture::command,
    },
    Command {
        name: "clients",
        arguments: "[test|frameworks|installed FILE]",
        summary: "rewrites the clients' types from docs/schema; tests the clients, their frameworks, or their packages",
        run: clients::command,
    },
    Command {
        name: "dist",
        arguments: "[--program FILE]",
        summary: "builds the installable packages in target/dist: a static program, a wheel, packages for npm",
        run: clients::dist,
    },
    Command {
        name: "release",
        arguments: "[--program FILE]",
        summary: "adds to the packages of `dist` a .deb, a .rpm, the dependencies, the changes and SHA256SUMS",
        run: clients::release,
    },
    Command {
        name: "package",
        arguments: "",
        summary: "checks each crate as it would be published: its files, its manifest, and that it compiles",
        run: packaged::command,
    },
    Command {
        name: "agents",
        arguments: "[NAME]",
        summary: "runs Claude Code, Codex, Gemini CLI and opencode, from npm, with stand-ins for their models",
        run: agents::command,
    },
    Command {
        name: "bench",
        arguments: "[PACKAGE] [-- ARGS]",
        summary: "runs all benchmarks, or those of a package or name; `earlier -- REVISION` compares two builds",
        run: benches::command,
    },
    Command {
        name: "conformance",
        arguments: "--surface NAME",
        summary: "runs every case of the conformance kit through one interface (rpc-ssh, rpc-docker, …)",
        run: conformance::command,
    },
    Command {
        name: "corpora",
        arguments: "[--bash DIR] [--nl2bash DIR] [--tldr DIR] [--lines FILE]",
        summary: "compares the product with bash on bash's own tests; checks the commands of nl2bash, tldr or a file",
        run: corpora::command,
    },
    Command {
        name: "fuzz",
        arguments: "[NAME] [COUNT]",
        summary: "runs the long modes of the property and differential tests (no NAME: lists them)",
        run: fuzz::command,
    },
    Command {
        name: "static",
        arguments: "",
        summary: "builds the program without any shared library, for machines and containers that have none",
        run: static_build::command,
    },
    Command {
        name: "system-calls",
        arguments: "[ROOT]",
        summary: "compares the numbers of system calls with the kernel's headers below ROOT (/)",
        run: system_calls::command,
    },
    Command {
        name: "soak",
        arguments: "[COUNT]",
        summary: "makes many calls of all kinds (10000), then checks for leftovers",
        run: soak::command,
    },
    Command {
        name: "environments",
        arguments: "[NAME…]",
        summary: "installs version managers and bash 5.3, and compares calls with them (minutes)",
        run: environments::command,
    },
];

/// The checkout that the tool works on, and a shell with its directory.
struct Tree {
    root: PathBuf,
    shell: Shell,
    /// The cargo that runs this tool, so that nested calls use the same toolchain.
    cargo: String,
}

impl Tree {
    fn open() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("xtask/ has no parent directory")?;
        Self::at(root)
    }

    /// Opens another checkout.
    fn at(root: &Path) -> Result<Self> {
        let root = root.to_owned();
        let shell = Shell::new()?;
        shell.change_dir(&root);
        // `cargo xtask` sets CARGO; if the binary is started directly, use the cargo that built it.
        let cargo = shell.var("CARGO").unwrap_or_else(|_| env!("CARGO").into());
        Ok(Self { root, shell, cargo })
    }
}

#[expect(clippy::print_stderr, reason = "this is a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let (name, rest) = match arguments {
        [] => ("help", &[][..]),
        [name, rest @ ..] => (name.as_str(), rest),
    };
    if matches!(name, "help" | "--help" | "-h") {
        say(&help());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        bail!("unknown command `{name}`\n\n{}", help());
    };
    (command.run)(&Tree::open()?, rest)
}

fn help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("cargo xtask <command>\n\n");
    for command in COMMANDS {
        let usage = format!("{} {}", command.name, command.arguments);
        let _ = writeln!(text, "  {usage:<28} {}", command.summary);
    }
    text.push_str(
        "\nBefore a commit: `cargo xtask lint`, and `cargo test -p <crate>` of what you changed.\n\
         Before a merge: `cargo xtask test`. How the tests are built: docs/testing.md.",
    );
    text
}

/// The only function of this tool that prints.
#[expect(clippy::print_stdout, reason = "this is a command line tool")]
fn say(text: &str) {
    println!("{text}");
}

/// Refuses arguments of a command that takes none.
fn no_arguments(arguments: &[String]) -> Result<()> {
    match arguments {
        [] => Ok(()),
        [first, ..] => bail!("unexpected argument `{first}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command() {
        let help = help();
        for command in COMMANDS {
            assert!(help.contains(command.summary), "{}", command.name);
        }
    }

    #[test]
    fn unknown_command_is_refused_with_the_list() {
        let error = run(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("unknown command `tset`") && error.contains("  test "));
    }
}

//! The project's own commands: `cargo xtask <command>`.
//!
//! CI and developers run these checks, and they regenerate checked-in files; the product needs none
//! of them. Each command is an entry of [`COMMANDS`]; the steps of `test` are `STEPS` in [`suite`].

mod agents;
mod attempts_page;
mod benches;
mod built_once;
mod cargo_command;
mod circles;
mod clients;
mod conformance;
mod corpora;
mod crates;
mod environments;
mod findings_page;
mod fuzz;
mod generated;
mod generated_files;
mod hooks_page;
mod keys_page;
mod layers;
mod links;
mod other_targets;
mod packaged;
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
    /// The name, and the arguments as shown in the help.
    usage: &'static str,
    /// One line for the help.
    summary: &'static str,
    run: fn(&Tree, &[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        usage: "test",
        summary: "runs everything that CI checks, up to the first failure (`--list` shows the steps)",
        run: suite::test,
    },
    Command {
        usage: "ci",
        summary: "the same as `test`",
        run: suite::test,
    },
    Command {
        usage: "lint",
        summary: "runs the steps of `test` that run no test: format, layers, source rules, clippy",
        run: suite::lint,
    },
    Command {
        usage: "layers",
        summary: "compares the dependencies in every Cargo.toml with xtask/crates.toml",
        run: layers::command,
    },
    Command {
        usage: "docs",
        summary: "rewrites the generated files in docs/ (JSON Schemas, RPC requests, settings, safety rules, surprises, …), and the clients' types",
        run: generated::write,
    },
    Command {
        usage: "words [--checkout DIR] [PATH…]",
        summary: "lists names and sentences that break the rules of CONTRIBUTING.md; PATH limits the list",
        run: word_rules::command,
    },
    Command {
        usage: "clients [test|frameworks|installed FILE]",
        summary: "rewrites the clients' types from docs/schema; tests the clients, their frameworks, or their packages",
        run: clients::command,
    },
    Command {
        usage: "dist [--program FILE]",
        summary: "builds the installable packages in target/dist: a static program, a wheel, packages for npm",
        run: clients::dist,
    },
    Command {
        usage: "release [--program FILE]",
        summary: "adds to the packages of `dist` a .deb, a .rpm, the dependencies, the changes and SHA256SUMS",
        run: clients::release,
    },
    Command {
        usage: "package",
        summary: "checks each crate as it would be published: its files, its manifest, and that it compiles",
        run: packaged::command,
    },
    Command {
        usage: "agents [NAME]",
        summary: "runs Claude Code, Codex, Gemini CLI and opencode, from npm, with stand-ins for their models",
        run: agents::command,
    },
    Command {
        usage: "bench [PACKAGE] [-- ARGS]",
        summary: "runs all benchmarks, or those of a package or name; `earlier -- REVISION` compares two builds",
        run: benches::command,
    },
    Command {
        usage: "conformance --surface NAME",
        summary: "runs every case of the conformance kit through one interface (rpc-ssh, rpc-docker, …)",
        run: conformance::command,
    },
    Command {
        usage: "corpora [--bash DIR] [--nl2bash DIR] [--tldr DIR] [--lines FILE]",
        summary: "compares the product with bash on bash's own tests; checks the commands of nl2bash, tldr or a file",
        run: corpora::command,
    },
    Command {
        usage: "fuzz [NAME] [COUNT]",
        summary: "runs the long modes of the property and differential tests (no NAME: lists them)",
        run: fuzz::command,
    },
    Command {
        usage: "static",
        summary: "builds the program without any shared library, for machines and containers that have none",
        run: static_build::command,
    },
    Command {
        usage: "system-calls [ROOT]",
        summary: "compares the numbers of system calls with the kernel's headers below ROOT (/)",
        run: system_calls::command,
    },
    Command {
        usage: "soak [COUNT]",
        summary: "makes many calls of all kinds (10000), then checks for leftovers",
        run: soak::command,
    },
    Command {
        usage: "environments [NAME…]",
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
    let is_wanted = |command: &&Command| command.usage.split(' ').next() == Some(name);
    let Some(command) = COMMANDS.iter().find(is_wanted) else {
        bail!("unknown command `{name}`\n\n{}", help());
    };
    (command.run)(&Tree::open()?, rest)
}

fn help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("cargo xtask <command>\n\n");
    for command in COMMANDS {
        let _ = writeln!(text, "  {:<28} {}", command.usage, command.summary);
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
            assert!(help.contains(command.summary), "{}", command.usage);
        }
    }

    #[test]
    fn unknown_command_is_refused_with_the_list() {
        let error = run(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("unknown command `tset`") && error.contains("  test "));
    }
}

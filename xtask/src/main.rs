//! The project's own commands: `cargo xtask <command>`.
//!
//! CI and developers run these checks, and they regenerate checked-in files; the product needs none
//! of them. Each command is an arm of [`command`]; the steps of `test` are `STEPS` in [`suite`].

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

/// The commands, as `cargo xtask` lists them.
const HELP: &str = "\
cargo xtask <command>

  test                         runs everything that CI checks, up to the first failure (`--list` shows the steps)
  ci                           the same as `test`
  lint                         runs the steps of `test` that run no test: format, layers, source rules, clippy
  layers                       compares the dependencies in every Cargo.toml with xtask/crates.toml
  docs                         rewrites the generated files in docs/ (JSON Schemas, RPC requests, settings, safety rules, surprises, …), and the clients' types
  words [--checkout DIR] [PATH…] lists names and sentences that break the rules of CONTRIBUTING.md; PATH limits the list
  clients [test|frameworks|installed FILE] rewrites the clients' types from docs/schema; tests the clients, their frameworks, or their packages
  dist [--program FILE]        builds the installable packages in target/dist: a static program, a wheel, packages for npm
  release [--program FILE]     adds to the packages of `dist` a .deb, a .rpm, the dependencies, the changes and SHA256SUMS
  package                      checks each crate as it would be published: its files, its manifest, and that it compiles
  agents [NAME]                runs Claude Code, Codex, Gemini CLI and opencode, from npm, with stand-ins for their models
  bench [PACKAGE] [-- ARGS]    runs all benchmarks, or those of a package or name; `earlier -- REVISION` compares two builds
  conformance --surface NAME   runs every case of the conformance kit through one interface (rpc-ssh, rpc-docker, …)
  corpora [--bash DIR] [--nl2bash DIR] [--tldr DIR] [--lines FILE] compares the product with bash on bash's own tests; checks the commands of nl2bash, tldr or a file
  fuzz [NAME] [COUNT]          runs the long modes of the property and differential tests (no NAME: lists them)
  static                       builds the program without any shared library, for machines and containers that have none
  system-calls [ROOT]          compares the numbers of system calls with the kernel's headers below ROOT (/)
  soak [COUNT]                 makes many calls of all kinds (10000), then checks for leftovers
  environments [NAME…]         installs version managers and bash 5.3, and compares calls with them (minutes)

Before a commit: `cargo xtask lint`, and `cargo test -p <crate>` of what you changed.
Before a merge: `cargo xtask test`. How the tests are built: docs/testing.md.";

type RunCommand = fn(&Tree, &[String]) -> Result<()>;

/// Returns the function of a command that [`HELP`] lists.
fn command(name: &str) -> Option<RunCommand> {
    let run: RunCommand = match name {
        "test" | "ci" => suite::test,
        "lint" => suite::lint,
        "layers" => layers::command,
        "docs" => generated::write,
        "words" => word_rules::command,
        "clients" => clients::command,
        "dist" => clients::dist,
        "release" => clients::release,
        "package" => packaged::command,
        "agents" => agents::command,
        "bench" => benches::command,
        "conformance" => conformance::command,
        "corpora" => corpora::command,
        "fuzz" => fuzz::command,
        "static" => static_build::command,
        "system-calls" => system_calls::command,
        "soak" => soak::command,
        "environments" => environments::command,
        _ => return None,
    };
    Some(run)
}

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

    /// True on CI, which sets the variable `CI`.
    fn is_on_ci(&self) -> bool {
        self.shell.var_os("CI").is_some()
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
        say(HELP);
        return Ok(());
    }
    let Some(run) = command(name) else {
        bail!("unknown command `{name}`\n\n{HELP}");
    };
    run(&Tree::open()?, rest)
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
    fn every_listed_command_exists() {
        let listed = HELP.lines().filter_map(|line| line.strip_prefix("  "));
        let listed: Vec<_> = listed.filter_map(|line| line.split(' ').next()).collect();
        assert!(listed.contains(&"test"), "{listed:?}");
        for name in listed {
            assert!(command(name).is_some(), "{name}");
        }
    }

    #[test]
    fn unknown_command_is_refused_with_the_list() {
        let error = run(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("unknown command `tset`") && error.contains("  test "));
    }
}

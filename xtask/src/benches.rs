//! `cargo xtask bench`: runs every benchmark of the workspace, of one package, or of one name.

use crate::cargo_command::{cargo, check};
use crate::{Tree, layers, say};
use anyhow::{Result, bail};
use std::path::PathBuf;
use xshell::cmd;

/// The benchmark that compares this build with an earlier one.
const EARLIER_BENCH: &str = "earlier";

/// The variable by which that benchmark finds the earlier program.
const EARLIER_PROGRAM: &str = "AGENT_BASH_EARLIER";

/// `cargo xtask bench [PACKAGE|BENCH] [-- ARGS]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let (selection, bench_arguments) = match arguments.iter().position(|argument| argument == "--")
    {
        Some(at) => (&arguments[..at], &arguments[at..]),
        None => (arguments, &[][..]),
    };
    let only = match selection {
        [] => None,
        [name] => Some(name.trim_start_matches("agent-bash-")),
        [_, extra, ..] => bail!("unexpected argument `{extra}`"),
    };
    let metadata = layers::metadata(tree)?;
    let mut ran = 0;
    for package in metadata.workspace_packages() {
        let name = package.name.to_string();
        let short = name.trim_start_matches("agent-bash-");
        let is_selected = |bench: &str| only.is_none_or(|only| only == short || only == bench);
        let benches = package.targets.iter().filter(|target| target.is_bench());
        for bench in benches.filter(|bench| is_selected(&bench.name)) {
            say(&format!("── {name}: {}", bench.name));
            let mut call = vec!["bench", "--package", &name, "--bench", &bench.name];
            if bench.name == EARLIER_BENCH {
                let earlier = earlier_program(tree, bench_arguments.get(1))?;
                check(&cargo(tree, &call).envs(earlier.map(|path| (EARLIER_PROGRAM, path))))?;
            } else {
                call.extend(bench_arguments.iter().map(String::as_str));
                check(&cargo(tree, &call))?;
            }
            ran += 1;
        }
    }
    if ran == 0 {
        bail!("no benchmark has this name; `cargo xtask bench` runs all benchmarks");
    }
    Ok(())
}

/// Builds the program of a revision, or else of the last release, unless it was built before.
/// `None` without a revision and without a release.
fn earlier_program(tree: &Tree, revision: Option<&String>) -> Result<Option<PathBuf>> {
    let shell = &tree.shell;
    let release = || {
        let last = cmd!(shell, "git describe --tags --abbrev=0 --match v[0-9]*");
        last.quiet().ignore_stderr().read().ok()
    };
    let Some(revision) = revision.cloned().or_else(release) else {
        return Ok(None);
    };
    let commit = format!("{revision}^{{commit}}");
    let commit = cmd!(shell, "git rev-parse --verify {commit}")
        .quiet()
        .read()?;
    let directory = tree.root.join("target/earlier");
    let program = directory.join(&commit);
    if program.exists() {
        return Ok(Some(program));
    }
    say(&format!("building {revision} for the comparison"));
    let (source, target) = (directory.join("source"), directory.join("target"));
    shell.remove_path(&source)?;
    let root = &tree.root;
    cmd!(
        shell,
        "git clone --quiet --shared --no-checkout {root} {source}"
    )
    .run()?;
    cmd!(shell, "git -C {source} checkout --quiet --detach {commit}").run()?;
    let manifest = source.join("Cargo.toml");
    let arguments = ["build", "--release", "--quiet", "--package=agent-bash-cli"];
    let build = cargo(tree, &arguments).arg("--manifest-path").arg(manifest);
    check(&build.arg("--target-dir").arg(&target))?;
    shell.copy_file(target.join("release/agent-bash"), &program)?;
    Ok(Some(program))
}

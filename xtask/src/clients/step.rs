//! Tests the clients against the program, with their own languages' tools. These are installed once below `target/`,
//! from `PyPI` and npm.

use crate::suite::{cargo, check};
use crate::{Tree, layers, say, tests_step};
use agent_bash_tests::packages::{install, kept, made_once, npm};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// What tests the client in Python.
const PYTHON: &[&str] = &["pytest==9.2.0", "mypy==2.4.1"];

/// What compiles the client in TypeScript, and the framework that it is tested with.
const NODE: &[&str] = &["typescript@7.0.2", "@types/node@26.6.6", "ai@6.0.326"];

/// The step of the suite. Without package indexes the clients are left out, except on CI.
pub(crate) fn run(tree: &Tree) -> Result<()> {
    let metadata = layers::metadata(tree)?;
    let target = Path::new(metadata.target_directory.as_str());
    check(&cargo(
        tree,
        &["build", "--quiet", "--package", "agent-bash-cli"],
    ))?;
    let program = target.join("debug/agent-bash");
    match (venv(target), node_packages(target)) {
        (Ok(python), Ok(packages)) => {
            test_python(tree, &python, &program)?;
            test_typescript(tree, &packages, &program)
        }
        (Err(error), _) | (_, Err(error)) if tree.shell.var_os("CI").is_none() => {
            say(&format!(
                "   left out: what tests the clients cannot be installed: {error:#}"
            ));
            Ok(())
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// The interpreter of an environment with [`PYTHON`].
fn venv(target: &Path) -> Result<PathBuf> {
    let directory = kept(&target.join("clients"), "python", PYTHON);
    made_once(&directory, |directory| {
        install("python3", &["-m", "venv", "."], directory)?;
        let python = directory.join("bin/python");
        let python = python.to_str().context("the path is not UTF-8")?;
        let words = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        install(python, &[&words, PYTHON].concat(), directory)
    })?;
    Ok(directory.join("bin/python"))
}

/// Checks the types and runs the tests of the sources.
fn test_python(tree: &Tree, python: &Path, program: &Path) -> Result<()> {
    let _here = tree.shell.push_dir("clients/python");
    check(&cmd!(tree.shell, "{python} -m mypy --cache-dir /dev/null").quiet())?;
    tests_step::under_census(|temp, state| {
        cmd!(
            tree.shell,
            "{python} -B -W error -m pytest --quiet -p no:cacheprovider"
        )
        .quiet()
        .env("PYTHONPATH", "src")
        .env("AGENT_BASH_PROGRAM", program)
        .env("TMPDIR", temp)
        .env("XDG_STATE_HOME", state)
    })
}

/// The directory `node_modules` with [`NODE`].
fn node_packages(target: &Path) -> Result<PathBuf> {
    let directory = kept(&target.join("clients"), "node", NODE);
    made_once(&directory, |directory| npm(directory, &[], NODE))?;
    Ok(directory.join("node_modules"))
}

/// Compiles the sources, tests and examples, and runs the tests.
fn test_typescript(tree: &Tree, packages: &Path, program: &Path) -> Result<()> {
    let _here = tree.shell.push_dir("clients/typescript");
    // Packages are looked for beside the sources.
    let link = tree.root.join("clients/typescript/node_modules");
    if link.is_symlink() {
        std::fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink(packages, &link).with_context(|| {
        format!(
            "{} cannot be a link to {}",
            link.display(),
            packages.display()
        )
    })?;
    let tsc = packages.join(".bin/tsc");
    tree.shell.remove_path("build")?;
    check(&cmd!(tree.shell, "{tsc} --project tsconfig.tests.json").quiet())?;
    let mut tests = tree.shell.read_dir("build/tests")?;
    tests.retain(|path| path.to_string_lossy().ends_with(".test.js"));
    tests_step::under_census(|temp, state| {
        cmd!(tree.shell, "node --test --test-reporter=dot {tests...}")
            .quiet()
            .env("AGENT_BASH_PROGRAM", program)
            .env("TMPDIR", temp)
            .env("XDG_STATE_HOME", state)
    })
}

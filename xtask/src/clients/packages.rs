//! The packages that build and test the clients, installed once below `target/`, from `PyPI` and
//! npm.

use crate::Tree;
use crate::cargo_command::words;
use agent_bash_tests::packages::{cached_packages, install, made_once, npm};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The compiler for the TypeScript client, and the frameworks for its tests.
const NODE: &[&str] = &[
    "typescript@7.0.2", "@types/node@26.6.6", "ai@7.0.173", "bash-tool@1.3.19",
    "@mastra/core@1.71.0",
];

/// Returns the interpreter of an environment with these packages; creates the environment once.
pub(super) fn venv(target: &Path, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let directory = cached_packages(&target.join("clients"), name, packages);
    made_once(&directory, |directory| {
        install("python3", &["-m", "venv", "."], directory)?;
        let python = directory.join("bin/python");
        let python = python.to_str().context("the path is not UTF-8")?;
        let install_words = words("-m pip install --quiet --disable-pip-version-check");
        install(python, &[&install_words[..], packages].concat(), directory)
    })?;
    Ok(directory.join("bin/python"))
}

/// Returns the directory `node_modules` with [`NODE`]; installs it once.
pub(super) fn node_packages(target: &Path) -> Result<PathBuf> {
    let directory = cached_packages(&target.join("clients"), "node", NODE);
    made_once(&directory, |directory| npm(directory, &[], NODE))?;
    Ok(directory.join("node_modules"))
}

/// Links packages into the directory above the TypeScript sources, where node looks for them.
pub(super) fn link_packages(tree: &Tree, packages: &Path) -> Result<()> {
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
    })
}

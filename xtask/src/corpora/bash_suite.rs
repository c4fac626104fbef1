//! Runs bash's tests. Compiles their helper programs and starts the comparison
//! (`crates/exec/tests/it/bash_suite.rs`) in new pid and network namespaces, if the system allows
//! it.

use crate::cargo_command::{cargo, check, words};
use crate::{Tree, say, tests_step};
use agent_bash_tests::packages::install;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use xshell::cmd;

/// The helper programs, from bash's `support` directory.
const HELPERS: [&str; 4] = ["printenv", "recho", "xcase", "zecho"];

/// New namespaces: user (so that root is not needed), network, pid. All processes end with the
/// first one of the pid namespace.
const UNSHARED: &str = "--user --map-root-user --net --pid --fork --kill-child --mount-proc";

pub(super) fn run(tree: &Tree, sources: &Path, downloads: &Path) -> Result<()> {
    let helpers = downloads.join("helpers");
    compile(sources, &helpers)?;
    let test = ["test", "--package", "agent-bash-exec", "--test", "it"];
    // Built outside of the namespaces, where crates can be downloaded.
    check(&cargo(tree, &[&test[..], &["--no-run"]].concat()))?;
    let call = [
        &test[..],
        &["--", "--ignored", "--nocapture", "bash_suite::"],
    ]
    .concat();
    let unshared = can_unshare(tree);
    if !unshared {
        say("no user namespaces here: the tests run without their own network and processes");
    }
    let plain = cargo(tree, &call);
    let command = if unshared {
        let plain: std::process::Command = plain.into();
        let words_of_call: Vec<OsString> = std::iter::once(plain.get_program())
            .chain(plain.get_args())
            .map(OsString::from)
            .collect();
        let options = words(UNSHARED);
        cmd!(tree.shell, "unshare {options...} {words_of_call...}").quiet()
    } else {
        plain
    };
    tests_step::under_census(
        command
            .env("AGENT_BASH_SUITE_SOURCES", sources)
            .env("AGENT_BASH_SUITE_HELPERS", &helpers),
    )
}

fn can_unshare(tree: &Tree) -> bool {
    let options = words(UNSHARED);
    let tried = cmd!(tree.shell, "unshare {options...} true");
    tried.quiet().ignore_stderr().run().is_ok()
}

fn compile(sources: &Path, helpers: &Path) -> Result<()> {
    fs::create_dir_all(helpers)?;
    for name in HELPERS {
        let source = sources.join("support").join(format!("{name}.c"));
        let (source, program) = (
            source.display().to_string(),
            helpers.join(name).display().to_string(),
        );
        let here = sources.display().to_string();
        let include = sources.join("include").display().to_string();
        // The helpers expect bash's `config.h`, which only a configured tree has; include the
        // headers it would enable.
        let words = [
            "-w", "-include", "stdio.h", "-include", "stdlib.h", "-include", "string.h",
            "-include", "unistd.h", "-I", &here, "-I", &include, "-o", &program, &source,
        ];
        install("cc", &words, sources)
            .with_context(|| format!("{} are not bash's sources", sources.display()))?;
    }
    Ok(())
}

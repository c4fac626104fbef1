//! `cargo xtask bench`: every benchmark of the workspace, or of one package.

use crate::suite::{cargo, check};
use crate::{Tree, layers, say};
use anyhow::{Result, bail};

/// `cargo xtask bench [PACKAGE] [-- ARGS]`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    let (own, passed) = match arguments.iter().position(|argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at..]),
        None => (arguments, &[][..]),
    };
    let only = match own {
        [] => None,
        [package] => Some(package.trim_start_matches("agent-bash-")),
        [_, extra, ..] => bail!("unexpected argument `{extra}`"),
    };
    let metadata = layers::metadata(tree)?;
    let mut ran = 0;
    for package in metadata.workspace_packages() {
        let name = package.name.to_string();
        if only.is_some_and(|only| only != name.trim_start_matches("agent-bash-")) {
            continue;
        }
        for bench in package.targets.iter().filter(|target| target.is_bench()) {
            say(&format!("── {name}: {}", bench.name));
            let mut call = vec!["bench", "--package", &name, "--bench", &bench.name];
            call.extend(passed.iter().map(String::as_str));
            check(&cargo(tree, &call))?;
            ran += 1;
        }
    }
    if ran == 0 {
        bail!("no benchmark here; `cargo xtask bench` runs all there are");
    }
    Ok(())
}

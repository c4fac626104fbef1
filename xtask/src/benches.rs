//! `cargo xtask bench`: runs every benchmark of the workspace, of one package, or of one name.

use crate::suite::{cargo, check};
use crate::{Tree, layers, say};
use anyhow::{Result, bail};

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
        let wanted = |bench: &str| only.is_none_or(|only| only == short || only == bench);
        let benches = package.targets.iter().filter(|target| target.is_bench());
        for bench in benches.filter(|bench| wanted(&bench.name)) {
            say(&format!("── {name}: {}", bench.name));
            let mut call = vec!["bench", "--package", &name, "--bench", &bench.name];
            call.extend(bench_arguments.iter().map(String::as_str));
            check(&cargo(tree, &call))?;
            ran += 1;
        }
    }
    if ran == 0 {
        bail!("no benchmark here; `cargo xtask bench` runs all there are");
    }
    Ok(())
}

//! Callers in other languages must observe the same behaviour of the shell as of bash.

use super::{Shell, link, world};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Runs a shell on its own terminal.
pub(super) const fn terminal_caller() -> &'static str {
    include_str!("callers/terminal.py")
}

/// The path of a program that starts a shell with odd descriptors or signals; compiled once.
pub(super) fn compiled_caller() -> Result<&'static Path> {
    static COMPILED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match COMPILED.get_or_init(|| compile().map_err(|error| format!("{error:#}"))) {
        Ok(path) => Ok(path),
        Err(error) => bail!("{error}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the compiler runs in the environment of the test"
)]
fn compile() -> Result<PathBuf> {
    let source = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/it/agent_shell/callers/odd.c"
    );
    let own = std::env::current_exe()?;
    let directory = own.parent().context("a test program is in a directory")?;
    let path = directory.join(format!("odd-caller-{}", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-o"]).arg(&path).arg(source);
    let built = compiler.output()?;
    let stderr = String::from_utf8_lossy(&built.stderr);
    ensure!(built.status.success(), "cc {source}: {stderr}");
    let ready = path.with_file_name("odd-caller");
    std::fs::rename(path, &ready)?;
    Ok(ready)
}

/// Runs a caller with bash and with the product, and compares their outputs. Each line of output is
/// a case.
fn compare(interpreter: &str, text: &str, min_cases: usize) -> Result<()> {
    let world = world()?;
    let script = world.home().join("caller");
    std::fs::write(&script, text)?;
    let mut outputs = Vec::new();
    for shell in [Shell::Bash, Shell::Product] {
        let mut command = world.command(interpreter);
        command.arg(&script);
        command.arg(shell.program(&world, "bash"));
        command.arg(link(&world, "bash"));
        let ended = command.output()?;
        let stderr = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.success(), "{interpreter}: {stderr}");
        outputs.push(String::from_utf8(ended.stdout)?);
    }
    let mut lines = outputs.iter().map(|it| it.lines().collect::<Vec<_>>());
    let (bash, product) = (
        lines.next().unwrap_or_default(),
        lines.next().unwrap_or_default(),
    );
    ensure!(bash.len() >= min_cases, "{} cases", bash.len());
    let differences: Vec<String> = bash
        .iter()
        .zip(&product)
        .filter(|(bash, product)| bash != product)
        .map(|(bash, product)| format!("bash:    {bash}\nproduct: {product}"))
        .collect();
    ensure!(differences.is_empty(), "{}", differences.join("\n"));
    ensure!(bash.len() == product.len(), "{outputs:?}");
    world.assert_nothing_left(Duration::from_secs(20));
    Ok(())
}

#[test]
fn python_callers_observe_bash_behaviour() -> Result<()> {
    compare("python3", include_str!("callers/caller.py"), 60)
}

#[test]
fn node_callers_observe_bash_behaviour() -> Result<()> {
    compare("node", include_str!("callers/caller.js"), 25)
}

//! Finds and runs the binary under test, and reports tests that cannot run.

use anyhow::{Context, Result, bail};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The variable that names the binary to test. If unset, the tests build
/// the binary of this checkout.
const BINARY_VARIABLE: &str = "AGENT_BASH_TEST_BINARY";

/// Returns the path of `agent-bash`: the binary that the environment names, or the one of this
/// checkout, which is built once per test program.
///
/// # Errors
/// The build failed, or the binary is missing.
pub fn agent_bash() -> Result<&'static Path> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match FOUND.get_or_init(|| find().map_err(|error| format!("{error:#}"))) {
        Ok(path) => Ok(path),
        Err(error) => bail!("{error}"),
    }
}

/// Reports that this test, or a part of it, does not run. Writes to standard error itself, since
/// the harness shows what a macro prints for failed tests only.
pub fn report_left_out(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "{test} is left out: {why}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test program is a user of its own environment and of cargo"
)]
fn find() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(BINARY_VARIABLE) {
        let path = PathBuf::from(path);
        if !path.is_file() {
            bail!(
                "{BINARY_VARIABLE} names {}, which is no file",
                path.display()
            );
        }
        return Ok(path);
    }
    // Test programs are in target/<profile>/deps.
    let test_program = std::env::current_exe()?;
    let profile = test_program
        .ancestors()
        .nth(2)
        .context("a test program stands in target/<profile>/deps")?;
    let path = profile.join("agent-bash");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut call = Command::new(cargo);
    call.args(["build", "--quiet", "--package", "agent-bash-cli"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.file_name().is_some_and(|name| name == "release") {
        call.arg("--release");
    }
    let built = call.stdin(Stdio::null()).output()?;
    if !built.status.success() || !path.is_file() {
        bail!(
            "building agent-bash for the tests failed; set {BINARY_VARIABLE} to test another binary\n{}",
            String::from_utf8_lossy(&built.stderr)
        );
    }
    Ok(path)
}

/// Output and exit code of one run.
#[derive(Debug, Clone)]
pub struct CommandResult {
    /// The exit code; 128 + n if signal n killed it.
    pub code: i32,
    /// The stdout; invalid UTF-8 is replaced.
    pub stdout: String,
    /// The stderr; invalid UTF-8 is replaced.
    pub stderr: String,
}

impl From<Output> for CommandResult {
    fn from(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        let signal = || 128 + output.status.signal().unwrap_or_default();
        Self {
            code: output.status.code().unwrap_or_else(signal),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Runs `command` to its end with `input` as its standard input.
///
/// # Errors
/// The command could not be started or waited for.
pub fn run(command: Command, input: Option<&str>) -> Result<CommandResult> {
    Ok(start(command, input)?.wait_with_output()?.into())
}

/// Starts `command` with piped streams; it gets `input` on stdin.
///
/// # Errors
/// The command could not be started.
pub fn start(mut command: Command, input: Option<&str>) -> Result<std::process::Child> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let Some(input) = input else {
        return Ok(command.spawn()?);
    };
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    let mut pipe = child.stdin.take().context("stdin is piped")?;
    let input = input.to_owned();
    // A thread writes the input, as the caller reads the output. Otherwise a child that prints
    // before it has read a long input would deadlock. A child that closes its stdin early is no
    // error.
    std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
    Ok(child)
}

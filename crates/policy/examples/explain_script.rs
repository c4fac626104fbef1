//! Explains the script given as the first argument, like `agent-bash explain`.

use agent_bash_policy::{Context, Policy, Script, explain};

#[expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own, not the library"
)]
fn main() -> std::process::ExitCode {
    let script = std::env::args().nth(1).unwrap_or_default();
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let explanation = explain(
        &Script::read(&script, &Context::new(cwd).with_home(home)),
        &Policy::standard(),
    );
    print!("{explanation}");
    std::process::ExitCode::from(explanation.exit_code())
}

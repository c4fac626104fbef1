//! Prints the commands that a script would run, as far as they are known before the script runs:
//! `cargo run -p agent-bash-syntax --example what_runs -- 'cd src && x=rm; sudo $x -rf "$DIR"'`.

use agent_bash_syntax::{Context, Script};

#[expect(clippy::print_stdout, reason = "a program of its own, not the library")]
fn main() {
    let text = std::env::args().nth(1).unwrap_or_default();
    let context = Context::new("/home/u/project").with_home("/home/u");
    let script = Script::read(&text, &context);
    for command in &script.commands {
        let cwd = command.cwd.as_deref().unwrap_or("?");
        println!("{cwd}$ {command}");
        if !command.started_by.is_empty() {
            println!("    through {}", command.started_by.join(", "));
        }
    }
    if let Some(offset) = script.syntax_error {
        println!("bash would stop at byte {offset}: syntax error");
    }
}

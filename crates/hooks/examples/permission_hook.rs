//! A custom permission hook: a program that decides as `agent-bash hook claude-code` does and can
//! add its own rules.
//!
//! ```sh
//! cargo run -q -p agent-bash-hooks --example permission_hook <<'EOF'
//! {"hook_event_name": "PreToolUse", "cwd": "/tmp", "tool_name": "Bash",
//!  "tool_input": {"command": "git push -f"}}
//! EOF
//! ```
//!
//! Any failure must end in exit code 2 with a reason on stderr: if a hook fails in another way,
//! agents let the command run. A production hook must also answer in time (see
//! `crates/cli/src/commands/hook.rs`).

use agent_bash::HostContext;
use agent_bash_hooks::{BLOCKED_EXIT_CODE, CLAUDE_CODE, HookAnswer, MAX_INPUT_BYTES, answer};
use std::io::{self, Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let host = HostContext::capture("/".into());
    let mut input = Vec::new();
    let most = MAX_INPUT_BYTES as u64 + 1;
    let printed = match io::stdin().take(most).read_to_end(&mut input) {
        Ok(_) => answer(&CLAUDE_CODE, &input, &host),
        Err(error) => HookAnswer::blocked(&CLAUDE_CODE, &error.to_string()),
    };
    let _ = io::stderr().write_all(printed.stderr.as_bytes());
    match io::stdout().write_all(printed.stdout.as_bytes()) {
        Ok(()) => ExitCode::from(printed.exit_code),
        Err(_) => ExitCode::from(BLOCKED_EXIT_CODE),
    }
}

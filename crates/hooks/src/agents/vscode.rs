//! VS Code and other builds of its source.
//!
//! Its agent types commands into a terminal with an interactive shell, which `agent-bash shell`
//! leaves to bash. So only the hook reaches these commands. Tasks start `bash -c`.

use super::copilot;
use crate::agent::{Agent, SettingsPath, same_directory};
use crate::json_form::LENIENT;
use crate::mcp_agent::{McpAgent, McpForm};
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellLink, ShellSetting, ShellWay};

/// Expands to the agent of an editor: its name, its program, and the directory of its settings in
/// the user's configuration.
///
/// The hook is Copilot CLI's. In VS Code 1.139.1, sessions of the harness Copilot run it as Copilot
/// CLI does. Sessions of the harness Local call it with the fields of Claude Code.
macro_rules! editor {
    ($name:literal, $program:literal, $directory:literal) => {{
        const HOOK: Agent = Agent {
            name: $name,
            program: $program,
            hook_of: Some("copilot"),
            tested_with: "tasks in code-server 4.139.1; the source of VS Code 1.139.1",
            install_hint: "VS Code reads the hook for the next prompt. Copilot CLI runs the same hook.",
            ..copilot::HOOK
        };
        const SETTINGS: SettingsPath = SettingsPath {
            below_variable: concat!($directory, "/User"),
            below_project: Some(".vscode"),
            ..same_directory(
                "XDG_CONFIG_HOME",
                concat!(".config/", $directory, "/User"),
                "settings.json",
            )
        };
        SupportedAgent {
            mcp: Some(McpAgent::of(
                &HOOK,
                SettingsPath {
                    file: "mcp.json",
                    ..SETTINGS
                },
                McpForm::Json {
                    json: LENIENT,
                    keys: &["servers", "agent-bash"],
                    entry: "{\n  \"type\": \"stdio\",\n  \"command\": PROGRAM,\n  \"args\": [\"mcp\"]\n}",
                },
            )),
            shell: Some(ShellWay::Setting(ShellSetting {
                agent: $name,
                settings: SETTINGS,
                json: LENIENT,
                keys: &["terminal.integrated.automationProfile.linux"],
                member: Some("path"),
                is_for_tasks: true,
                link: ShellLink::Bash,
                install_hint: concat!(
                    "Only tasks start this shell. To replace what the agent types into a terminal:\n",
                    "agent-bash hook --install --take-over=rewrite ",
                    $name
                ),
            })),
            ..SupportedAgent::with_hook(HOOK)
        }
    }};
}

pub(super) const VSCODE: SupportedAgent = editor!("vscode", "code", "Code");

pub(super) const VSCODE_INSIDERS: SupportedAgent =
    editor!("vscode-insiders", "code-insiders", "Code - Insiders");

pub(super) const VSCODIUM: SupportedAgent = editor!("vscodium", "codium", "VSCodium");

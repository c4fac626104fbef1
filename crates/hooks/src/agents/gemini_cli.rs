//! Gemini CLI.

use crate::agent::{Agent, HookForm, SettingsPath, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::COMMENTS;
use crate::mcp_agent::McpAgent;
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::ShellWay;
use crate::wrapper_form::{FileForm, Wrapper, required};
use agent_bash_syntax::ast::Link;

const HOOK: Agent = Agent {
    name: "gemini-cli",
    program: "gemini",
    tested_with: "@google/gemini-cli 0.61.0",
    format: Some(AnswerFormat::Gemini),
    can_rewrite: true,
    settings: SettingsPath {
        below_variable: ".gemini",
        ..same_directory("GEMINI_CLI_HOME", ".gemini", "settings.json")
    },
    form: HookForm::lists(
        COMMENTS,
        &[
            (
                &["hooks", "BeforeTool"],
                group!("run_shell_command", 30_000),
            ),
            (&["hooks", "BeforeAgent"], prompt_group!(30_000)),
        ],
    ),
    install_hint: "Gemini CLI lists the hook under /hooks.",
    ..Agent::UNKNOWN
};

/// Of Gemini CLI 0.61.0.
const WRAPPER: Wrapper = Wrapper {
    agent: "gemini-cli",
    files: FILE_FORMS,
    marker: "_bgpids_file=",
    link: Link::Next,
    parts: &[required(&[
        r#"shopt -u promptvars nullglob extglob nocaseglob dotglob
_bgpids_file=@gemini-pids@
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
@lines@
)
__code=$?
exit $__code"#,
    ])],
};

/// The placeholders for files in the wrapper, and the names of these files.
const FILE_FORMS: &[FileForm] = &[FileForm {
    placeholder: "@gemini-pids@",
    directory: "gemini-shell-",
    prefix: "bgpids",
    suffix: ".tmp",
    is_written: true,
}];

const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[AgentState {
        below_variable: Some(".gemini"),
        // Commands get the variables of `.env`.
        protected: &["settings.json", "extensions", ".env"],
        ..AgentState::directory("GEMINI_CLI_HOME", ".gemini")
    }],
    hosts: &[
        "generativelanguage.googleapis.com",
        "cloudcode-pa.googleapis.com",
        "oauth2.googleapis.com",
        "accounts.google.com",
        "www.googleapis.com",
    ],
    temp_variable: None,
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    mcp: Some(McpAgent::of(&HOOK, HOOK.settings, server!(COMMENTS, ""))),
    shell: Some(ShellWay::SearchPath),
    wrapper: Some(WRAPPER),
    ..SupportedAgent::with_hook(HOOK)
};

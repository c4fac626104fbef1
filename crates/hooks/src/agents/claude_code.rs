//! Claude Code.

use crate::agent::{Agent, HookForm, PRE_TOOL_USE, USER_PROMPT_SUBMIT, same_directory};
use crate::answer_format::AnswerFormat;
use crate::json_form::STRICT;
use crate::mcp_agent::McpAgent;
use crate::sandboxed_agent::{AgentState, SandboxedAgent};
use crate::supported_agent::SupportedAgent;
use crate::take_over::{ShellLink, ShellSetting, ShellWay};
use crate::wrapper_form::{FileForm, Wrapper, optional, required};
use agent_bash_syntax::ast::Link;

/// Calls the hook at `PreToolUse`, as declared in its SDK (`PreToolUseHookInput`), and at
/// `PreSkillShellCommand` for the commands in a skill or a slash command. A prompt begins a turn.
///
/// The hook never answers `allow`, because Claude Code would then not ask the user.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    program: "claude",
    tested_with: "@anthropic-ai/claude-code 2.1.332",
    format: Some(AnswerFormat::ClaudeCode),
    settings: same_directory("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    form: HookForm::lists(
        STRICT,
        &[
            (PRE_TOOL_USE, group!("Bash|Monitor|PowerShell", 30)),
            (
                &["hooks", "PreSkillShellCommand"],
                group!("Bash|Monitor|PowerShell", 30),
            ),
            (USER_PROMPT_SUBMIT, prompt_group!(30)),
        ],
    ),
    install_hint: "Claude Code lists the hook under /hooks.",
    ..Agent::UNKNOWN
};

/// Of Claude Code from 2.0.46 to 2.1.332, with `CLAUDE_CODE_SHELL_PREFIX` and with
/// `CLAUDE_CODE_SHELL`.
const WRAPPER: Wrapper = Wrapper {
    agent: "claude-code",
    files: FILE_FORMS,
    marker: "pwd -P >|",
    link: Link::And,
    parts: &[
        // Present only before a text that old versions of bash parse differently.
        optional(&[
            r#"{ case "${BASH_VERSINFO-}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; }"#,
            r#"{ case "${BASH_VERSINFO-}" in '2'|'3'|'4') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; }"#,
        ]),
        // Absent if the snapshot could not be made.
        optional(&[
            "source @claude-snapshot@ 2>/dev/null || true",
            "source @claude-snapshot@",
        ]),
        // Present with `CLAUDE_CODE_REMOTE`.
        optional(&[r#"\builtin export BUN_OPTIONS="--smol${BUN_OPTIONS:+ $BUN_OPTIONS}""#]),
        optional(&[
            r"{ \builtin shopt -u extglob || \builtin setopt @no-options@; } >/dev/null 2>&1 || true",
            r"\builtin shopt -u extglob 2>/dev/null || true",
            "{ shopt -u extglob || setopt @no-options@; } >/dev/null 2>&1 || true",
            "shopt -u extglob 2>/dev/null || true",
        ]),
        optional(&[
            r"{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true",
        ]),
        optional(&[
            r"{ \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true",
        ]),
        // Claude Code uses the last form for a text that redirects its own stdin.
        required(&[
            "eval @command@ < /dev/null", r"eval @command@ \< /dev/null", "eval @command@",
        ]),
        required(&["pwd -P >| @claude-cwd@"]),
    ],
};

/// The placeholders for files in the wrapper, and the names of these files.
const FILE_FORMS: &[FileForm] = &[
    FileForm {
        placeholder: "@claude-snapshot@",
        directory: "shell-snapshots",
        prefix: "snapshot-",
        suffix: ".sh",
        is_written: false,
    },
    FileForm {
        placeholder: "@claude-cwd@",
        directory: "",
        prefix: "claude-",
        suffix: "-cwd",
        is_written: true,
    },
];

/// The hosts are those that its documentation asks firewalls to allow.
const SANDBOX: SandboxedAgent = SandboxedAgent {
    state: &[
        AgentState {
            // The scripts of hooks, and the program itself, if it is installed for this user.
            protected: &["settings.json", "settings.local.json", "hooks", "local"],
            ..AgentState::directory("CLAUDE_CONFIG_DIR", ".claude")
        },
        AgentState {
            below_variable: None,
            file: Some("{}\n"),
            ..AgentState::directory("CLAUDE_CONFIG_DIR", ".claude.json")
        },
    ],
    hosts: &["api.anthropic.com", "claude.ai", "platform.claude.com"],
    // Otherwise a directory in /tmp.
    temp_variable: Some("CLAUDE_CODE_TMPDIR"),
};

/// All that is known of the agent.
pub(super) const AGENT: SupportedAgent = SupportedAgent {
    sandbox: Some(SANDBOX),
    // In the file that `claude mcp add --scope user` writes.
    mcp: Some(McpAgent::of(
        &CLAUDE_CODE,
        same_directory("CLAUDE_CONFIG_DIR", "", ".claude.json"),
        server!(STRICT, "  \"type\": \"stdio\",\n"),
    )),
    shell: Some(ShellWay::Setting(ShellSetting {
        agent: "claude-code",
        settings: CLAUDE_CODE.settings,
        json: STRICT,
        keys: &["env", "CLAUDE_CODE_SHELL_PREFIX"],
        member: None,
        is_for_tasks: false,
        link: ShellLink::Prefix,
        install_hint: "Claude Code reads the setting when it starts. Its commands then run in bash, even if $SHELL is zsh.",
    })),
    conversation_variable: Some("CLAUDE_CODE_SESSION_ID"),
    wrapper: Some(WRAPPER),
    ..SupportedAgent::with_hook(CLAUDE_CODE)
};

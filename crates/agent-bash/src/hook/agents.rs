//! The agents whose hooks are supported: one table. To add an agent, add an entry.
//!
//! The timeouts in the entries are longer than the deadline of `agent-bash hook`: if a hook times
//! out, most agents run the command.

use super::agent::{Agent, HookForm, JsonEntry, SettingsPath};
use super::answer_format::AnswerFormat;
use super::install::json::{COMMENTS, STRICT};

/// Expands to the JSON text of a group of hooks for matching tools, as in Claude Code's settings.
/// The unit of `$timeout` depends on the agent. `LINE` is replaced by the hook's command line.
macro_rules! group {
    ($matcher:literal, $timeout:literal) => {
        concat!(
            "{\n  \"matcher\": \"",
            $matcher,
            "\",\n  \"hooks\": [\n    {\n      \"type\": \"command\",\n      \"command\": LINE,\n      \"timeout\": ",
            $timeout,
            "\n    }\n  ]\n}"
        )
    };
}

/// Returns the path of a settings file that is in `directory` both below the user's home and in a
/// project. `variable` can replace the directory below the user's home.
pub(in crate::hook) const fn same_directory(
    variable: &'static str,
    directory: &'static str,
    file: &'static str,
) -> SettingsPath {
    SettingsPath {
        variable,
        below_variable: "",
        below_home: directory,
        below_project: Some(directory),
        file,
        other_file: None,
    }
}

/// The list of hooks before a tool runs, in the settings of most agents.
const PRE_TOOL_USE: &[&[&str]] = &[&["hooks", "PreToolUse"]];

/// Claude Code: `PreToolUse`, as declared in its SDK (`PreToolUseHookInput`), and
/// `PreSkillShellCommand` for the commands in a skill or a slash command.
///
/// The hook never answers `allow`, because Claude Code would then not ask the user.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    program: "claude",
    tested_with: "@anthropic-ai/claude-code 2.1.332",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: false,
    settings: same_directory("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[&["hooks", "PreToolUse"], &["hooks", "PreSkillShellCommand"]],
        entry: group!("Bash|Monitor|PowerShell", 30),
    }),
    preferred: None,
    install_hint: "Claude Code lists the hook under /hooks.",
};

/// Codex: a call of `exec_command` is reported as `Bash`; `cwd` is the directory of the command.
pub const CODEX: Agent = Agent {
    name: "codex",
    program: "codex",
    tested_with: "@openai/codex 0.171.0",
    format: Some(AnswerFormat::ClaudeCode),
    can_rewrite: true,
    settings: same_directory("CODEX_HOME", ".codex", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: PRE_TOOL_USE,
        entry: group!("Bash", 30),
    }),
    preferred: None,
    install_hint: "Codex asks whether you trust the new hook; it checks no command until you confirm under /hooks.",
};

/// Any agent: the fields of the call determine the format of the answer.
pub const AUTO: Agent = Agent {
    name: "auto",
    program: "",
    tested_with: "the recorded calls of all other agents",
    format: None,
    can_rewrite: false,
    settings: same_directory("", "", ""),
    form: HookForm::Unknown,
    preferred: None,
    install_hint: "",
};

/// All agents with a hook.
pub const AGENTS: [&Agent; 15] = [
    &AUTO,
    &CLAUDE_CODE,
    // Cline ignores the exit codes of hooks, so the script writes an answer even if agent-bash
    // fails.
    &Agent {
        name: "cline",
        program: "cline",
        tested_with: "cline 3.0.65",
        format: Some(AnswerFormat::Cline),
        can_rewrite: false,
        settings: same_directory("CLINE_DIR", ".cline", "hooks/PreToolUse"),
        form: HookForm::Script(include_str!("agents/cline.sh")),
        preferred: None,
        install_hint: "Cline runs the hook before each tool of a new task.",
    },
    &CODEX,
    // Uses the event with the camel-case name, because its answer can contain a reason. If the hook
    // fails, Copilot refuses the call.
    &Agent {
        name: "copilot",
        program: "copilot",
        tested_with: "@github/copilot 1.0.102",
        format: Some(AnswerFormat::Copilot),
        can_rewrite: false,
        settings: SettingsPath {
            below_project: Some(".github"),
            ..same_directory("COPILOT_HOME", ".copilot", "hooks/agent-bash.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "1")),
            lists: &[&["hooks", "preToolUse"]],
            entry: "{\n  \"type\": \"command\",\n  \"bash\": LINE,\n  \"timeoutSec\": 30\n}",
        }),
        preferred: None,
        install_hint: "Copilot CLI reads the hook when it starts.",
    },
    // Crush runs hooks only for the calls of the top-level agent.
    &Agent {
        name: "crush",
        program: "crush",
        tested_with: "the documentation of Crush 0.96",
        format: Some(AnswerFormat::Crush),
        can_rewrite: false,
        settings: SettingsPath {
            below_project: Some(""),
            ..same_directory("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: PRE_TOOL_USE,
            entry: "{\n  \"matcher\": \"^bash$\",\n  \"command\": LINE,\n  \"timeout\": 30\n}",
        }),
        preferred: None,
        install_hint: "Crush reads the hook when it starts.",
    },
    // With `failClosed`, Cursor refuses a command whose hook fails.
    &Agent {
        name: "cursor",
        program: "cursor",
        tested_with: "the documentation of Cursor 2",
        format: Some(AnswerFormat::Cursor),
        can_rewrite: false,
        settings: same_directory("", ".cursor", "hooks.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "1")),
            lists: &[&["hooks", "beforeShellExecution"]],
            entry: "{\n  \"command\": LINE,\n  \"timeout\": 30,\n  \"failClosed\": true\n}",
        }),
        preferred: None,
        install_hint: "Cursor lists the hook under Settings > Hooks.",
    },
    &Agent {
        name: "droid",
        program: "droid",
        tested_with: "the documentation of Factory Droid 0.225",
        format: Some(AnswerFormat::ClaudeCode),
        can_rewrite: false,
        settings: same_directory("", ".factory", "settings.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: PRE_TOOL_USE,
            entry: group!("Execute", 30),
        }),
        preferred: Some(&Agent {
            name: "droid",
            program: "droid",
            tested_with: "the documentation of Factory Droid 0.225",
            format: Some(AnswerFormat::ClaudeCode),
            can_rewrite: false,
            settings: same_directory("", ".factory", "hooks.json"),
            form: HookForm::Json(JsonEntry {
                json: STRICT,
                header: None,
                lists: &[&["PreToolUse"]],
                entry: group!("Execute", 30),
            }),
            preferred: None,
            install_hint: "Droid lists the hook under /hooks.",
        }),
        install_hint: "Droid lists the hook under /hooks.",
    },
    &Agent {
        name: "gemini-cli",
        program: "gemini",
        tested_with: "@google/gemini-cli 0.61.0",
        format: Some(AnswerFormat::Gemini),
        can_rewrite: false,
        settings: SettingsPath {
            below_variable: ".gemini",
            ..same_directory("GEMINI_CLI_HOME", ".gemini", "settings.json")
        },
        form: HookForm::Json(JsonEntry {
            json: COMMENTS,
            header: None,
            lists: &[&["hooks", "BeforeTool"]],
            entry: group!("run_shell_command", 30_000),
        }),
        preferred: None,
        install_hint: "Gemini CLI lists the hook under /hooks.",
    },
    &Agent {
        name: "kimi",
        program: "kimi",
        tested_with: "@moonshot-ai/kimi-code 2.1.0",
        format: Some(AnswerFormat::ClaudeCode),
        can_rewrite: false,
        settings: SettingsPath {
            below_project: None,
            ..same_directory("KIMI_CODE_HOME", ".kimi-code", "config.toml")
        },
        form: HookForm::Toml(
            "event = \"PreToolUse\"\nmatcher = \"^Bash$\"\ncommand = LINE\ntimeout = 30\n",
        ),
        preferred: None,
        install_hint: "Kimi Code reads the hook when it starts.",
    },
    &Agent {
        name: "kiro",
        program: "kiro-cli",
        tested_with: "the documentation of Kiro CLI 3",
        format: Some(AnswerFormat::ExitCode),
        can_rewrite: false,
        settings: same_directory("", ".kiro", "hooks/agent-bash.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "\"v1\"")),
            lists: &[&["hooks"]],
            entry: "{\n  \"name\": \"agent-bash\",\n  \"trigger\": \"PreToolUse\",\n  \"matcher\": \"execute_bash|execute_cmd|shell\",\n  \"action\": {\n    \"type\": \"command\",\n    \"command\": LINE\n  },\n  \"timeout\": 30\n}",
        }),
        preferred: None,
        install_hint: "Kiro reads the hook when it starts.",
    },
    // Hooks of opencode are functions, so a plugin file calls agent-bash.
    &Agent {
        name: "opencode",
        program: "opencode",
        tested_with: "opencode-ai 1.18.33",
        format: Some(AnswerFormat::Plugin),
        can_rewrite: false,
        settings: SettingsPath {
            file: "plugins/agent-bash.js",
            other_file: None,
            ..OPENCODE_CONFIG
        },
        form: HookForm::Plugin(include_str!("agents/opencode.js")),
        preferred: None,
        install_hint: "opencode reads its plugins when it starts.",
    },
    &Agent {
        name: "pi",
        program: "pi",
        tested_with: "@mariozechner/pi-coding-agent 0.73.1",
        format: Some(AnswerFormat::Plugin),
        can_rewrite: false,
        settings: SettingsPath {
            below_project: Some(".pi"),
            ..same_directory(
                "PI_CODING_AGENT_DIR",
                ".pi/agent",
                "extensions/agent-bash.ts",
            )
        },
        form: HookForm::Plugin(include_str!("agents/pi.ts")),
        preferred: None,
        install_hint: "pi reads the hook when it starts, or after /reload.",
    },
    &Agent {
        name: "qwen",
        program: "qwen",
        tested_with: "@qwen-code/qwen-code 0.24.4",
        format: Some(AnswerFormat::ClaudeCode),
        can_rewrite: false,
        settings: same_directory("", ".qwen", "settings.json"),
        form: HookForm::Json(JsonEntry {
            json: COMMENTS,
            header: None,
            lists: PRE_TOOL_USE,
            entry: group!("^(run_shell_command|monitor)$", 30),
        }),
        preferred: None,
        install_hint: "Qwen Code lists the hook under /hooks.",
    },
    &Agent {
        name: "windsurf",
        program: "windsurf",
        tested_with: "the documentation of Windsurf's Cascade",
        format: Some(AnswerFormat::ExitCode),
        can_rewrite: false,
        settings: SettingsPath {
            below_project: Some(".windsurf"),
            ..same_directory("", ".codeium/windsurf", "hooks.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: &[&["hooks", "pre_run_command"]],
            entry: "{\n  \"command\": LINE,\n  \"show_output\": true\n}",
        }),
        preferred: None,
        install_hint: "Windsurf reads the hook when it starts.",
    },
];

/// The path of opencode's settings file.
pub(in crate::hook) const OPENCODE_CONFIG: SettingsPath = SettingsPath {
    below_variable: "opencode",
    below_project: Some(".opencode"),
    other_file: Some("opencode.jsonc"),
    ..same_directory("XDG_CONFIG_HOME", ".config/opencode", "opencode.json")
};

/// Finds an agent by its name on the command line.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}

//! The agents whose hooks are supported: one table. To add an agent, add an entry.
//!
//! The timeouts in the entries are longer than our own deadline, because most agents run a command
//! whose hook times out.

use super::agent::{Agent, HookForm, JsonEntry, SettingsPath};
use super::answer_format::AnswerFormat;
use super::install::json::{COMMENTS, STRICT};

/// Makes a group of hooks for matching tools, as in Claude Code's settings.
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

/// Returns the path of settings in a directory of the user's home, or in the directory of the same
/// name in a project.
pub(in crate::hook) const fn dot(
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

const PRE_TOOL_USE: &[&[&str]] = &[&["hooks", "PreToolUse"]];

/// Claude Code: `PreToolUse`, as declared in its SDK (`PreToolUseHookInput`), and
/// `PreSkillShellCommand` for the commands in a skill or a slash command.
///
/// The answer is never `allow`, because that would suppress the question to the user.
pub const CLAUDE_CODE: Agent = Agent {
    name: "claude-code",
    program: "claude",
    tested_with: "@anthropic-ai/claude-code 2.1.332",
    format: Some(AnswerFormat::ClaudeCode),
    rewrites: false,
    settings: dot("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: &[&["hooks", "PreToolUse"], &["hooks", "PreSkillShellCommand"]],
        entry: group!("Bash|Monitor|PowerShell", 30),
    }),
    preferred: None,
    install_hint: "Claude Code lists it under /hooks.",
};

/// Codex: a call of `exec_command` is reported as `Bash`; `cwd` is the directory of the command.
pub const CODEX: Agent = Agent {
    name: "codex",
    program: "codex",
    tested_with: "@openai/codex 0.171.0",
    format: Some(AnswerFormat::ClaudeCode),
    rewrites: true,
    settings: dot("CODEX_HOME", ".codex", "hooks.json"),
    form: HookForm::Json(JsonEntry {
        json: STRICT,
        header: None,
        lists: PRE_TOOL_USE,
        entry: group!("Bash", 30),
    }),
    preferred: None,
    install_hint: "Codex asks for your trust in a new hook, and until you have given it under /hooks no command is checked.",
};

/// Any agent: the format of the answer is determined from the call.
pub const AUTO: Agent = Agent {
    name: "auto",
    program: "",
    tested_with: "the recorded calls of all others",
    format: None,
    rewrites: false,
    settings: dot("", "", ""),
    form: HookForm::Unknown,
    preferred: None,
    install_hint: "",
};

/// All agents with a hook.
pub const AGENTS: [&Agent; 15] = [
    &AUTO,
    &CLAUDE_CODE,
    // Its CLI; the hub ignores exit codes, so its script answers even if this program does not.
    &Agent {
        name: "cline",
        program: "cline",
        tested_with: "cline 3.0.65",
        format: Some(AnswerFormat::Cline),
        rewrites: false,
        settings: dot("CLINE_DIR", ".cline", "hooks/PreToolUse"),
        form: HookForm::Script(include_str!("agents/cline.sh")),
        preferred: None,
        install_hint: "Cline runs it before each tool of a new task.",
    },
    &CODEX,
    // Its camel-case event, whose answer may carry a reason; any failure refuses the call.
    &Agent {
        name: "copilot",
        program: "copilot",
        tested_with: "@github/copilot 1.0.102",
        format: Some(AnswerFormat::Copilot),
        rewrites: false,
        settings: SettingsPath {
            below_project: Some(".github"),
            ..dot("COPILOT_HOME", ".copilot", "hooks/agent-bash.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "1")),
            lists: &[&["hooks", "preToolUse"]],
            entry: "{\n  \"type\": \"command\",\n  \"bash\": LINE,\n  \"timeoutSec\": 30\n}",
        }),
        preferred: None,
        install_hint: "Copilot CLI reads it when it starts.",
    },
    // Hooks see the calls of the top-level agent only.
    &Agent {
        name: "crush",
        program: "crush",
        tested_with: "the documentation of Crush 0.96",
        format: Some(AnswerFormat::Crush),
        rewrites: false,
        settings: SettingsPath {
            below_project: Some(""),
            ..dot("CRUSH_GLOBAL_CONFIG", ".config/crush", "crush.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: PRE_TOOL_USE,
            entry: "{\n  \"matcher\": \"^bash$\",\n  \"command\": LINE,\n  \"timeout\": 30\n}",
        }),
        preferred: None,
        install_hint: "Crush reads it when it starts.",
    },
    // `failClosed` refuses a command whose hook fails.
    &Agent {
        name: "cursor",
        program: "cursor",
        tested_with: "the documentation of Cursor 2",
        format: Some(AnswerFormat::Cursor),
        rewrites: false,
        settings: dot("", ".cursor", "hooks.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "1")),
            lists: &[&["hooks", "beforeShellExecution"]],
            entry: "{\n  \"command\": LINE,\n  \"timeout\": 30,\n  \"failClosed\": true\n}",
        }),
        preferred: None,
        install_hint: "Cursor lists it under Settings > Hooks.",
    },
    &Agent {
        name: "droid",
        program: "droid",
        tested_with: "the documentation of Factory Droid 0.225",
        format: Some(AnswerFormat::ClaudeCode),
        rewrites: false,
        settings: dot("", ".factory", "settings.json"),
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
            rewrites: false,
            settings: dot("", ".factory", "hooks.json"),
            form: HookForm::Json(JsonEntry {
                json: STRICT,
                header: None,
                lists: &[&["PreToolUse"]],
                entry: group!("Execute", 30),
            }),
            preferred: None,
            install_hint: "Droid lists it under /hooks.",
        }),
        install_hint: "Droid lists it under /hooks.",
    },
    &Agent {
        name: "gemini-cli",
        program: "gemini",
        tested_with: "@google/gemini-cli 0.61.0",
        format: Some(AnswerFormat::Gemini),
        rewrites: false,
        settings: SettingsPath {
            below_variable: ".gemini",
            ..dot("GEMINI_CLI_HOME", ".gemini", "settings.json")
        },
        form: HookForm::Json(JsonEntry {
            json: COMMENTS,
            header: None,
            lists: &[&["hooks", "BeforeTool"]],
            entry: group!("run_shell_command", 30_000),
        }),
        preferred: None,
        install_hint: "Gemini CLI lists it under /hooks.",
    },
    &Agent {
        name: "kimi",
        program: "kimi",
        tested_with: "@moonshot-ai/kimi-code 2.1.0",
        format: Some(AnswerFormat::ClaudeCode),
        rewrites: false,
        settings: SettingsPath {
            below_project: None,
            ..dot("KIMI_CODE_HOME", ".kimi-code", "config.toml")
        },
        form: HookForm::Toml(
            "event = \"PreToolUse\"\nmatcher = \"^Bash$\"\ncommand = LINE\ntimeout = 30\n",
        ),
        preferred: None,
        install_hint: "Kimi Code reads it when it starts.",
    },
    &Agent {
        name: "kiro",
        program: "kiro-cli",
        tested_with: "the documentation of Kiro CLI 3",
        format: Some(AnswerFormat::ExitCode),
        rewrites: false,
        settings: dot("", ".kiro", "hooks/agent-bash.json"),
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: Some(("version", "\"v1\"")),
            lists: &[&["hooks"]],
            entry: "{\n  \"name\": \"agent-bash\",\n  \"trigger\": \"PreToolUse\",\n  \"matcher\": \"execute_bash|execute_cmd|shell\",\n  \"action\": {\n    \"type\": \"command\",\n    \"command\": LINE\n  },\n  \"timeout\": 30\n}",
        }),
        preferred: None,
        install_hint: "Kiro reads it when it starts.",
    },
    // Its hooks are functions, so a plugin file calls this program.
    &Agent {
        name: "opencode",
        program: "opencode",
        tested_with: "opencode-ai 1.18.33",
        format: Some(AnswerFormat::Plugin),
        rewrites: false,
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
        rewrites: false,
        settings: SettingsPath {
            below_project: Some(".pi"),
            ..dot(
                "PI_CODING_AGENT_DIR",
                ".pi/agent",
                "extensions/agent-bash.ts",
            )
        },
        form: HookForm::Plugin(include_str!("agents/pi.ts")),
        preferred: None,
        install_hint: "pi reads it when it starts, or after /reload.",
    },
    &Agent {
        name: "qwen",
        program: "qwen",
        tested_with: "@qwen-code/qwen-code 0.24.4",
        format: Some(AnswerFormat::ClaudeCode),
        rewrites: false,
        settings: dot("", ".qwen", "settings.json"),
        form: HookForm::Json(JsonEntry {
            json: COMMENTS,
            header: None,
            lists: PRE_TOOL_USE,
            entry: group!("^(run_shell_command|monitor)$", 30),
        }),
        preferred: None,
        install_hint: "Qwen Code lists it under /hooks.",
    },
    &Agent {
        name: "windsurf",
        program: "windsurf",
        tested_with: "the documentation of Windsurf's Cascade",
        format: Some(AnswerFormat::ExitCode),
        rewrites: false,
        settings: SettingsPath {
            below_project: Some(".windsurf"),
            ..dot("", ".codeium/windsurf", "hooks.json")
        },
        form: HookForm::Json(JsonEntry {
            json: STRICT,
            header: None,
            lists: &[&["hooks", "pre_run_command"]],
            entry: "{\n  \"command\": LINE,\n  \"show_output\": true\n}",
        }),
        preferred: None,
        install_hint: "Windsurf reads it when it starts.",
    },
];

/// The settings of opencode.
pub(in crate::hook) const OPENCODE_CONFIG: SettingsPath = SettingsPath {
    below_variable: "opencode",
    below_project: Some(".opencode"),
    other_file: Some("opencode.jsonc"),
    ..dot("XDG_CONFIG_HOME", ".config/opencode", "opencode.json")
};

/// Finds an agent by name.
pub fn by_name(name: &str) -> Option<&'static Agent> {
    AGENTS.into_iter().find(|agent| agent.name == name)
}

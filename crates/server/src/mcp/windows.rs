//! Agents that truncate a tool's result before their model reads it, and the amount that they pass
//! on. A text within that limit is passed on with its end, its notices and its link. A longer text
//! loses its end or its middle, without a note about the missing lines. Some agents pass on an error
//! in another form, to which the limit does not apply.

use agent_bash::core::Window;

/// The amount of text that an agent passes on uncut.
struct ClientWindow {
    /// Prefix of the name in `clientInfo`.
    name: &'static str,
    window: Window,
}

/// For agents without a limit on lines.
const ANY_LINES: usize = usize::MAX;

/// The agents that pass on less than a profile may show. Claude Code is not among them: it accepts
/// the size that a tool announces (`anthropic/maxResultSizeChars`).
const CLIENT_WINDOWS: [ClientWindow; 7] = [
    // 0.171.0, `truncation_policy` of every model in its list: 10,000 tokens, counted as four bytes
    // each; removes the middle. Models that call tools through scripts print an answer as JSON, in
    // which a newline takes two bytes. The limit leaves room for these bytes if lines have at least
    // five characters on average. For unknown models, the limit of this agent is 10,000 bytes.
    ClientWindow {
        name: "codex-mcp-client",
        window: Window {
            bytes: 35_000,
            lines: ANY_LINES,
        },
    },
    // 0.61.0, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: 40,000 characters, including 42 of tags
    // around the text. The first fifth and the end remain.
    ClientWindow {
        name: "gemini-cli-mcp-client",
        window: Window {
            bytes: 39_900,
            lines: ANY_LINES,
        },
    },
    // 1.18.33, `MAX_BYTES` and `MAX_LINES` of its truncation, which keeps the beginning.
    ClientWindow {
        name: "opencode",
        window: Window {
            bytes: 51_200,
            lines: 2000,
        },
    },
    // 1.0.102: of a result above 20,480 bytes, its model gets the first 500 characters and a file.
    ClientWindow {
        name: "copilot-cli",
        window: Window {
            bytes: 20_400,
            lines: ANY_LINES,
        },
    },
    // 0.24.4: of a result above 26,268 characters, its model gets the first 2,000.
    ClientWindow {
        name: "qwen-cli-mcp-client",
        window: Window {
            bytes: 26_000,
            lines: ANY_LINES,
        },
    },
    // Droid 0.225.2: of a result above 40,000 characters, its model gets the first and a file.
    ClientWindow {
        name: "factory-cli",
        window: Window {
            bytes: 39_900,
            lines: ANY_LINES,
        },
    },
    // 2.1.0: of a result above 50,000 characters, its model gets 4,096 of the beginning and about
    // 1,000 of the end.
    ClientWindow {
        name: "kimi-code",
        window: Window {
            bytes: 49_900,
            lines: ANY_LINES,
        },
    },
];

/// Agents that pass on an error as JSON with the call's arguments: Gemini CLI 0.61.0 once, Qwen Code
/// 0.24.4 twice, so that it exceeds the limit and the model reads the beginning only.
const JSON_ERROR_CLIENTS: [&str; 2] = ["gemini-cli-mcp-client", "qwen-cli-mcp-client"];

/// True if the client with this name shows its model JSON in place of the text of an error.
pub(super) fn shows_errors_as_json(client: &str) -> bool {
    JSON_ERROR_CLIENTS
        .iter()
        .any(|known| client.starts_with(known))
}

/// Returns the amount of text that the client with this name passes on uncut; `None` for no limit.
pub(super) fn of(client: &str) -> Option<Window> {
    let client = CLIENT_WINDOWS
        .iter()
        .find(|known| client.starts_with(known.name))?;
    Some(client.window)
}

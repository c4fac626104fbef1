//! Agents that cut a tool's result before their model reads it, and what they leave whole. A text that fits keeps its end, its
//! notices and its link; one that does not loses them, or its middle, and nobody says which lines.

use agent_bash::core::Window;

/// What an agent leaves whole.
struct Client {
    /// How the name begins that it gives itself (`clientInfo`).
    name: &'static str,
    window: Window,
}

/// No limit on lines.
const ANY: usize = usize::MAX;

/// The agents that take less than a profile may show. Claude Code is not among them: it takes what a tool announces
/// (`anthropic/maxResultSizeChars`).
const CLIENTS: [Client; 3] = [
    // 0.169.0, `truncation_policy` of every model in its list: 10,000 tokens, counted as four bytes each. It takes out the
    // middle. Models that call tools by a script print an answer as JSON, where the end of a line is two bytes: there is
    // room for that in lines of five characters. Of a model that it does not know it takes 10,000 bytes.
    Client {
        name: "codex-mcp-client",
        window: Window {
            bytes: 35_000,
            lines: ANY,
        },
    },
    // 0.61.0, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: 40,000 characters, of which 42 are the tags around it. It keeps the first
    // fifth and the end.
    Client {
        name: "gemini-cli-mcp-client",
        window: Window {
            bytes: 39_900,
            lines: ANY,
        },
    },
    // 1.18.33, `MAX_BYTES` and `MAX_LINES` of its truncation, which keeps the beginning.
    Client {
        name: "opencode",
        window: Window {
            bytes: 51_200,
            lines: 2000,
        },
    },
];

/// What the client of that name leaves whole, where that is less than all.
pub(super) fn of(client: &str) -> Option<Window> {
    let client = CLIENTS
        .iter()
        .find(|known| client.starts_with(known.name))?;
    Some(client.window)
}

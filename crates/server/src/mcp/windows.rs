//! Agents that truncate a tool's result before their model reads it, and the amount that they pass
//! on. A text within that limit is passed on with its end, its notices and its link. A longer text
//! loses its end or its middle, without a note about the missing lines. Some agents pass on less of
//! an error.

use agent_bash::core::Window;

/// For agents without a limit on lines.
const ANY_LINES: usize = usize::MAX;

/// The agents that pass on less than a profile may show: the prefix of the name in `clientInfo`,
/// and the bytes and lines that the agent passes on uncut. Claude Code is not among them: it
/// accepts the size that a tool announces (`anthropic/maxResultSizeChars`).
const CLIENT_WINDOWS: [(&str, usize, usize); 8] = [
    // 0.171.0, `truncation_policy` of every model in its list: 10,000 tokens, counted as four bytes
    // each; removes the middle. Models that call tools through scripts print an answer as JSON, in
    // which a newline takes two bytes. The limit leaves room for these bytes if lines have at least
    // five characters on average. For unknown models, the limit of this agent is 10,000 bytes.
    ("codex-mcp-client", 35_000, ANY_LINES),
    // 0.61.0, `DEFAULT_TRUNCATE_TOOL_OUTPUT_THRESHOLD`: 40,000 characters, including 42 of tags
    // around the text. The first fifth and the end remain.
    ("gemini-cli-mcp-client", 39_900, ANY_LINES),
    // 1.18.33, `MAX_BYTES` and `MAX_LINES` of its truncation, which keeps the beginning.
    ("opencode", 51_200, 2000),
    // 7.7.9, as opencode.
    ("kilo", 51_200, 2000),
    // 1.0.102: of a result above 20,480 bytes, its model gets the first 500 characters and a file.
    ("copilot-cli", 20_400, ANY_LINES),
    // 0.24.4: of a result above 26,268 characters, its model gets the first 2,000.
    ("qwen-cli-mcp-client", 26_000, ANY_LINES),
    // Droid 0.225.2: of a result above 40,000 characters, its model gets the first and a file.
    ("factory-cli", 39_900, ANY_LINES),
    // 2.1.0: of a result above 50,000 characters, its model gets 4,096 of the beginning and about
    // 1,000 of the end.
    ("kimi-code", 49_900, ANY_LINES),
];

/// Prefixes of the names in `clientInfo`, and the longest error in bytes that the agent passes on
/// as it is.
const ERROR_LIMITS: [(&str, usize); 3] = [
    // 2.1.332: removes the middle of an error above 10,000 characters.
    ("claude-code", 10_000),
    // 0.61.0: passes on JSON with the call's arguments and the answer.
    ("gemini-cli-mcp-client", 0),
    // 0.24.4: the same, with the answer twice. Of a long one, its model reads the beginning only.
    ("qwen-cli-mcp-client", 0),
];

/// Returns the length in bytes up to which the client with this name passes on an error as it is;
/// `None` if errors are as other answers.
pub(super) fn error_limit(client: &str) -> Option<usize> {
    let mut known = ERROR_LIMITS.into_iter();
    let (_, limit) = known.find(|(name, _)| client.starts_with(name))?;
    Some(limit)
}

/// Returns the amount of text that the client with this name passes on uncut; `None` for no limit.
pub(super) fn of(client: &str) -> Option<Window> {
    let mut known = CLIENT_WINDOWS.into_iter();
    let (_, bytes, lines) = known.find(|(name, ..)| client.starts_with(name))?;
    Some(Window { bytes, lines })
}

//! The `data` of `check` and `explain`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckData {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: VerdictData,
    /// The functions and aliases of the shell, and the aliases of git, that the script uses.
    pub definitions: Vec<DefinitionData>,
}

/// A definition that a script uses, and that its shell has before the script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefinitionData {
    /// `alias`, `function`, or `git alias`.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The alias's value, or the function's definition; cut if it is long.
    pub text: String,
}

/// Data of `explain`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainData {
    /// The verdict, as of `check`.
    pub verdict: VerdictData,
    /// The verdict of each check.
    pub answers: Vec<CheckAnswerData>,
    /// The verdict of each safety rule.
    pub rules: Vec<RuleAnswerData>,
    /// The functions and aliases of the shell, and the aliases of git, that the script uses.
    pub definitions: Vec<DefinitionData>,
    /// The commands of the script, also those within these definitions.
    pub commands: Vec<ReadCommandData>,
    /// True if both parsers found the same commands.
    pub readers_agree: bool,
    /// Remarks on effects and parts of the script that the verdict does not cover.
    pub remarks: Vec<String>,
    /// The script.
    pub script: String,
    /// All of this as text, as `agent-bash explain` prints it.
    pub text: String,
}

/// A verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictData {
    /// `allow`, `block` or `unreadable`.
    pub verdict: String,
    /// The check that decided: `safety`, `safemode`, `interceptor`. This field and the fields below
    /// are `null` if the script is allowed.
    pub check: Option<String>,
    /// The id of the rule.
    pub rule: Option<String>,
    /// The group of a safety rule.
    pub group: Option<String>,
    /// The message to show.
    pub message: Option<String>,
    /// An alternative that would be allowed, if there is one.
    pub instead: Option<String>,
    /// The offending part of the script, as byte offsets `[from, to]`.
    pub span: Option<[usize; 2]>,
    /// For the interceptor: the tool to use instead.
    pub suggested_tool: Option<String>,
}

/// The verdict of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckAnswerData {
    /// `safety`, `safemode` or `interceptor`.
    pub check: String,
    /// The verdict.
    pub verdict: VerdictData,
}

/// The verdict of a safety rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleAnswerData {
    /// The id of the rule.
    pub rule: String,
    /// True if the settings enable the rule.
    pub is_enabled: bool,
    /// The part of the script that the rule blocks; `null` if the rule allows the script.
    pub blocks: Option<[usize; 2]>,
}

/// A command as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadCommandData {
    /// The resolved words on one line; the redirections of a command without words.
    pub text: String,
    /// The position in the script, as byte offsets `[from, to]`.
    pub span: [usize; 2],
    /// The working directory, if it differs from the script's.
    pub cwd: Option<String>,
    /// The programs, functions and aliases that start the command, outermost first.
    pub through: Vec<String>,
    /// The parts that are unknown until the command runs.
    pub unknown: Vec<String>,
}

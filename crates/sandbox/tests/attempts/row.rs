//! The table of attempts: `rows/*.toml`.

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The groups and their tables.
const TABLES: [(&str, &str); 9] = [
    ("writes", include_str!("rows/writes.toml")),
    ("protected", include_str!("rows/protected.toml")),
    ("secrets", include_str!("rows/secrets.toml")),
    ("network", include_str!("rows/network.toml")),
    ("proxy", include_str!("rows/proxy.toml")),
    ("placeholders", include_str!("rows/placeholders.toml")),
    ("sockets", include_str!("rows/sockets.toml")),
    ("processes", include_str!("rows/processes.toml")),
    ("work", include_str!("rows/work.toml")),
];

/// One row. All texts are for bash, with what `prelude.sh` defines.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// The table of the row.
    #[serde(default)]
    pub(crate) group: String,
    pub(crate) name: String,
    /// The script that runs in the sandbox.
    pub(crate) tried: String,
    /// The test whether the attempt succeeded; runs outside of the sandbox after the call.
    pub(crate) happened: String,
    /// Prepares the stage; runs outside, as root.
    #[serde(default)]
    pub(crate) before: String,
    /// The script of another process during the call; runs outside, as root.
    #[serde(default)]
    pub(crate) during: String,
    /// Removes what outlives the stage.
    #[serde(default)]
    pub(crate) after: String,
    /// The background script of an earlier call, in a sandbox that may write the workspace and has
    /// a loopback where possible.
    #[serde(default)]
    pub(crate) earlier: String,
    /// A program that starts the sandbox, as words.
    #[serde(default)]
    pub(crate) with: String,
    /// A variable of the program that is sandboxed, as `NAME=VALUE`.
    #[serde(default)]
    pub(crate) env: String,
    /// True if a call of the full tier sees the copy `$TMPDIR/copy/config` in place of the
    /// workspace's `.git/config`.
    #[serde(default)]
    pub(crate) git_copy: bool,
    /// True for a test that the sandbox is refused: nothing must run.
    #[serde(default)]
    pub(crate) refused: bool,
    /// The part of the promise. Where the sandbox reports this part as missing, the attempt
    /// succeeds, and ordinary work (`works`) fails.
    pub(crate) part: Option<String>,
    /// Why the attempt succeeds in both tiers.
    pub(crate) hole: Option<String>,
    /// The user with a known hole, if not all users. A host that is root gives up capabilities that
    /// its other processes have, and may therefore not act on them at all.
    pub(crate) hole_for: Option<User>,
    /// True for ordinary work, which must succeed everywhere.
    #[serde(default)]
    pub(crate) works: bool,
    /// Why the full tier alone stops the attempt, or lets the work succeed.
    pub(crate) full_only: Option<String>,
    #[serde(default = "workspace_write")]
    pub(crate) level: String,
    #[serde(default = "off")]
    pub(crate) network: String,
    /// The only user for whom the attempt is made.
    pub(crate) users: Option<User>,
    /// The requirements: a command that tests each, and the missing feature if it fails.
    #[serde(default)]
    pub(crate) needs: BTreeMap<String, String>,
    /// True if the effect comes after the call, so that the test waits for it.
    #[serde(default)]
    pub(crate) delayed: bool,
}

/// The user of the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum User {
    Root,
    /// A user without capabilities, and with an entry in every user database.
    Unprivileged,
}

impl User {
    pub(crate) fn id(self) -> u32 {
        match self {
            Self::Root => 0,
            Self::Unprivileged => 1,
        }
    }
}

impl Row {
    /// True if this user's attempt succeeds in both tiers.
    pub(crate) fn is_hole(&self, user: User) -> bool {
        self.hole.is_some() && self.hole_for.is_none_or(|only| only == user)
    }

    pub(crate) fn title(&self) -> String {
        format!("{}: {}", self.group, self.name)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    attempt: Vec<Row>,
}

/// All rows.
pub(crate) fn table() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (group, text) in TABLES {
        let table: Table = toml::from_str(text).with_context(|| format!("rows/{group}.toml"))?;
        rows.extend(table.attempt.into_iter().map(|row| Row {
            group: group.to_owned(),
            ..row
        }));
    }
    let titles: BTreeSet<_> = rows.iter().map(Row::title).collect();
    ensure!(titles.len() == rows.len(), "two rows have the same name");
    Ok(rows)
}

fn workspace_write() -> String {
    "workspace_write".to_owned()
}

fn off() -> String {
    "off".to_owned()
}

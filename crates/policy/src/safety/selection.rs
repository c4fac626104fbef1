//! The selection of rules: groups, and single rules switched on or off by id.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Rule, rules};

/// A group of safety rules that is switched as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Blind staging, forced pushes, dangerous removals. On by default.
    Core,
    /// The same inside programs in other languages given on the command line. On by default.
    InlineCode,
    /// Commands that discard work. Off by default.
    DataLoss,
    /// Running code that was downloaded or cannot be read. Off by default.
    RemoteCode,
    /// Accidents that cost the machine or a home: disks, modes, start-up files, processes. On by default.
    System,
    /// Deleting the data of services: volumes, infrastructure, databases, buckets. Off by default.
    Services,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 6] = [
        Group::Core,
        Group::InlineCode,
        Group::DataLoss,
        Group::RemoteCode,
        Group::System,
        Group::Services,
    ];

    /// Its name in settings and verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Group::Core => "core",
            Group::InlineCode => "inline_code",
            Group::DataLoss => "data_loss",
            Group::RemoteCode => "remote_code",
            Group::System => "system",
            Group::Services => "services",
        }
    }

    /// Whether it is on by default.
    pub fn is_default(self) -> bool {
        matches!(self, Group::Core | Group::InlineCode | Group::System)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// The name of neither a rule nor a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no safety rule or group is called `{name}`; there are {known}")]
pub struct UnknownRule {
    /// The name that was given.
    pub name: String,
    /// The existing names.
    pub known: String,
}

fn unknown(name: &str) -> UnknownRule {
    let groups = Group::ALL.iter().map(|group| group.name());
    let known: Vec<&str> = groups.chain(rules().iter().map(|rule| rule.id)).collect();
    UnknownRule {
        name: name.to_owned(),
        known: known.join(", "),
    }
}

impl FromStr for Group {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Group::ALL
            .into_iter()
            .find(|group| group.name() == name)
            .ok_or_else(|| unknown(name))
    }
}

/// The selected rules. By default those of the default groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSelection {
    groups: BTreeSet<Group>,
    on: BTreeSet<String>,
    off: BTreeSet<String>,
}

impl Default for RuleSelection {
    fn default() -> Self {
        RuleSelection::of(Group::ALL.into_iter().filter(|group| group.is_default()))
    }
}

impl RuleSelection {
    /// Exactly these groups.
    pub fn of(groups: impl IntoIterator<Item = Group>) -> Self {
        RuleSelection {
            groups: groups.into_iter().collect(),
            on: BTreeSet::new(),
            off: BTreeSet::new(),
        }
    }

    /// No rules.
    pub fn none() -> Self {
        RuleSelection::of([])
    }

    /// Every rule.
    pub fn all() -> Self {
        RuleSelection::of(Group::ALL)
    }

    /// Switches a rule or a whole group on or off by name.
    ///
    /// # Errors
    /// [`UnknownRule`] if there is no rule or group with that name.
    pub fn switch(&mut self, name: &str, on: bool) -> Result<(), UnknownRule> {
        if let Ok(group) = name.parse::<Group>() {
            if on {
                self.groups.insert(group);
            } else {
                self.groups.remove(&group);
            }
            return Ok(());
        }
        let rule = rules()
            .iter()
            .find(|rule| rule.id == name)
            .ok_or_else(|| unknown(name))?;
        let (into, out_of) = if on {
            (&mut self.on, &mut self.off)
        } else {
            (&mut self.off, &mut self.on)
        };
        into.insert(rule.id.to_owned());
        out_of.remove(rule.id);
        Ok(())
    }

    /// Whether a rule is selected: its own switch takes precedence over its group's.
    pub fn includes(&self, rule: &Rule) -> bool {
        self.on.contains(rule.id)
            || (self.groups.contains(&rule.group) && !self.off.contains(rule.id))
    }

    /// The groups that are on.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        self.groups.iter().copied()
    }
}

//! The selection of rules: groups, and single rules switched on or off by id.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::rule::Rule;
use super::rules;
use super::user_rules::{UserRule, UserRuleVerdict};
use crate::Group;

/// The error for a name that is neither a rule nor a group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no safety rule or group is called `{name}`; there are {known}")]
pub struct UnknownRule {
    /// The unknown name.
    pub name: String,
    /// The existing names.
    pub known: String,
}

/// Returns the error for a name, with the list of all names.
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

/// The selected rules. By default the rules of the default groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSelection {
    groups: BTreeSet<Group>,
    /// The ids of rules that are on although their group may be off.
    on: BTreeSet<String>,
    /// The ids of rules that are off although their group may be on.
    off: BTreeSet<String>,
    /// The rules from settings.
    user_rules: Vec<UserRule>,
}

impl Default for RuleSelection {
    fn default() -> Self {
        RuleSelection::of(Group::ALL.into_iter().filter(|group| group.is_default()))
    }
}

impl RuleSelection {
    /// Returns a selection of exactly these groups.
    pub fn of(groups: impl IntoIterator<Item = Group>) -> Self {
        RuleSelection {
            groups: groups.into_iter().collect(),
            on: BTreeSet::new(),
            off: BTreeSet::new(),
            user_rules: Vec::new(),
        }
    }

    /// Adds rules from settings.
    pub fn add_user_rules(&mut self, rules: impl IntoIterator<Item = UserRule>) {
        self.user_rules.extend(rules);
    }

    /// Returns the rules from settings that have this effect.
    pub(super) fn with_verdict(&self, verdict: UserRuleVerdict) -> impl Iterator<Item = &UserRule> {
        self.user_rules
            .iter()
            .filter(move |rule| rule.verdict == verdict)
    }

    /// Selects no rules.
    pub fn none() -> Self {
        RuleSelection::of([])
    }

    /// Selects every rule.
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
        let (added_to, removed_from) = if on {
            (&mut self.on, &mut self.off)
        } else {
            (&mut self.off, &mut self.on)
        };
        added_to.insert(rule.id.to_owned());
        removed_from.remove(rule.id);
        Ok(())
    }

    /// True if a rule is selected: its own switch takes precedence over its group's.
    pub fn includes(&self, rule: &Rule) -> bool {
        self.on.contains(rule.id)
            || (self.groups.contains(&rule.group) && !self.off.contains(rule.id))
    }

    /// Returns the groups that are on.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        self.groups.iter().copied()
    }
}

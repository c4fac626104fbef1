//! The groups of safety rules.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A group of safety rules that is switched as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Blind staging, forced pushes, dangerous removals. On by default.
    Core,
    /// The core rules for programs in other languages given on the command line. On by default.
    InlineCode,
    /// Commands that discard work. Off by default.
    DataLoss,
    /// Running code that was downloaded or cannot be read. Off by default.
    RemoteCode,
    /// Accidents that cost the machine or a home: disks, modes, start-up files, processes. On by
    /// default.
    System,
    /// Deleting the data of services: volumes, databases, queues. Off by default.
    Services,
    /// Deleting infrastructure: clusters, machines, buckets, repositories. Off by default.
    Cloud,
    /// Removing packages that are not named one by one, or withdrawing published packages. Off by
    /// default.
    Packages,
    /// Changing a machine's firewall, network, services and accounts. Off by default.
    Machine,
}

/// The names of the groups, in the order of the enum.
const NAMES: [&str; 9] = [
    "core", "inline_code", "data_loss", "remote_code", "system", "services", "cloud", "packages",
    "machine",
];

impl Group {
    /// All groups.
    pub const ALL: [Group; 9] = [
        Group::Core,
        Group::InlineCode,
        Group::DataLoss,
        Group::RemoteCode,
        Group::System,
        Group::Services,
        Group::Cloud,
        Group::Packages,
        Group::Machine,
    ];

    /// Returns the group's name in settings and verdicts.
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }

    /// True if the group is on by default.
    pub fn is_default(self) -> bool {
        matches!(self, Group::Core | Group::InlineCode | Group::System)
    }
}

impl fmt::Display for Group {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_serialised_groups() {
        for group in Group::ALL {
            let serialised = serde_json::to_string(&group).unwrap();
            assert_eq!(serialised, format!("{:?}", group.name()));
        }
    }
}

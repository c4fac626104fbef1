//! Why several change sets were not undone or redone together.

use agent_bash_changes::GroupConflicts;
use agent_bash_core::changes::changed_by_text;
use agent_bash_core::visible::one_line;
use std::fmt;

/// Maximum number of lines of a refusal.
const MAX_LINES: usize = 20;

/// Why several change sets were not undone or redone. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupRefused {
    /// True for a redo.
    pub again: bool,
    /// The conflicts and the blocked change sets.
    pub obstacles: GroupConflicts,
    /// For each change set and file of [`GroupConflicts::conflicts`]: the command that changed the
    /// file, if known.
    pub(super) by: Vec<Vec<Option<String>>>,
}

impl fmt::Display for GroupRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = obstacle_lines(&self.obstacles, &self.by);
        let inverted = if self.again { "redone" } else { "undone" };
        write!(f, "[Nothing was {inverted}. In the way:]")?;
        for line in lines.iter().take(MAX_LINES) {
            write!(f, "\n{line}")?;
        }
        match lines.len().saturating_sub(MAX_LINES) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

/// Returns a line for each file in conflict, and for each change set that cannot be inverted.
fn obstacle_lines(obstacles: &GroupConflicts, by: &[Vec<Option<String>>]) -> Vec<String> {
    let mut lines = Vec::new();
    for (set_index, (id, files)) in obstacles.conflicts.iter().enumerate() {
        for (file_index, file) in files.iter().enumerate() {
            let command = by
                .get(set_index)
                .and_then(|by| by.get(file_index)?.as_deref());
            let text = match command {
                Some(command) => changed_by_text(file, command),
                None => format!("{} was changed since", one_line(&file.path)),
            };
            lines.push(format!("changes {id}: {text}"));
        }
    }
    let blocked = obstacles.blocked.iter();
    lines.extend(blocked.map(|(_, why)| why.clone()));
    lines
}

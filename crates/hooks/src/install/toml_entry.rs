//! Edits the entry of agent-bash in a TOML file: a table at the end.

use super::bad_file::BadFile;
use toml::{Table, Value};

/// The table that agent-bash writes: an item of a list of tables, or a table in a table.
pub(super) struct TomlEntry {
    /// The name of the agent that reads the file.
    pub(super) agent: &'static str,
    /// The table's header.
    pub(super) header: &'static str,
    /// The names from the root to the list, or to the table.
    pub(super) keys: &'static [&'static str],
    /// The expected kind of the value at `keys`, for an error.
    pub(super) expected: &'static str,
    /// True if agent-bash wrote the table.
    pub(super) is_ours: Box<dyn Fn(&Value) -> bool>,
}

impl TomlEntry {
    /// Returns the file's text with the entry, which replaces an entry of an earlier version.
    pub(super) fn with(&self, before: Option<&str>, lines: &str) -> Result<String, BadFile> {
        let entry = format!("{}\n{lines}", self.header);
        let Some(before) = before else {
            return Ok(entry);
        };
        if before.contains(&entry) && self.parse(before).is_ok() {
            return Ok(before.to_owned());
        }
        let Some(cleared) = self.without(before)? else {
            return Ok(entry);
        };
        if let Some(value) = users_entry(&self.parse(&cleared)?, self.keys) {
            return Err(BadFile::AlreadySet {
                path: self.keys.join("."),
                value: value.to_string(),
            });
        }
        // The new text ends with a line break only if the old text does, so that the removal of the
        // entry restores the old text.
        let after = match cleared.strip_suffix('\n') {
            Some(_) => format!("{cleared}\n{entry}"),
            None if cleared.is_empty() => entry.trim_end().to_owned(),
            None => format!("{cleared}\n\n{}", entry.trim_end()),
        };
        self.parse(&after).map_err(|_| self.other_shape())?;
        Ok(after)
    }

    /// Returns the file's text without the entry. `None` if the file did not exist before.
    pub(super) fn without(&self, before: &str) -> Result<Option<String>, BadFile> {
        let mut expected = self.parse(before)?;
        let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
        while let Some((start, end)) = self.find(&lines) {
            lines.drain(start..end);
            // Also removes the blank line that the installation wrote before the entry.
            if start > 0 && lines[start - 1].trim().is_empty() {
                lines.remove(start - 1);
            }
            if end > lines.len() && !before.ends_with('\n') {
                let last = lines.pop().unwrap_or_default();
                lines.push(last.trim_end_matches('\n'));
            }
        }
        if lines.is_empty() && !before.is_empty() {
            return Ok(before.strip_suffix('\n').is_none().then(String::new));
        }
        let after: String = lines.concat();
        let mut found = self.parse(&after)?;
        for table in [&mut expected, &mut found] {
            self.remove(table, self.keys);
        }
        if found != expected {
            return Err(self.other_shape());
        }
        Ok(Some(after))
    }

    /// Returns our entry. `None` if the text has no entry of ours.
    pub(super) fn own_entry(&self, text: &str) -> Result<Option<Value>, BadFile> {
        let table = self.parse(text)?;
        let entry = match value_at(&table, self.keys) {
            Some(Value::Array(items)) => items.iter().find(|item| (self.is_ours)(item)),
            entry => entry.filter(|entry| (self.is_ours)(entry)),
        };
        Ok(entry.cloned())
    }

    /// Removes our entries, and the tables and lists that are empty without them.
    fn remove(&self, table: &mut Table, keys: &[&str]) {
        let Some((name, inner)) = keys.split_first() else {
            return;
        };
        let Some(value) = table.get_mut(*name) else {
            return;
        };
        let is_removed = match value {
            Value::Array(items) if inner.is_empty() => {
                items.retain(|item| !(self.is_ours)(item));
                items.is_empty()
            }
            Value::Table(table) if !inner.is_empty() => {
                self.remove(table, inner);
                table.is_empty()
            }
            value => inner.is_empty() && (self.is_ours)(value),
        };
        if is_removed {
            table.remove(*name);
        }
    }

    /// Returns the range of the entry's lines, from its header to its last key, with the tables
    /// below it.
    fn find(&self, lines: &[&str]) -> Option<(usize, usize)> {
        let below = format!("[{}.", self.keys.join("."));
        let starts = (0..lines.len()).filter(|index| lines[*index].trim() == self.header);
        starts.into_iter().find_map(|start| {
            let next = lines[start + 1..]
                .iter()
                .position(|line| line.starts_with('[') && !line.starts_with(&below));
            let mut end = next.map_or(lines.len(), |next| start + 1 + next);
            let is_key = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
            while end > start + 1 && !is_key(lines[end - 1]) {
                end -= 1;
            }
            let table: Table = lines[start..end].concat().parse().ok()?;
            let entry = match value_at(&table, self.keys)? {
                Value::Array(items) => items.first()?,
                entry => entry,
            };
            (self.is_ours)(entry).then_some((start, end))
        })
    }

    fn other_shape(&self) -> BadFile {
        BadFile::OtherShape {
            path: self.keys.join("."),
            expected: self.expected,
        }
    }

    fn parse(&self, text: &str) -> Result<Table, BadFile> {
        text.parse()
            .map_err(|error: toml::de::Error| BadFile::NotToml {
                agent: self.agent,
                error: error.to_string(),
            })
    }
}

/// Returns a table of the user's in the place of our entry: the table at `keys`, or the item of the
/// list at `keys` that has our name.
fn users_entry<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    match value_at(table, keys)? {
        Value::Array(items) => items.iter().find(|item| {
            let name = item.get("name").and_then(Value::as_str);
            name == Some("agent-bash")
        }),
        value => value.is_table().then_some(value),
    }
}

/// Returns the value at a path of names.
fn value_at<'a>(table: &'a Table, keys: &[&str]) -> Option<&'a Value> {
    let (name, inner) = keys.split_first()?;
    let value = table.get(*name)?;
    if inner.is_empty() {
        return Some(value);
    }
    value_at(value.as_table()?, inner)
}

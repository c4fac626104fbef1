//! Edits a member of nested objects in a JSON file.

use super::bad_file::BadFile;
use super::json::{
    JsonContainer, indented, levels, member, nested, removable, root, without_range,
};
use crate::json_form::JsonForm;
use jsonc_parser::common::Ranged;
use serde_json::Value;
use std::ops::Range;

/// A member of nested objects, and the form of the values that agent-bash writes.
pub(super) struct JsonMember<'a> {
    /// The name of the agent that reads the file.
    pub(super) agent: &'static str,
    /// The form of the file.
    pub(super) json: JsonForm,
    /// The member names from the root to the member.
    pub(super) keys: &'static [&'static str],
    /// Returns the JSON text of the value for the path of agent-bash or of a link to agent-bash.
    pub(super) to_json: &'a dyn Fn(&str) -> String,
    /// Returns the program of a value that `to_json` wrote. `None` for another value.
    pub(super) program_of: &'a dyn Fn(&Value) -> Option<String>,
}

/// The member's current value.
struct FoundValue {
    /// The program, if the value is ours.
    program: Option<String>,
    /// The value, as JSON.
    value: String,
    /// Ranges that may be removed, largest first: enclosing objects that contain only this member,
    /// then the member.
    ranges: Vec<Range<usize>>,
}

impl JsonMember<'_> {
    /// Returns the text with the member for `program`. Replaces a value that agent-bash wrote
    /// earlier.
    pub(super) fn with(&self, before: Option<&str>, program: &str) -> Result<String, BadFile> {
        let Some(before) = before else {
            return Ok(self.fresh(program));
        };
        match self.find(before)? {
            Some(found) if found.program.as_deref() == Some(program) => {
                return Ok(before.to_owned());
            }
            Some(FoundValue {
                program: None,
                value,
                ..
            }) => {
                let path = self.keys.join(".");
                return Err(BadFile::AlreadySet { path, value });
            }
            _ => {}
        }
        match self.without(before)? {
            Some(cleared) => self.insert(&cleared, program),
            None => Ok(self.fresh(program)),
        }
    }

    /// Returns the text without our value. `None` if the file is to be removed.
    pub(super) fn without(&self, before: &str) -> Result<Option<String>, BadFile> {
        let Some(FoundValue {
            program: Some(program),
            ranges,
            ..
        }) = self.find(before)?
        else {
            return Ok(Some(before.to_owned()));
        };
        if self.is_fresh(before, &program) {
            return Ok(None);
        }
        let insert = |text: &str| self.insert(text, &program);
        Ok(Some(without_range(before, ranges, insert)))
    }

    /// Returns the program in our value. `None` if there is no value of ours.
    pub(super) fn program(&self, text: &str) -> Result<Option<String>, BadFile> {
        Ok(self.find(text)?.and_then(|found| found.program))
    }

    /// Returns the member's current value; `None` if the text does not have the member.
    fn find(&self, text: &str) -> Result<Option<FoundValue>, BadFile> {
        let root = root(self.agent, self.json, text)?;
        let inner = self.keys.len() - 1;
        let levels = levels(&self.keys[..inner], &root)?;
        let found = levels
            .get(inner)
            .and_then(|deepest| member(deepest.object, self.keys[inner]));
        let Some((index, value)) = found else {
            return Ok(None);
        };
        let value = &text[value.start()..value.end()];
        let parsed: Option<Value> = serde_json::from_str(value).ok();
        Ok(Some(FoundValue {
            program: parsed.as_ref().and_then(self.program_of),
            value: parsed.map_or_else(|| value.to_owned(), |parsed| parsed.to_string()),
            ranges: removable(text, None, &levels, index),
        }))
    }

    /// Inserts the member at the end, creating enclosing objects as needed.
    fn insert(&self, text: &str, program: &str) -> Result<String, BadFile> {
        let root = root(self.agent, self.json, text)?;
        let levels = levels(&self.keys[..self.keys.len() - 1], &root)?;
        let depth = levels.len();
        let Some(deepest) = levels.last() else {
            return Ok(text.to_owned());
        };
        let item = nested(&self.keys[depth - 1..], &(self.to_json)(program));
        Ok(JsonContainer::object(deepest.object).with(text, depth, &item))
    }

    /// True if agent-bash created the file, and at most the agent's own start has changed it.
    fn is_fresh(&self, text: &str, program: &str) -> bool {
        let fresh = self.fresh(program);
        let started = self
            .json
            .inserted_at_start
            .map(|inserted| fresh.replacen('{', &format!("{{{inserted}"), 1));
        text == fresh || started.is_some_and(|started| text == started)
    }

    /// Returns a text that contains only the member.
    fn fresh(&self, program: &str) -> String {
        let item = indented(&nested(self.keys, &(self.to_json)(program)));
        format!("{{\n{item}\n}}\n")
    }
}

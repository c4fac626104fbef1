//! Edits a JSON text by a single insertion or removal, and keeps all other bytes. The parser
//! reports the positions.
//!
//! An insertion is one contiguous text after all other items of its container, so that removing it
//! restores the original.

use super::bad_file::BadFile;
use crate::json_form::JsonForm;
use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;

/// Default indentation, if the text does not show one.
const DEFAULT_INDENT: &str = "  ";

/// An object or an array, as positions in the text.
#[derive(Debug, Clone)]
pub(super) struct JsonContainer {
    /// The position after the opening bracket.
    pub(super) open: usize,
    /// The container's items, including the names of an object's members.
    pub(super) items: Vec<Range<usize>>,
}

/// Parses a text as strictly as the agent does. `None` for an empty text.
fn parse(text: &str, form: JsonForm) -> Result<Option<Value<'_>>, String> {
    let options = ParseOptions {
        allow_comments: form.comments,
        allow_loose_object_property_names: false,
        allow_trailing_commas: form.trailing_commas,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    parsed
        .map(|parsed| parsed.value)
        .map_err(|error| error.to_string())
}

/// Parses the settings of `agent`, and returns their root object.
pub(super) fn root<'a>(
    agent: &'static str,
    form: JsonForm,
    text: &'a str,
) -> Result<Object<'a>, BadFile> {
    let not_json = |error: String| BadFile::NotJson { agent, error };
    match parse(text, form).map_err(not_json)? {
        Some(Value::Object(object)) => Ok(object),
        Some(_) => Err(not_json("it is not an object".to_owned())),
        None => Err(not_json("it is empty".to_owned())),
    }
}

/// Returns the member with this name, and its index. If the name is duplicate, returns the last
/// such member, as JavaScript does.
pub(super) fn member<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<(usize, &'b Value<'a>)> {
    let all = object.properties.iter().enumerate();
    all.rev()
        .find(|(_, property)| property.name.as_str() == name)
        .map(|(index, property)| (index, &property.value))
}

/// An object on the path to a value.
pub(super) struct JsonLevel<'a, 'b> {
    pub(super) object: &'b Object<'a>,
    /// The index of `object` in the enclosing object.
    pub(super) index: Option<usize>,
}

/// Returns the root and the nested objects with these names, as far as they exist.
pub(super) fn levels<'a, 'b>(
    names: &[&str],
    root: &'b Object<'a>,
) -> Result<Vec<JsonLevel<'a, 'b>>, BadFile> {
    let mut object = root;
    let mut levels = vec![JsonLevel {
        object,
        index: None,
    }];
    for (depth, name) in names.iter().enumerate() {
        let Some((index, value)) = member(object, name) else {
            break;
        };
        object = value.as_object().ok_or_else(|| BadFile::OtherShape {
            path: names[..=depth].join("."),
            expected: "an object",
        })?;
        let index = Some(index);
        levels.push(JsonLevel { object, index });
    }
    Ok(levels)
}

/// Returns the ranges that may be removed with an item, largest first. The last range is the item;
/// the others are containers that contain nothing else. `inner`: the array that contains the item,
/// and the item's index in it. `index` is an index in the deepest object of `levels`: of that
/// array, or of the item if `inner` is `None`.
pub(super) fn removable(
    text: &str,
    inner: Option<(JsonContainer, usize)>,
    levels: &[JsonLevel<'_, '_>],
    index: usize,
) -> Vec<Range<usize>> {
    let mut index = Some(index);
    let mut containers: Vec<(JsonContainer, usize)> = inner.into_iter().collect();
    for level in levels.iter().rev() {
        let Some(member_index) = index else { break };
        containers.push((JsonContainer::object(level.object), member_index));
        index = level.index;
    }
    let mut ranges = Vec::new();
    for (container, index) in containers {
        ranges.push(with_comma(text, &container, container.range_of(index)));
        if container.items.len() > 1 {
            break;
        }
    }
    ranges.reverse();
    ranges
}

/// Returns the range with the comma after the item, if the item is the container's only item.
fn with_comma(text: &str, container: &JsonContainer, range: Range<usize>) -> Range<usize> {
    let rest = text[range.end..].trim_start();
    if container.items.len() == 1 && rest.starts_with(',') {
        return range.start..text.len() - rest.len() + 1;
    }
    range
}

/// Removes the largest range that `insert` would write again in the same way: this keeps objects
/// that the user wrote. If `insert` would write no range in the same way, because the file was
/// reformatted, removes the largest range.
pub(super) fn without_range(
    text: &str,
    ranges: Vec<Range<usize>>,
    insert: impl Fn(&str) -> Result<String, BadFile>,
) -> String {
    let candidates = ranges.into_iter().map(|range| {
        let mut without = text.to_owned();
        without.replace_range(range, "");
        without
    });
    let mut candidates: Vec<String> = candidates.collect();
    let is_inverse = |without: &String| insert(without).is_ok_and(|restored| restored == text);
    let best = candidates.iter().position(is_inverse).unwrap_or(0);
    candidates.swap_remove(best)
}

/// Returns the text of nested objects: `["a", "b"]` and `1` give `"a": {"b": 1}`.
pub(super) fn nested(names: &[&str], value: &str) -> String {
    match names {
        [] => value.to_owned(),
        [name] => format!("\"{name}\": {value}"),
        [name, inner @ ..] => format!("\"{name}\": {{\n{}\n}}", indented(&nested(inner, value))),
    }
}

/// Returns the lines, each indented by one level.
pub(super) fn indented(lines: &str) -> String {
    let lines: Vec<String> = lines.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

impl JsonContainer {
    pub(super) fn object(object: &Object<'_>) -> Self {
        let items = object.properties.iter();
        Self::new(object, items.map(|item| item.start()..item.end()).collect())
    }

    pub(super) fn array(array: &Array<'_>) -> Self {
        let items = array.elements.iter();
        Self::new(array, items.map(|item| item.start()..item.end()).collect())
    }

    fn new(node: &impl Ranged, items: Vec<Range<usize>>) -> Self {
        Self {
            open: node.start() + 1,
            items,
        }
    }

    /// Returns the text with an item appended to the container, which is at `depth`. `lines` is the
    /// item, indented as at top level. In an empty container, the item follows the bracket without
    /// a line break, unlike in a container that agent-bash writes. So [`without_range`] keeps the
    /// user's empty container.
    pub(super) fn with(&self, text: &str, depth: usize, lines: &str) -> String {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let (position, mut inserted) = match self.items.last() {
            Some(last) => (last.end, ",".to_owned()),
            None => (self.open, String::new()),
        };
        let indent = indent(text);
        for (index, line) in lines.lines().enumerate() {
            let inner = line.trim_start_matches(' ');
            let levels = depth + (line.len() - inner.len()) / DEFAULT_INDENT.len();
            if index > 0 || !self.items.is_empty() {
                inserted.push_str(newline);
                inserted.push_str(&indent.repeat(levels));
            }
            inserted.push_str(inner);
        }
        let (before, after) = text.split_at(position);
        [before, &inserted, after].concat()
    }

    /// Returns the range to remove with an item, including its separating comma and white space.
    pub(super) fn range_of(&self, index: usize) -> Range<usize> {
        let item = &self.items[index];
        match (index.checked_sub(1), self.items.get(index + 1)) {
            (Some(previous), _) => self.items[previous].end..item.end,
            (None, Some(next)) => item.start..next.start,
            (None, None) => self.open..item.end,
        }
    }
}

/// Returns the indentation of the text's first member.
fn indent(text: &str) -> String {
    let first = text.lines().skip(1).find(|line| !line.trim().is_empty());
    let blanks = first.map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    match blanks {
        Some(blanks) if !blanks.is_empty() => blanks.to_owned(),
        _ => DEFAULT_INDENT.to_owned(),
    }
}

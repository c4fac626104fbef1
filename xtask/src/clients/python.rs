//! The types in Python: `TypedDict`s and `Literal`s that Python 3.9 reads.

use super::model::{Field, Item, Model, Shape, Type};
use serde_json::Value;
use std::fmt::Write as _;

/// Words that cannot be the name of a field in a class.
const KEYWORDS: &[&str] = &["from", "class", "global", "in", "is", "not", "pass", "with"];

/// Returns the text of the whole file.
pub(super) fn module(model: &Model) -> String {
    let mut text = String::from(
        "\"\"\"What is sent and received, as types. Generated from docs/schema by `cargo xtask clients`.\n\n\
         The values are plain dictionaries: fields and kinds that a newer program adds are passed on.\n\"\"\"\n\n\
         from __future__ import annotations\n\n\
         from typing import Any, Dict, List, Literal, Optional, Tuple, TypedDict, Union\n",
    );
    for (name, item) in &model.items {
        match &item.shape {
            Shape::Record(fields) => text.push_str(&record(name, item, fields)),
            Shape::Alias(value_type) => {
                let (doc, value_type) = (comment(&item.doc, ""), quoted_type(value_type));
                let _ = write!(text, "\n\n{doc}{name} = {value_type}\n");
            }
        }
    }
    text
}

/// Writes a record. `TypedDict` requires all fields of a class or none, so a record with both kinds
/// becomes two classes.
fn record(name: &str, item: &Item, fields: &[Field]) -> String {
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        fields.iter().partition(|field| field.required);
    let doc = &item.doc;
    match (required.is_empty(), optional.is_empty()) {
        (_, true) => class(name, "TypedDict", "", doc, &required),
        (true, false) => class(name, "TypedDict", ", total=False", doc, &optional),
        (false, false) => {
            let always = format!("_{name}Always");
            class(&always, "TypedDict", "", "", &required)
                + &class(name, &always, ", total=False", doc, &optional)
        }
    }
}

fn class(name: &str, base: &str, options: &str, doc: &str, fields: &[&Field]) -> String {
    let mut text = String::from("\n\n");
    let (by_keyword, plain): (Vec<&&Field>, Vec<&&Field>) = fields
        .iter()
        .partition(|field| !field.has_plain_name() || KEYWORDS.contains(&field.name.as_str()));
    let mut base = base.to_owned();
    if !by_keyword.is_empty() {
        // Such a field can only be declared in the functional syntax.
        let words = format!("_{name}Words");
        let _ = writeln!(text, "{words} = TypedDict(\n    \"{words}\",\n    {{");
        for field in by_keyword {
            let shown = annotation(&field.value_type).replace('"', "'");
            let _ = writeln!(text, "        \"{}\": \"{shown}\",", field.name);
        }
        let _ = writeln!(text, "    }}{options},\n)");
        if plain.is_empty() {
            // The class has no other fields.
            return text.replace(&words, name);
        }
        base = if base == "TypedDict" {
            words
        } else {
            format!("{base}, {words}")
        };
    }
    let gap = if text.trim().is_empty() { "" } else { "\n\n" };
    let _ = writeln!(text, "{gap}class {name}({base}{options}):");
    let mut body = String::new();
    if !doc.is_empty() {
        let _ = writeln!(body, "    \"\"\"{}\"\"\"", doc.replace('\\', "\\\\"));
    }
    for field in plain {
        let shown = annotation(&field.value_type);
        let _ = write!(body, "\n{}", comment(&field.doc, "    "));
        let _ = writeln!(body, "    {}: {shown}", field.name);
    }
    if body.is_empty() {
        body.push_str("    pass\n");
    }
    text + body.trim_start_matches('\n')
}

fn comment(doc: &str, indent: &str) -> String {
    if doc.is_empty() {
        return String::new();
    }
    format!("{indent}# {doc}\n")
}

/// Returns the type as an annotation, which Python never evaluates.
fn annotation(value_type: &Type) -> String {
    write_type(value_type, &|name| name.to_owned())
}

/// Returns the type as a value. Names are quoted, because they may be defined later in the file.
fn quoted_type(value_type: &Type) -> String {
    write_type(value_type, &|name| format!("\"{name}\""))
}

fn write_type(value_type: &Type, named: &dyn Fn(&str) -> String) -> String {
    let inner = |value_type: &Type| write_type(value_type, named);
    match value_type {
        Type::Any => "Any".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Number => "float".to_owned(),
        Type::Text => "str".to_owned(),
        Type::Named(name) => named(name),
        Type::Literal(value) => format!("Literal[{}]", literal(value)),
        Type::List(item) => format!("List[{}]", inner(item)),
        Type::Pair(item) => format!("Tuple[{0}, {0}]", inner(item)),
        Type::Map(item) => format!("Dict[str, {}]", inner(item)),
        Type::OneOf(types) => one_of(types, &inner),
    }
}

fn one_of(types: &[Type], inner: &dyn Fn(&Type) -> String) -> String {
    let mut literals = Vec::new();
    let mut others = Vec::new();
    for value_type in types {
        match value_type {
            Type::Literal(value) => literals.push(literal(value)),
            Type::Null => {}
            other => others.push(inner(other)),
        }
    }
    if !literals.is_empty() {
        others.push(format!("Literal[{}]", literals.join(", ")));
    }
    let union = match others.as_slice() {
        [only] => only.clone(),
        several => format!("Union[{}]", several.join(", ")),
    };
    if types.contains(&Type::Null) {
        format!("Optional[{union}]")
    } else {
        union
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

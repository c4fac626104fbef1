//! The types in TypeScript.

use super::model::{Field, Item, Model, Shape, Type};
use std::fmt::Write as _;

/// Returns the text of the whole file.
pub(super) fn module(model: &Model) -> String {
    let mut text = String::from(
        "// What is sent and received, as types. Generated from docs/schema by `cargo xtask clients`.\n\
         // The values are plain objects: fields and kinds that a newer program adds are passed on.\n",
    );
    for (name, item) in &model.items {
        text.push('\n');
        match &item.shape {
            Shape::Record(fields) => text.push_str(&record(name, item, fields)),
            Shape::Alias(value_type) => {
                let (doc, value_type) = (comment(&item.doc, ""), shown(value_type));
                let _ = writeln!(text, "{doc}export type {name} = {value_type};");
            }
        }
    }
    text
}

fn record(name: &str, item: &Item, fields: &[Field]) -> String {
    let mut text = comment(&item.doc, "");
    let _ = writeln!(text, "export interface {name} {{");
    for field in fields {
        let name = if field.has_plain_name() {
            field.name.clone()
        } else {
            format!("\"{}\"", field.name)
        };
        let mark = if field.required { "" } else { "?" };
        text.push_str(&comment(&field.doc, "  "));
        let _ = writeln!(text, "  {name}{mark}: {};", shown(&field.value_type));
    }
    text.push_str("}\n");
    text
}

fn comment(doc: &str, indent: &str) -> String {
    if doc.is_empty() {
        return String::new();
    }
    format!("{indent}/** {} */\n", doc.replace("*/", "* /"))
}

fn shown(value_type: &Type) -> String {
    match value_type {
        Type::Any => "unknown".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::Text => "string".to_owned(),
        Type::Named(name) => name.clone(),
        Type::Literal(value) => value.to_string(),
        Type::List(item) => match &**item {
            Type::OneOf(_) => format!("({})[]", shown(item)),
            other => format!("{}[]", shown(other)),
        },
        Type::Pair(item) => format!("[{0}, {0}]", shown(item)),
        Type::Map(item) => format!("{{ [name: string]: {} }}", shown(item)),
        Type::OneOf(types) => {
            let types: Vec<String> = types.iter().map(shown).collect();
            types.join(" | ")
        }
    }
}

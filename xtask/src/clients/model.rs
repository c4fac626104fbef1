//! The content of the schemas, independent of a language: records, and aliases of other types.

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The field of [`CALL`] that accepts more than its schema says: a duration may also be a text such
/// as `"10m"`.
const DURATION_FIELD: &str = "timeout";

/// The record of a call. Its fields, except the command, are the options of a client's methods.
const CALL: &str = "Request";

/// All types, by name.
#[derive(Default)]
pub(super) struct Model {
    pub(super) items: BTreeMap<String, Item>,
}

/// A type with a name.
#[derive(Debug, PartialEq)]
pub(super) struct Item {
    pub(super) doc: String,
    pub(super) shape: Shape,
}

#[derive(Debug, PartialEq)]
pub(super) enum Shape {
    Record(Vec<Field>),
    Alias(Type),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) doc: String,
    pub(super) value_type: Type,
    pub(super) required: bool,
}

impl Field {
    /// True if the name consists of the letters, digits and underscores of an identifier.
    pub(super) fn has_plain_name(&self) -> bool {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        self.name.chars().all(is_plain)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// Any value.
    Any,
    Null,
    Bool,
    Integer,
    Number,
    Text,
    /// One of [`Model::items`].
    Named(String),
    /// Exactly this value.
    Literal(Value),
    List(Box<Type>),
    /// A list of two values.
    Pair(Box<Type>),
    /// An object with arbitrary keys.
    Map(Box<Type>),
    /// At least two types, in order.
    OneOf(Vec<Type>),
}

impl Model {
    /// Adds a schema and its definitions. An input type may lack fields that the output type always
    /// has. If a known name gets a second shape, the new type and all types that refer to it get
    /// names with the suffix `Input`.
    pub(super) fn add(&mut self, schema: &Value) -> Result<()> {
        let title = text(schema, "title");
        ensure!(!title.is_empty(), "the schema has no title");
        let mut new = Self::default();
        new.define(&title, schema)?;
        for (name, definition) in members(schema, "$defs") {
            new.define(&name, &definition)?;
        }
        while let Some(name) = new.items.iter().find_map(|(name, item)| {
            let known = self.items.get(name)?;
            (known.shape != item.shape).then(|| name.clone())
        }) {
            new.rename(&name, &format!("{name}Input"))?;
        }
        self.items.extend(new.items);
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<()> {
        ensure!(
            !self.items.contains_key(to),
            "two different types are called {to}"
        );
        if let Some(item) = self.items.remove(from) {
            self.items.insert(to.to_owned(), item);
        }
        for item in self.items.values_mut() {
            match &mut item.shape {
                Shape::Alias(value_type) => value_type.rename(from, to),
                Shape::Record(fields) => {
                    for field in fields {
                        field.value_type.rename(from, to);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds `CallOptions`: the fields of a call without its command.
    pub(super) fn add_call_options(&mut self) -> Result<()> {
        let call = self.items.get_mut(CALL).map(|item| &mut item.shape);
        let Some(Shape::Record(fields)) = call else {
            bail!("{CALL} is not a record");
        };
        for field in fields
            .iter_mut()
            .filter(|field| field.name == DURATION_FIELD)
        {
            field.value_type = one_of(vec![field.value_type.clone(), Type::Text]);
        }
        let mut options = fields.clone();
        options.retain(|field| !field.required);
        let item = Item {
            doc: "The options of a call: its fields without the command.".to_owned(),
            shape: Shape::Record(options),
        };
        self.items.insert("CallOptions".to_owned(), item);
        Ok(())
    }

    fn define(&mut self, name: &str, schema: &Value) -> Result<()> {
        let variants = list(schema, "oneOf").or_else(|| list(schema, "anyOf"));
        let records = variants.filter(|variants| {
            variants
                .iter()
                .all(|variant| variant.get("properties").is_some())
        });
        let shape = if let Some(variants) = records {
            let common = fields(name, schema)?;
            let mut names = Vec::new();
            for variant in variants {
                let mut fields = fields(name, variant)?;
                let own = format!("{name}{}", variant_name(&fields)?);
                fields.extend(common.iter().cloned());
                self.insert(&own, &text(variant, "description"), Shape::Record(fields))?;
                names.push(Type::Named(own));
            }
            Shape::Alias(one_of(names))
        } else if schema.get("properties").is_some() {
            Shape::Record(fields(name, schema)?)
        } else {
            Shape::Alias(read(schema).with_context(|| name.to_owned())?)
        };
        self.insert(name, &text(schema, "description"), shape)
    }

    fn insert(&mut self, name: &str, doc: &str, shape: Shape) -> Result<()> {
        if let Some(known) = self.items.get(name) {
            ensure!(
                known.shape == shape,
                "two different types are called {name}"
            );
            return Ok(());
        }
        let doc = plain(doc);
        self.items.insert(name.to_owned(), Item { doc, shape });
        Ok(())
    }
}

impl Type {
    fn rename(&mut self, from: &str, to: &str) {
        match self {
            Self::Named(name) if name == from => to.clone_into(name),
            Self::List(inner) | Self::Pair(inner) | Self::Map(inner) => inner.rename(from, to),
            Self::OneOf(types) => {
                for value_type in types {
                    value_type.rename(from, to);
                }
            }
            _ => {}
        }
    }
}

/// Returns the suffix that a variant adds to the name of its union: the value of its tag, or its
/// first required field.
fn variant_name(fields: &[Field]) -> Result<String> {
    let tag = fields.iter().find_map(|field| match &field.value_type {
        Type::Literal(Value::String(tag)) if field.required => Some(tag),
        _ => None,
    });
    let first = fields.iter().find(|field| field.required);
    let name = tag.or(first.map(|field| &field.name));
    let name = name.context("a variant without a required field has no name")?;
    Ok(name.split(['_', '.', '-']).map(capital).collect())
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
        .unwrap_or_default()
}

fn fields(owner: &str, schema: &Value) -> Result<Vec<Field>> {
    let required = list(schema, "required").unwrap_or_default();
    members(schema, "properties")
        .into_iter()
        .map(|(name, schema)| {
            Ok(Field {
                doc: plain(&text(&schema, "description")),
                value_type: read(&schema).with_context(|| format!("{owner}.{name}"))?,
                required: required.iter().any(|wanted| *wanted == name),
                name,
            })
        })
        .collect()
}

/// Returns the type that a schema without a name describes.
fn read(schema: &Value) -> Result<Type> {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let name = target.strip_prefix("#/$defs/");
        return Ok(Type::Named(
            name.context("a reference to another file")?.to_owned(),
        ));
    }
    if let Some(value) = schema.get("const") {
        return Ok(Type::Literal(value.clone()));
    }
    if let Some(values) = list(schema, "enum") {
        return Ok(one_of(values.iter().cloned().map(Type::Literal).collect()));
    }
    if let Some(variants) = list(schema, "oneOf").or_else(|| list(schema, "anyOf")) {
        let types: Result<Vec<Type>> = variants.iter().map(read).collect();
        return Ok(one_of(types?));
    }
    match schema.get("type") {
        None => Ok(Type::Any),
        Some(Value::Array(kinds)) => {
            let types: Result<Vec<Type>> = kinds.iter().map(|kind| simple(kind, schema)).collect();
            Ok(one_of(types?))
        }
        Some(kind) => simple(kind, schema),
    }
}

fn simple(kind: &Value, schema: &Value) -> Result<Type> {
    Ok(match kind.as_str() {
        Some("null") => Type::Null,
        Some("boolean") => Type::Bool,
        Some("integer") => Type::Integer,
        Some("number") => Type::Number,
        Some("string") => Type::Text,
        Some("array") => {
            let item = Box::new(schema.get("items").map_or(Ok(Type::Any), read)?);
            match (schema.get("minItems"), schema.get("maxItems")) {
                (Some(least), Some(most)) if *least == 2 && *most == 2 => Type::Pair(item),
                _ => Type::List(item),
            }
        }
        Some("object") if schema.get("properties").is_none() => {
            let item = schema.get("additionalProperties");
            Type::Map(Box::new(item.map_or(Ok(Type::Any), read)?))
        }
        _ => bail!("no type for {schema}; give it a name of its own"),
    })
}

/// Returns the union of `types`, flat and without repetitions.
fn one_of(types: Vec<Type>) -> Type {
    let mut flat: Vec<Type> = Vec::new();
    for value_type in types {
        match value_type {
            Type::OneOf(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    let mut once: Vec<Type> = Vec::new();
    for value_type in flat {
        if !once.contains(&value_type) {
            once.push(value_type);
        }
    }
    // `null` comes last.
    once.sort_by_key(|value_type| *value_type == Type::Null);
    match <[Type; 1]>::try_from(once) {
        Ok([only]) => only,
        Err(several) => Type::OneOf(several),
    }
}

/// Returns a description on one line, without the link brackets of Rust's documentation.
fn plain(doc: &str) -> String {
    doc.replace("[`", "`").replace("`]", "`").replace('\n', " ")
}

fn text(schema: &Value, key: &str) -> String {
    let value = schema.get(key).and_then(Value::as_str);
    value.unwrap_or_default().to_owned()
}

fn list<'a>(schema: &'a Value, key: &str) -> Option<&'a [Value]> {
    schema.get(key).and_then(Value::as_array).map(Vec::as_slice)
}

fn members(schema: &Value, key: &str) -> Map<String, Value> {
    let value = schema.get(key).and_then(Value::as_object);
    value.cloned().unwrap_or_default()
}

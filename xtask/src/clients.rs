//! `cargo xtask clients`: generates the types of the Python and TypeScript clients from
//! `docs/schema`.
//!
//! [`model`] reads the schemas; [`python`] and [`typescript`] write the types. The files are
//! checked in, and the suite compares them.

mod dist;
mod installed;
mod model;
mod packages;
mod pages;
mod python;
mod release;
mod step;
mod typescript;

use crate::generated_files::{Generated, check_files, write_files};
use crate::{Tree, no_arguments};
use anyhow::{Context, Result};
pub(crate) use dist::command as dist;
use model::Model;
pub(crate) use release::command as release;
use std::path::Path;
pub(crate) use step::run as test;

/// The schemas of requests and responses, by their files in `docs/schema`.
const SCHEMAS: &[&str] = &[
    "request", "tool_result", "rpc_request", "rpc_response", "rpc_update", "rpc_data",
];

/// `cargo xtask clients`.
pub(crate) fn command(tree: &Tree, arguments: &[String]) -> Result<()> {
    match arguments {
        [name] if name == "test" => return step::run(tree),
        [name] if name == "frameworks" => return step::frameworks(tree),
        [name, program] if name == "installed" => {
            return step::installed(tree, Path::new(program));
        }
        _ => {}
    }
    no_arguments(arguments)?;
    write_files(tree, &files(&tree.root)?)
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    check_files(tree, &files(&tree.root)?, "cargo xtask clients")
}

fn files(root: &Path) -> Result<Vec<Generated>> {
    let mut model = Model::default();
    for name in SCHEMAS {
        let path = root.join(format!("docs/schema/{name}.schema.json"));
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}", path.display()))?;
        model
            .add(&serde_json::from_str(&text)?)
            .with_context(|| format!("docs/schema/{name}.schema.json"))?;
    }
    model.add_call_options()?;
    Ok(vec![
        (
            "clients/python/src/agent_bash/_types.py",
            python::module(&model),
        ),
        (
            "clients/typescript/src/types.ts",
            typescript::module(&model),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn checked_in_types_are_current() {
        check_tree(&Tree::open().unwrap()).unwrap();
    }

    #[test]
    fn changed_schema_changes_types() {
        let types = |field: &str| {
            let mut model = Model::default();
            let schema = json!({
                "title": "Thing",
                "type": "object",
                "properties": { field: { "type": "string" }, "from": { "$ref": "#/$defs/End" } },
                "required": [field],
                "$defs": { "End": { "oneOf": [
                    { "type": "object", "properties": { "kind": { "const": "well" } }, "required": ["kind"] },
                    { "type": "object", "properties": { "kind": { "const": "so_so" }, "why": {} }, "required": ["kind"] },
                ] } },
            });
            model.add(&schema).unwrap();
            (python::module(&model), typescript::module(&model))
        };
        let (python, typescript) = types("name");
        assert!(python.contains("    name: str\n"), "{python}");
        assert!(python.contains("\"from\": \"End\""), "{python}");
        assert!(python.contains("End = Union[\"EndWell\", \"EndSoSo\"]"));
        assert!(python.contains("    kind: Literal[\"so_so\"]\n"));
        assert!(typescript.contains("  from?: End;\n  name: string;\n"));
        assert!(typescript.contains("export type End = EndWell | EndSoSo;"));
        assert!(typescript.contains("  why?: unknown;\n"));
        assert_ne!(types("other"), (python, typescript));
    }

    #[test]
    fn nested_record_without_a_name_is_refused() {
        let inline = json!({ "title": "Thing", "type": "object", "properties": {
            "at": { "type": "object", "properties": { "x": { "type": "integer" } } },
        } });
        let error = Model::default().add(&inline).unwrap_err();
        assert!(format!("{error:#}").contains("Thing.at"), "{error:#}");
    }
}

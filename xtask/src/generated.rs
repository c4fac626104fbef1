//! The checked-in files that are generated from code: `cargo xtask docs` writes them, `cargo xtask
//! test` compares them.

use crate::{
    Tree, attempts_page, clients, findings_page, hooks_page, keys_page, no_arguments, picture,
    rpc_page, rules_page, say, sentences, third_party_page,
};
use agent_bash_core::{Request, ToolResult};
use agent_bash_protocol::data::DataByCommand;
use agent_bash_protocol::{RpcJobEnded, RpcPrompt, RpcRequest, RpcResponse, RpcUpdate};
use agent_bash_tests::conformance;
use anyhow::{Context, Result, bail};
use schemars::{JsonSchema, generate::SchemaSettings};
use std::path::Path;

/// A file and its expected contents.
pub(crate) struct Generated {
    /// The path from the root.
    pub(crate) path: &'static str,
    pub(crate) text: String,
}

/// `cargo xtask docs`.
pub(crate) fn write(tree: &Tree, arguments: &[String]) -> Result<()> {
    no_arguments(arguments)?;
    write_files(tree, &files(tree)?)?;
    // The clients' types are generated from the schemas.
    clients::command(tree, &[])
}

/// Writes the files that are missing or different.
pub(crate) fn write_files(tree: &Tree, files: &[Generated]) -> Result<()> {
    for file in files {
        if !is_fresh(&tree.root, file) {
            let path = tree.root.join(file.path);
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            std::fs::write(&path, &file.text).with_context(|| format!("writing {}", file.path))?;
            say(&format!("wrote {}", file.path));
        }
    }
    Ok(())
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    check_files(tree, &files(tree)?, "cargo xtask docs")
}

/// Fails if files are missing or different. The error names these files, and `writer`, the command
/// that writes them.
pub(crate) fn check_files(tree: &Tree, files: &[Generated], writer: &str) -> Result<()> {
    let stale: Vec<&str> = files
        .iter()
        .filter(|file| !is_fresh(&tree.root, file))
        .map(|file| file.path)
        .collect();
    if stale.is_empty() {
        return Ok(());
    }
    bail!(
        "these files differ from the code: {}; run `{writer}` and commit the result",
        stale.join(", ")
    );
}

fn is_fresh(root: &Path, file: &Generated) -> bool {
    std::fs::read_to_string(root.join(file.path)).is_ok_and(|text| text == file.text)
}

fn files(tree: &Tree) -> Result<Vec<Generated>> {
    let root = &tree.root;
    let cases = conformance::load(&root.join("tests/conformance"))?;
    let rpc_request = schema::<RpcRequest>(SchemaSettings::draft2020_12().for_deserialize())?;
    let rpc_data = schema::<DataByCommand>(SchemaSettings::draft2020_12().for_serialize())?;
    let mut files = vec![
        Generated {
            path: "docs/schema/request.schema.json",
            text: schema::<Request>(SchemaSettings::draft2020_12().for_deserialize())?,
        },
        Generated {
            path: "docs/schema/tool_result.schema.json",
            text: schema::<ToolResult>(SchemaSettings::draft2020_12().for_serialize())?,
        },
        Generated {
            path: "docs/generated/rpc-requests.md",
            text: rpc_page::page(&rpc_request, &rpc_data)?,
        },
        Generated {
            path: "docs/generated/surprises.md",
            text: findings_page::page(root)?,
        },
        Generated {
            path: "docs/schema/rpc_request.schema.json",
            text: rpc_request,
        },
        Generated {
            path: "docs/schema/rpc_response.schema.json",
            text: schema::<RpcResponse>(SchemaSettings::draft2020_12().for_serialize())?,
        },
        Generated {
            path: "docs/schema/rpc_data.schema.json",
            text: rpc_data,
        },
        Generated {
            path: "docs/schema/rpc_update.schema.json",
            text: schema::<RpcUpdate>(SchemaSettings::draft2020_12().for_serialize())?,
        },
        Generated {
            path: "docs/schema/rpc_job_ended.schema.json",
            text: schema::<RpcJobEnded>(SchemaSettings::draft2020_12().for_serialize())?,
        },
        Generated {
            path: "docs/schema/rpc_prompt.schema.json",
            text: schema::<RpcPrompt>(SchemaSettings::draft2020_12().for_serialize())?,
        },
        Generated {
            path: "docs/generated/rules.md",
            text: rules_page::page(),
        },
        Generated {
            path: "docs/generated/agents.md",
            text: hooks_page::page(),
        },
        Generated {
            path: "docs/generated/attempts.md",
            text: attempts_page::page(root)?,
        },
        Generated {
            path: "docs/generated/third-party-crates.md",
            text: third_party_page::page()?,
        },
        Generated {
            path: "docs/generated/conformance.md",
            text: conformance::table(&cases),
        },
        Generated {
            path: "docs/generated/settings.md",
            text: format!(
                "# Settings\n\n\
                 Generated by `cargo xtask docs` from `crates/settings/src/keys.rs`; do not edit. \
                 `agent-bash settings --default`\nprints this file; `agent-bash settings` lists the \
                 settings in force.\n\n```toml\n{}```\n",
                agent_bash::settings::default_file()
            ),
        },
        Generated {
            path: "docs/generated/sentences.txt",
            text: sentences::page(tree)?,
        },
        Generated {
            path: "docs/generated/tui-keys.md",
            text: keys_page::page(),
        },
    ];
    files.extend(picture::files(root)?);
    Ok(files)
}

/// Returns the schema of `T`. `settings` state whether `T` is an input (deserialised) or an output
/// (serialised).
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Result<String> {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_in_files_are_current() {
        check_tree(&Tree::open().unwrap()).unwrap();
    }

    #[test]
    fn missing_or_different_file_is_stale() {
        let directory = tempfile::tempdir().unwrap();
        let file = Generated {
            path: "a.txt",
            text: "new".to_owned(),
        };
        assert!(!is_fresh(directory.path(), &file));
        std::fs::write(directory.path().join("a.txt"), "old").unwrap();
        assert!(!is_fresh(directory.path(), &file));
        std::fs::write(directory.path().join("a.txt"), "new").unwrap();
        assert!(is_fresh(directory.path(), &file));
    }
}

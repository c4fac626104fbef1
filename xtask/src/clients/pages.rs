//! The examples of pages as programs, so that the tests run the code that users copy.

use crate::Tree;
use anyhow::{Context, Result, ensure};

/// An example as a program.
pub(super) struct Example {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// Texts that the output must contain.
    pub(super) expected: &'static [&'static str],
}

/// Texts in the output of the quickstart examples.
const QUICKSTART_OUTPUT: &[&str] = &["exited", "so far", "99999:99999"];

/// Scripts that stand in for the programs that the clients' page calls.
pub(super) const STAND_INS: &[(&str, &str)] = &[
    ("make", "seq 30000; echo an error >&2"),
    ("pytest", "echo 1 passed"),
    ("npm", "exec sleep 600"),
];

/// The examples in Python.
pub(super) fn python(tree: &Tree) -> Result<Vec<Example>> {
    let lines = single_block(tree, "docs/clients.md", "python")?;
    let frame = "import asyncio\nfrom agent_bash import AsyncShell\n\nasync def main() -> None:\n";
    let file = |name: &str| {
        tree.shell
            .read_file(tree.root.join("clients/python/examples").join(name))
    };
    Ok(vec![
        Example {
            name: "readme.py",
            text: single_block(tree, "clients/python/README.md", "python")?,
            expected: QUICKSTART_OUTPUT,
        },
        Example {
            name: "page.py",
            text: format!(
                "{frame}{}    print(r.status, text)\n\nasyncio.run(main())\n",
                indented(&lines)
            ),
            expected: &["exited", "30001:an error"],
        },
        Example {
            name: "quickstart.py",
            text: file("quickstart.py")?,
            expected: QUICKSTART_OUTPUT,
        },
        Example {
            name: "quickstart_sync.py",
            text: file("quickstart_sync.py")?,
            expected: QUICKSTART_OUTPUT,
        },
    ])
}

/// The examples in TypeScript.
pub(super) fn typescript(tree: &Tree) -> Result<Vec<Example>> {
    let lines = single_block(tree, "docs/clients.md", "ts")?;
    let frame =
        "import { Shell } from \"agent-bash\";\nconst { signal } = new AbortController();\n";
    let quickstart = tree.root.join("clients/typescript/examples/quickstart.ts");
    Ok(vec![
        Example {
            name: "readme.ts",
            text: single_block(tree, "clients/typescript/README.md", "ts")?,
            expected: QUICKSTART_OUTPUT,
        },
        Example {
            name: "page.ts",
            text: format!("{frame}{lines}console.log(r.status);\n"),
            expected: &["exited"],
        },
        Example {
            name: "quickstart.ts",
            // Beside the sources, the example imports them. In the test it must find the package by
            // its name.
            text: tree
                .shell
                .read_file(quickstart)?
                .replace("../src/index.js", "agent-bash"),
            expected: QUICKSTART_OUTPUT,
        },
    ])
}

fn single_block(tree: &Tree, page: &str, language: &str) -> Result<String> {
    let text = tree.shell.read_file(tree.root.join(page))?;
    let mut found = blocks(&text, language);
    let first = found
        .pop()
        .with_context(|| format!("{page} has no block `{language}`"))?;
    ensure!(
        found.is_empty(),
        "{page} has several blocks `{language}`; only one would be run"
    );
    Ok(first)
}

/// The blocks of a language on a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}");
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while lines.any(|line| line == fence) {
        let block = lines.by_ref().take_while(|line| *line != "```");
        blocks.push(block.flat_map(|line| [line, "\n"]).collect());
    }
    blocks
}

fn indented(lines: &str) -> String {
    let indented = lines.lines().flat_map(|line| ["    ", line, "\n"]);
    indented.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_their_language() {
        let page = "a\n```sh\nb\n```\n```python\nc\n\n  d\n```\ne\n```python\n```\n";
        assert_eq!(blocks(page, "python"), ["c\n\n  d\n", ""]);
        assert_eq!(blocks(page, "sh"), ["b\n"]);
        assert!(blocks(page, "ts").is_empty());
    }
}

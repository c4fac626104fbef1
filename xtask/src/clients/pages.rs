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

/// Texts in the output of the first examples.
const FIRST: &[&str] = &["exited", "so far", "99999:99999"];

/// Stand-ins for the programs on the page of both clients, below a directory of programs.
pub(super) const STAND_INS: &[(&str, &str)] = &[
    ("make", "seq 30000; echo an error >&2"),
    ("pytest", "echo 1 passed"),
    ("npm", "exec sleep 600"),
];

/// The examples in Python.
pub(super) fn python(tree: &Tree) -> Result<Vec<Example>> {
    let lines = only_block(tree, "docs/clients.md", "python")?;
    let around = "import asyncio\nfrom agent_bash import AsyncShell\n\nasync def main() -> None:\n";
    let file = |name: &str| {
        tree.shell
            .read_file(tree.root.join("clients/python/examples").join(name))
    };
    Ok(vec![
        Example {
            name: "readme.py",
            text: only_block(tree, "clients/python/README.md", "python")?,
            expected: FIRST,
        },
        Example {
            name: "page.py",
            text: format!(
                "{around}{}    print(r.status, text)\n\nasyncio.run(main())\n",
                indented(&lines)
            ),
            expected: &["exited", "30001:an error"],
        },
        Example {
            name: "quickstart.py",
            text: file("quickstart.py")?,
            expected: FIRST,
        },
        Example {
            name: "quickstart_sync.py",
            text: file("quickstart_sync.py")?,
            expected: FIRST,
        },
    ])
}

/// The examples in TypeScript.
pub(super) fn typescript(tree: &Tree) -> Result<Vec<Example>> {
    let lines = only_block(tree, "docs/clients.md", "ts")?;
    let around =
        "import { Shell } from \"agent-bash\";\nconst { signal } = new AbortController();\n";
    let quickstart = tree.root.join("clients/typescript/examples/quickstart.ts");
    Ok(vec![
        Example {
            name: "readme.ts",
            text: only_block(tree, "clients/typescript/README.md", "ts")?,
            expected: FIRST,
        },
        Example {
            name: "page.ts",
            text: format!("{around}{lines}console.log(r.status);\n"),
            expected: &["exited"],
        },
        Example {
            name: "quickstart.ts",
            // Next to the sources, the example would find those; here it must find the package by
            // its name.
            text: tree
                .shell
                .read_file(quickstart)?
                .replace("../src/index.js", "agent-bash"),
            expected: FIRST,
        },
    ])
}

fn only_block(tree: &Tree, page: &str, language: &str) -> Result<String> {
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

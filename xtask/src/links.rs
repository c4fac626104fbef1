//! Checks links between the pages of the checkout: the file must exist, and so must the heading.

use crate::{Tree, source_rules};
use anyhow::{Result, ensure};
use regex::Regex;
use std::path::{Path, PathBuf};

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let mut faults = Vec::new();
    for path in source_rules::listed_files(tree)? {
        // A symbolic link to a page is skipped: its links are relative to the page's own directory.
        if Path::new(&path).extension().is_some_and(|end| end == "md")
            && !tree.root.join(&path).is_symlink()
            && let Ok(text) = std::fs::read_to_string(tree.root.join(&path))
        {
            faults.extend(faults_of(&tree.root, Path::new(&path), &text)?);
        }
    }
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// Returns a sentence for each broken link of `page`, a path relative to `root`.
fn faults_of(root: &Path, page: &Path, text: &str) -> Result<Vec<String>> {
    let link = Regex::new(r"\]\(([^)\s]+)\)")?;
    let directory = page.parent().unwrap_or(Path::new(""));
    let mut faults = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for found in link.captures_iter(line) {
            let target = &found[1];
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !has_target(root, directory, page, target) {
                faults.push(format!(
                    "{}:{}: the link to `{target}` leads nowhere",
                    page.display(),
                    number + 1
                ));
            }
        }
    }
    Ok(faults)
}

fn has_target(root: &Path, directory: &Path, page: &Path, target: &str) -> bool {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path: PathBuf = if file.is_empty() {
        root.join(page)
    } else {
        root.join(directory).join(file)
    };
    if heading.is_empty() {
        return path.exists();
    }
    std::fs::read_to_string(path).is_ok_and(|text| {
        text.lines()
            .filter_map(|line| line.strip_prefix('#'))
            .any(|line| anchor(line.trim_start_matches('#').trim()) == heading)
    })
}

/// Returns the anchor that common renderers generate for a heading: lower case, hyphens for spaces,
/// no punctuation.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_checkout_have_targets() {
        check_tree(&Tree::open().unwrap()).unwrap();
    }

    #[test]
    fn broken_link_is_a_fault() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("docs/a.md"), "# A heading: 1.2\n").unwrap();
        for (link, good) in [
            ("a.md", true),
            ("../docs/a.md#a-heading-12", true),
            ("https://example.org/nowhere", true),
            ("b.md", false),
            ("a.md#another", false),
            ("../a.md", false),
        ] {
            let text = format!("see [it]({link})");
            let found = faults_of(root.path(), Path::new("docs/page.md"), &text).unwrap();
            assert_eq!(found.is_empty(), good, "{link}: {found:?}");
        }
    }
}

//! Checks invariants of docs/architecture.md by text search: patterns that must *not* occur in the
//! sources.
//!
//! One table of rules, one function that applies them. Clippy checks rules that need types or
//! resolved names (`clippy.toml`, `[workspace.lints]`). Comments and the unit tests at the end of a
//! file are skipped, except by rules about whole files.

use crate::Tree;
use agent_bash_core::words;
use anyhow::{Context, Result, ensure};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use xshell::cmd;

/// Maximum number of lines in a source file, excluding its tests.
const MAX_LINES: usize = 600;

/// A pattern that must not occur in some paths, and the reason.
struct Rule {
    pattern: &'static str,
    /// Path prefixes that the rule applies to.
    within: &'static [&'static str],
    why: &'static str,
    /// Exempted files, each with its reason after the path. An exemption that is no longer needed
    /// is an error.
    except: &'static [&'static str],
}

/// The libraries: code that is linked into other programs.
const LIBRARIES: &[&str] = words![
    "crates/core/ crates/os/ crates/syntax/ crates/policy/ crates/notify/ crates/proxy/",
    "crates/sandbox/ crates/sink/ crates/changes/ crates/process/ crates/remote/ crates/call/",
    "crates/exec/ crates/pty/ crates/render/ crates/tools/ crates/settings/ crates/state/",
    "crates/agent-bash/ crates/running/ crates/hooks/ crates/tui/ crates/server/",
];

const RULES: &[Rule] = &[
    Rule {
        pattern: r"\bstatic\s+mut\b|\bthread_local!|\blazy_static!|\bstatic\s+\w+\s*:[^=]*\b(OnceLock|OnceCell|Mutex|RwLock|RefCell|Cell|Atomic\w+)\b",
        within: LIBRARIES,
        why: "a cache or counter is a value with an owner, never global state",
        except: &[
            "crates/syntax/src/table.rs the parsed rows of a constant table, which no caller can change",
        ],
    },
    Rule {
        pattern: r"\be?print(ln)?!\s*\(",
        within: LIBRARIES,
        why: "a library prints nothing; stdout may carry a protocol",
        except: &[],
    },
    Rule {
        pattern: r"\b(Script|Parsed)::read\b|\bScript::follow\b",
        within: &[
            "crates/policy/src/", "crates/agent-bash/src/", "crates/cli/src/", "crates/hooks/src/",
            "crates/server/src/", "crates/tui/src/",
        ],
        why: "a script is parsed once for a call; a stage uses that parse",
        except: &[
            "crates/agent-bash/src/stage/parsed_script.rs the only parse of a call",
            "crates/hooks/src/agent_shell/template.rs templates of wrappers are no scripts of a call",
            "crates/hooks/src/agent_shell/wrapper.rs finds the script of a call within an agent's wrapper",
            "crates/agent-bash/src/session/announce.rs checks a short script before there is a tool, so that a refused script starts nothing",
            "crates/agent-bash/src/session/exported.rs bash's list of variables is not a call's script",
            "crates/agent-bash/src/call_policy.rs checks without running",
            "crates/hooks/src/verdict.rs another program runs the script",
            "crates/cli/src/commands/check.rs the script is not run",
            "crates/policy/src/safety/inline_code.rs code in other languages",
            "crates/tui/src/app/running.rs decides before the call whether it needs a terminal",
            "crates/tui/src/functions.rs bash's dump of the user's configuration is not a call's script",
            "crates/tui/src/single_command.rs decides before the call how much of the screen it gets",
        ],
    },
    Rule {
        pattern: r"\bunsafe\b(?:[^-]|$)",
        within: &["crates/", "tests/", "xtask/"],
        why: "system calls without a safe interface are wrapped in one place",
        except: &[
            "crates/notify/src/fork.rs forks a process with a single thread",
            "crates/notify/src/install.rs installs a filter of system calls with a listener",
            "crates/notify/src/inherited.rs takes over an inherited descriptor by its number",
            "crates/notify/src/listener.rs serves such a listener",
            "xtask/src/word_rules/names.rs names the keyword of an item",
        ],
    },
    Rule {
        pattern: r"#\[ignore\b",
        within: &["crates/", "tests/", "xtask/"],
        why: "a test that is not run is deleted",
        except: &[],
    },
    Rule {
        pattern: r"#!?\[allow\(",
        within: &["crates/", "tests/", "xtask/"],
        why: "write `expect` with a reason: the compiler reports when it is no longer needed",
        except: &[],
    },
];

/// File names that do not describe the contents.
const VAGUE_FILE_NAMES: [&str; 6] = ["mod", "util", "utils", "helpers", "common", "misc"];

/// A source file of the checkout.
struct Source {
    /// The path from the root.
    path: String,
    text: String,
}

/// The step of the suite.
pub(crate) fn check_tree(tree: &Tree) -> Result<()> {
    let mut faults = Vec::new();
    let mut sources = Vec::new();
    let parent = parent_directory(tree);
    for path in listed_files(tree)? {
        // The rules apply to UTF-8 only.
        let Ok(text) = std::fs::read_to_string(tree.root.join(&path)) else {
            continue;
        };
        if let Some(line) = parent
            .as_deref()
            .and_then(|parent| line_with(&text, parent))
        {
            faults.push(format!("{path}:{line}: a path of this machine"));
        }
        if is_rust(&path) {
            sources.push(Source { path, text });
        }
    }
    faults.extend(faults_of(&sources, RULES)?);
    ensure!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

pub(crate) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "rs")
}

/// The files of the checkout, including uncommitted ones; paths relative to the root.
pub(crate) fn listed_files(tree: &Tree) -> Result<Vec<String>> {
    let shell = &tree.shell;
    let listed = cmd!(
        shell,
        "git ls-files --cached --others --exclude-standard --deduplicate"
    )
    .quiet()
    .read()
    .context("listing the checkout's files with git")?;
    // Git still lists a deleted file until the deletion is committed.
    let exists = |path: &&str| tree.root.join(path).exists();
    Ok(listed.lines().filter(exists).map(str::to_owned).collect())
}

/// The Rust sources of the crates, by path.
pub(crate) fn crate_sources(tree: &Tree) -> Result<BTreeMap<String, String>> {
    let mut sources = BTreeMap::new();
    for path in listed_files(tree)? {
        if path.starts_with("crates/") && path.contains("/src/") && is_rust(&path) {
            let text = std::fs::read_to_string(tree.root.join(&path)).context(path.clone())?;
            sources.insert(path, text);
        }
    }
    Ok(sources)
}

/// Returns the parent directory of the checkout: paths in it are specific to this machine. `None`
/// if it is a system directory that every machine has.
fn parent_directory(tree: &Tree) -> Option<PathBuf> {
    let parent = tree.root.parent()?;
    let system = ["/", "/home", "/root", "/tmp", "/usr/src", "/srv", "/opt"];
    (!system.iter().any(|system| parent == Path::new(system))).then(|| parent.to_owned())
}

/// Returns the first line that mentions an existing path in `parent_directory`. A path that does
/// not exist counts as an example.
fn line_with(text: &str, parent_directory: &Path) -> Option<usize> {
    let prefix = format!("{}/", parent_directory.display());
    let is_real = |after: &str| {
        let ends = |c: char| !(c.is_alphanumeric() || "._-".contains(c));
        let name = after.split(ends).next().unwrap_or_default();
        !name.is_empty() && parent_directory.join(name).exists()
    };
    let line = text
        .lines()
        .position(|line| line.split(&prefix).skip(1).any(is_real))?;
    Some(line + 1)
}

fn faults_of(sources: &[Source], rules: &[Rule]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for rule in rules {
        faults.extend(violations(rule, sources)?);
    }
    for source in sources {
        let lines = text_without_tests(source).lines().count();
        if lines > MAX_LINES {
            faults.push(format!(
                "{}: {lines} lines without its tests; split it by {MAX_LINES}",
                source.path
            ));
        }
        let stem = Path::new(&source.path)
            .file_stem()
            .and_then(|stem| stem.to_str());
        if stem.is_some_and(|stem| VAGUE_FILE_NAMES.contains(&stem)) {
            faults.push(format!("{}: name the file after its contents", source.path));
        }
    }
    Ok(faults)
}

/// Returns a sentence for each line that breaks a rule, and for each exemption without such a line.
fn violations(rule: &Rule, sources: &[Source]) -> Result<Vec<String>> {
    let pattern = Regex::new(rule.pattern)?;
    let paths = rule.except.iter();
    let exempted: Vec<&str> = paths.filter_map(|row| row.split(' ').next()).collect();
    let (mut faults, mut needed) = (Vec::new(), BTreeSet::new());
    for source in sources {
        let path = source.path.as_str();
        if !rule.within.iter().any(|within| path.starts_with(within)) {
            continue;
        }
        for (number, line) in code_lines(source).filter(|(_, line)| pattern.is_match(line)) {
            if exempted.contains(&path) {
                needed.insert(path);
            } else {
                let line = line.trim();
                faults.push(format!("{path}:{number}: {}\n    {line}", rule.why));
            }
        }
    }
    for path in exempted.iter().filter(|path| !needed.contains(*path)) {
        faults.push(format!(
            "xtask/src/source_rules.rs: `{path}` no longer needs its exception from: {}",
            rule.why
        ));
    }
    Ok(faults)
}

/// Lines of product code: no comments, no tests, benches or examples.
fn code_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let other_targets = ["/tests/", "/benches/", "/examples/"];
    let is_other_target = source.path.starts_with("crates/")
        && (other_targets.iter().any(|part| source.path.contains(part))
            || source.path.ends_with("_tests.rs"));
    let text = if is_other_target {
        ""
    } else {
        text_without_tests(source)
    };
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// The text up to the unit tests, which are at a file's end.
fn text_without_tests(source: &Source) -> &str {
    source
        .text
        .find("\n#[cfg(test)]\nmod ")
        .map_or(source.text.as_str(), |end| &source.text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of one file. Complaints about unneeded exceptions are dropped, as they concern
    /// other files.
    fn faults(path: &str, text: &str) -> Vec<String> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let mut faults = faults_of(&[source], RULES).unwrap();
        faults.retain(|fault| !fault.starts_with("xtask/src/source_rules.rs:"));
        faults
    }

    #[test]
    fn every_exemption_has_a_file_of_its_rule_and_a_reason() {
        let is_valid = |rule: &Rule, row: &str| {
            row.split_once(' ').is_some_and(|(path, reason)| {
                let mut prefixes = rule.within.iter();
                prefixes.any(|within| path.starts_with(within)) && reason.contains(' ')
            })
        };
        for rule in RULES {
            for row in rule.except {
                assert!(is_valid(rule, row), "{row}");
            }
        }
        for wrong in [
            "crates/sink/src/a.rs", "crates/sink/src/a.rs reason", "tests/a.rs a good reason",
        ] {
            assert!(!is_valid(&RULES[0], wrong), "{wrong}");
        }
    }

    #[test]
    fn checkout_has_no_faults() {
        check_tree(&Tree::open().unwrap()).unwrap();
    }

    #[test]
    fn each_rule_finds_its_pattern_and_ignores_similar_text() {
        let long = "fn f() {}\n".repeat(MAX_LINES + 1);
        let sink = "crates/sink/src/a.rs";
        let normalise = "crates/policy/src/normalise.rs";
        let cases: &[(&str, &str, bool)] = &[
            (sink, "static A: AtomicU64 = x;", true),
            // A constant that is initialised once.
            (sink, "static A: LazyLock<Regex> = x;", false),
            (sink, "static A: LazyLock<Mutex<u8>> = x;", true),
            (sink, "static mut A: u8 = 0;", true),
            (sink, "static A: &[&str] = &[];", false),
            (sink, "fn f(a: &'static Mutex<u8>) {}", false),
            (sink, "// static mut in a comment", false),
            (sink, "println!(\"x\");", true),
            ("crates/cli/src/a.rs", "println!(\"x\");", false),
            ("crates/sink/examples/a.rs", "println!(\"x\");", false),
            (
                sink,
                "\n#[cfg(test)]\nmod tests {\nprintln!(\"x\");\n}",
                false,
            ),
            // A stage that parses the script again.
            (
                "crates/agent-bash/src/stage/safety.rs",
                "let script = Script::read(text, &context);",
                true,
            ),
            (normalise, "lift(&Parsed::read(text, dialect))", true),
            (normalise, "pub fn lift(script: &Parsed<'_>) {}", false),
            ("crates/sink/src/mod.rs", "", true),
            ("crates/sink/src/helpers.rs", "", true),
            ("crates/sink/tests/it/support.rs", "", false),
            (sink, long.as_str(), true),
        ];
        for (path, text, found) in cases {
            let faults = faults(path, text);
            assert_eq!(!faults.is_empty(), *found, "{path}: {text:.60}: {faults:?}");
        }
        // The words are assembled here, so that this file does not violate the rules it tests.
        for word in ["ignore", "allow(dead_code)"] {
            assert_eq!(
                faults("crates/cli/src/a.rs", &format!("#[{word}]")).len(),
                1
            );
        }
    }

    #[test]
    fn unneeded_exception_is_a_fault() {
        let rule = |except| Rule {
            pattern: "forbidden",
            within: &["crates/"],
            why: "a test",
            except,
        };
        let source = |text: &str| Source {
            path: "crates/a.rs".to_owned(),
            text: text.to_owned(),
        };
        let needed = rule(&["crates/a.rs reason"]);
        assert!(
            faults_of(&[source("forbidden")], &[needed])
                .unwrap()
                .is_empty()
        );
        let stale = rule(&["crates/a.rs reason"]);
        let found = faults_of(&[source("fine")], &[stale]).unwrap();
        assert!(found[0].contains("no longer needs"), "{found:?}");
    }

    #[test]
    fn line_with_finds_existing_paths_only() {
        let here = tempfile::tempdir().unwrap();
        std::fs::create_dir(here.path().join("real")).unwrap();
        let path = |name: &str| format!("first\nsee {}/{name}, or not\n", here.path().display());
        assert_eq!(line_with(&path("real"), here.path()), Some(2));
        assert_eq!(line_with(&path("real/below"), here.path()), Some(2));
        assert_eq!(line_with(&path("invented/below"), here.path()), None);
        assert_eq!(line_with("a\n", here.path()), None);
    }
}

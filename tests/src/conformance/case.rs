//! The format of cases; reads their files.

use super::action::Action;
use super::adapter::{Adapter, Source};
use crate::refusals::Facility;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// All cases, and the requirements they cover.
#[derive(Debug)]
pub struct Cases {
    /// The cases, in the order of the files and within them.
    pub cases: Vec<Case>,
    /// The requirements, in the order of `requirements.toml`.
    pub requirements: Vec<Requirement>,
    /// The heads of the adapters' files, in the order of file names.
    pub adapters: Vec<Adapter>,
}

/// A requirement.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The id, as cases refer to it.
    pub id: String,
    /// The requirement, in one line.
    pub says: String,
    /// Tests outside the kit that also cover it, if a case cannot: `<file below the
    /// root>::<function>`.
    #[serde(default)]
    pub tests: Vec<String>,
}

/// A case: a world, calls in it, and the expected results.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The behaviour that the case shows, as a sentence.
    pub name: String,
    /// The requirements that the case covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// The profile under which the calls of the case run.
    #[serde(default = "standard")]
    pub profile: String,
    /// The facilities that the case needs. The case does not run in engines that lack one.
    #[serde(default)]
    pub needs: Vec<Facility>,
    /// The initial state of the world.
    #[serde(default)]
    pub setup: Setup,
    /// The calls, in order and in the same world.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// True if processes may outlive the last call and are then killed. Otherwise such a process is
    /// a failure.
    #[serde(default)]
    pub leaves_processes: bool,
    /// Name of the case's file, without extension.
    #[serde(skip)]
    pub file: String,
    /// The adapter to call; `None` for the regular tool.
    #[serde(skip)]
    pub adapter: Option<String>,
}

fn standard() -> String {
    "standard".to_owned()
}

impl Case {
    /// True if a step drives a terminal.
    pub(super) fn drives_terminal(&self) -> bool {
        let mut actions = self.steps.iter().filter_map(|step| step.action.as_ref());
        actions.any(|action| matches!(action, Action::Terminal(_)))
    }

    /// True if the user answers prompts of a call.
    pub(super) fn asks_user(&self) -> bool {
        self.steps.iter().any(|step| !step.answers.is_empty())
    }

    /// True if a call names the agent's turn.
    pub(super) fn names_turns(&self) -> bool {
        self.steps.iter().any(|step| step.turn_name.is_some())
    }
}

/// The initial state of a world.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// Files below the working directory, with their contents.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Directories below the working directory.
    #[serde(default)]
    pub directories: Vec<String>,
    /// Environment variables of the host, in addition to those of every world.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// The model's other tools, passed on in the way of each interface.
    #[serde(default)]
    pub tools: Option<Vec<String>>,
}

/// One call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The script, after placeholders are replaced.
    #[serde(default)]
    pub command: Option<String>,
    /// Other fields of the request.
    #[serde(default)]
    pub with: BTreeMap<String, toml::Value>,
    /// The complete request as JSON text, if `command` and `with` cannot express it.
    #[serde(default)]
    pub request: Option<String>,
    /// An action in place of a call.
    #[serde(default)]
    pub action: Option<Action>,
    /// The agent's turn to which the call belongs.
    #[serde(default, rename = "turn")]
    pub turn_name: Option<String>,
    /// The user's answers to the password prompts of the call, in order. Further prompts are
    /// declined.
    #[serde(default)]
    pub answers: Vec<String>,
    /// In an adapter's file: the tool to call, with `input` or `request`.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tool's input, after placeholders are replaced.
    #[serde(default)]
    pub input: Option<toml::Value>,
    /// Cancel the call as soon as this file exists in the working directory.
    #[serde(default)]
    pub cancel_when: Option<String>,
    /// The expected results.
    pub expect: Expect,
}

/// The expected results. Fields that are not specified are not checked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The whole text, with placeholders.
    #[serde(default)]
    pub text: Option<String>,
    /// Lines that the text must contain, with placeholders.
    #[serde(default)]
    pub text_lines: Vec<String>,
    /// Strings that the text must not contain.
    #[serde(default)]
    pub text_lacks: Vec<String>,
    /// The exit code of a program that makes this call on behalf of a user.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// True if the model gets an error, if the interface reports this separately from `text`.
    #[serde(default)]
    pub is_error: Option<bool>,
    /// An adapter's complete structured output. Strings may have placeholders.
    #[serde(default)]
    pub structured: Option<toml::Value>,
    /// A part of the result object: objects may have additional fields, everything else is compared
    /// exactly. Strings may have placeholders.
    #[serde(default)]
    pub result: Option<toml::Value>,
    /// A part of the data of an action, compared as `result` is.
    #[serde(default)]
    pub data: Option<toml::Value>,
    /// The kinds of all notices, in any order.
    #[serde(default)]
    pub notices: Option<Vec<String>>,
    /// The content of the only artifact, with placeholders. Its mode must be private and its counts
    /// correct.
    #[serde(default)]
    pub artifact: Option<String>,
    /// Files in the working directory afterwards, with their contents.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files that must not exist in the working directory afterwards.
    #[serde(default)]
    pub absent: Vec<String>,
}

/// The contents of a file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "case")]
    cases: Vec<Case>,
    #[serde(default, rename = "requirement")]
    requirements: Vec<Requirement>,
    /// Only in files of adapters.
    #[serde(default)]
    source: Option<Source>,
}

/// Reads every `*.toml` in `directory`, ordered by name, then every one in its subdirectory
/// `adapters`. A file there is named after the adapter that its cases call.
///
/// # Errors
/// An unreadable file, an unknown field, a case without steps, a duplicate case name, an unknown
/// requirement.
pub fn load(directory: &Path) -> Result<Cases> {
    let mut all = Cases {
        cases: Vec::new(),
        requirements: Vec::new(),
        adapters: Vec::new(),
    };
    for (name, file) in read(directory)? {
        all.cases.extend(file.cases.into_iter().map(|case| Case {
            file: name.clone(),
            ..case
        }));
        all.requirements.extend(file.requirements);
    }
    for (name, file) in read(&directory.join("adapters"))? {
        let source = file
            .source
            .with_context(|| format!("adapters/{name}.toml does not say its source"))?;
        all.cases.extend(file.cases.into_iter().map(|case| Case {
            file: format!("adapters/{name}"),
            // All cases in an adapter's file cover the adapter's requirement.
            covers: [case.covers, vec![format!("adapter: {name}")]].concat(),
            adapter: Some(name.clone()),
            ..case
        }));
        let tools = std::fs::read_to_string(directory.join(format!("adapters/{name}.tools.json")))
            .with_context(|| format!("the tools of adapter {name}"))?;
        all.adapters.push(Adapter {
            name,
            source,
            tools: serde_json::from_str(&tools)?,
        });
    }
    check(&all)?;
    check_tests(&all, directory)?;
    Ok(all)
}

/// Reads the files of cases in a directory; returns them with their names without extension.
fn read(directory: &Path) -> Result<Vec<(String, File)>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = std::fs::read_dir(directory)
        .with_context(|| format!("reading {}", directory.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let file = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        files.push((stem.into_owned(), file));
    }
    Ok(files)
}

/// Checks that every requirement is covered and every named test exists. `directory` is two levels
/// below the root.
fn check_tests(all: &Cases, directory: &Path) -> Result<()> {
    let root = directory.join("../..");
    for Requirement { id, tests, .. } in &all.requirements {
        let cases = all.cases.iter();
        if tests.is_empty() && cases.clone().all(|case| !case.covers.contains(id)) {
            bail!("nothing holds requirement `{id}`");
        }
        for test in tests {
            let (file, function) = test
                .split_once("::")
                .context("a test is <file>::<function>")?;
            let text = std::fs::read_to_string(root.join(file))
                .with_context(|| format!("requirement `{id}` names {file}"))?;
            if !text.contains(&format!("fn {function}(")) {
                bail!("requirement `{id}` names `{function}`, which is not in {file}");
            }
        }
    }
    Ok(())
}

fn check(all: &Cases) -> Result<()> {
    let known: BTreeSet<&str> = all
        .requirements
        .iter()
        .map(|requirement| requirement.id.as_str())
        .collect();
    let mut names = BTreeSet::new();
    for case in &all.cases {
        let name = &case.name;
        if case.steps.is_empty() {
            bail!("case `{name}` makes no call");
        }
        if !names.insert((&case.file, name)) {
            bail!("two cases of {} are named `{name}`", case.file);
        }
        if let Some(unknown) = case.covers.iter().find(|id| !known.contains(id.as_str())) {
            bail!("case `{name}` covers `{unknown}`, which requirements.toml does not list");
        }
        for step in &case.steps {
            if step.expect == Expect::default() {
                bail!("a step of `{name}` expects nothing, so it cannot fail");
            }
            let (plain, whole) = (step.command.is_some(), step.request.is_some());
            if step.action.is_some() {
                let is_call = plain || whole || step.tool.is_some() || !step.with.is_empty();
                if is_call || step.turn_name.is_some() {
                    bail!("a step of `{name}` has an `action` and a call; make two steps of them");
                }
                continue;
            }
            if case.adapter.is_some() {
                let has_one_input = whole != step.input.is_some();
                if step.tool.is_none() || !has_one_input || plain || !step.with.is_empty() {
                    bail!("a step of `{name}` must have `tool`, and either `input` or `request`");
                }
                continue;
            }
            if step.tool.is_some() || step.input.is_some() {
                bail!("a step of `{name}` calls the tool of an adapter, and has none");
            }
            if whole == plain || (whole && !step.with.is_empty()) {
                bail!("a step of `{name}` must have either `command` (and `with`) or `request`");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Result<Cases> {
        let directory = tempfile::tempdir()?;
        std::fs::write(directory.path().join("a.toml"), text)?;
        load(directory.path())
    }

    const GOOD: &str = "
        [[requirement]]
        id = 'R1'
        says = 'it runs'

        [[case]]
        name = 'runs'
        covers = ['R1']
        [[case.step]]
        command = 'true'
        expect.text = '(no output)'
    ";

    #[test]
    fn load_reads_every_field_of_a_case() {
        let cases = load_text(GOOD).unwrap();
        let case = &cases.cases[0];
        assert_eq!(
            (case.file.as_str(), case.profile.as_str()),
            ("a", "standard")
        );
        assert_eq!(case.steps[0].expect.text.as_deref(), Some("(no output)"));
    }

    #[test]
    fn unknown_fields_of_cases_are_refused() {
        for (from, to, want) in [
            ("covers = ['R1']", "covers = ['R2']", "covers `R2`"),
            ("covers = ['R1']", "kovers = ['R1']", "kovers"),
            ("expect.text", "expect.txet", "txet"),
            (
                "expect.text = '(no output)'", "expect = {}", "expects nothing",
            ),
            (
                "expect.text = '(no output)'", "expect.text_lines = []", "expects nothing",
            ),
            (
                "command = 'true'",
                "request = '{}'\nwith.head = 1",
                "either `command`",
            ),
            (
                "command = 'true'",
                "command = 'true'\naction.kill.job = '1'",
                "make two steps",
            ),
            (
                "[[case.step]]",
                "[[case.step]]\ncommand = 'false'\nexpect.text = ''\n[[case]]\nname = 'runs'\n[[case.step]]",
                "two cases",
            ),
            ("covers = ['R1']", "", "nothing holds requirement `R1`"),
            (
                "says = 'it runs'",
                "says = 'it runs'\ntests = ['no/such.rs::x']",
                "names no/such.rs",
            ),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            let error = format!("{:#}", load_text(&text).unwrap_err());
            assert!(error.contains(want), "{to}: {error}");
        }
    }

    #[test]
    fn adapter_file_names_source_and_calls_its_tools() {
        const FILE: &str = "
            [source]
            registry = 'npm'
            package = 'p'
            version = '1.0.0'
            files = ['a.d.ts']
            note = 'read'
            [[case]]
            name = 'runs'
            [[case.step]]
            tool = 'Bash'
            input.command = 'true'
            expect.text = ''
        ";
        let load_file = |text: &str| -> Result<Cases> {
            let directory = tempfile::tempdir()?;
            let adapters = directory.path().join("adapters");
            std::fs::create_dir(&adapters)?;
            let requirement = "[[requirement]]\nid = 'adapter: x'\nsays = 'it answers'";
            std::fs::write(directory.path().join("a.toml"), requirement)?;
            std::fs::write(adapters.join("x.toml"), text)?;
            std::fs::write(adapters.join("x.tools.json"), "[]")?;
            load(directory.path())
        };
        let cases = load_file(FILE).unwrap();
        let case = &cases.cases[0];
        assert_eq!(
            (case.adapter.as_deref(), case.covers.as_slice()),
            (Some("x"), &["adapter: x".to_owned()][..])
        );
        assert_eq!(cases.adapters[0].source.version, "1.0.0");
        for (from, to, want) in [
            ("tool = 'Bash'", "", "must have `tool`"),
            ("input.command = 'true'", "", "must have `tool`"),
            ("input.command", "command", "must have `tool`"),
            (
                "[source]",
                "[[case]]\nname = 'x'\n[source]",
                "missing field",
            ),
        ] {
            let text = FILE.replace(from, to);
            assert_ne!(text, FILE);
            let error = format!("{:#}", load_file(&text).unwrap_err());
            assert!(error.contains(want), "{to}: {error}");
        }
        let nowhere = &FILE[FILE.find("[[case]]").unwrap()..];
        let error = format!("{:#}", load_file(nowhere).unwrap_err());
        assert!(error.contains("does not say its source"), "{error}");
        let error = format!("{:#}", load_text(nowhere).unwrap_err());
        assert!(error.contains("and has none"), "{error}");
    }
}

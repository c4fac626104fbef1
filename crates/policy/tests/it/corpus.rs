//! Every case of the corpus, whose effect was measured with real bash and git: no misses, no false
//! alarms.

#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be read fails the test"
)]

use crate::corpora::{lines, script};
use std::collections::BTreeSet;

use agent_bash_policy::{
    Context, Group, Interceptor, RuleSelection, SafeMode, Script, check_safe_mode, check_safety,
};

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

/// Other contexts: the verdicts of measured cases must not depend on the context.
fn elsewhere() -> [Context; 3] {
    [
        Context::new("/tmp/w").with_home("/root"),
        Context::new("/root").with_home("/root"),
        Context::new("/srv").with_home("/home/agent"),
    ]
}

struct Case {
    check: &'static str,
    group: Group,
    blocks: bool,
    script: String,
}

fn read(lines: impl IntoIterator<Item = &'static str>) -> Vec<Case> {
    let read = |line: &'static str| {
        let fields: Vec<&'static str> = line.split('\t').collect();
        Case {
            check: fields[0],
            group: fields[1].parse().unwrap(),
            blocks: fields[2] == "block",
            script: script(line).unwrap(),
        }
    };
    lines.into_iter().map(read).collect()
}

fn cases() -> Vec<Case> {
    read(lines())
}

/// Fails with the number and the list of the wrong cases, if there are any.
fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn safety_corpus_has_the_measured_verdicts() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "safety") {
        let mut rules = RuleSelection::default();
        rules.switch(case.group.name(), true).unwrap();
        let verdict = check_safety(&Script::read(&case.script, &context()), &rules);
        if (verdict.name() == "block") != case.blocks {
            wrong.push(format!("{:?}: {}", case.script, verdict.name()));
        }
    }
    assert_none(&wrong);
}

/// Accidents, hidden commands and near misses of 2026, by the default groups or by all.
#[test]
fn commands_of_2026_have_the_stated_verdicts() {
    let mut wrong = Vec::new();
    let rows = include_str!("../data/policy_2026.tsv").lines().skip(1);
    for line in rows {
        let fields: Vec<&str> = line.split('\t').collect();
        let text = script(line).unwrap();
        let context = context();
        let read = Script::read(&text, &context);
        let mut selections = vec![match fields[1] {
            "all" => RuleSelection::all(),
            _ => RuleSelection::default(),
        }];
        // A near miss is no accident of any other group, either.
        selections.extend((fields[4] == "near miss").then(RuleSelection::all));
        for rules in selections {
            let verdict = check_safety(&read, &rules);
            if verdict.name() != fields[2] {
                wrong.push(format!("{} {text:?}: {verdict:?}", fields[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn safe_mode_corpus_has_the_measured_verdicts() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "safemode") {
        let verdict = check_safe_mode(
            &Script::read(&case.script, &context()),
            &SafeMode::default(),
        );
        let is_held = refused_by_sandbox().contains(&case.script);
        if verdict.refuses() != (case.blocks && !is_held) {
            wrong.push(format!("{:?}: {verdict:?}", case.script));
        }
    }
    assert_none(&wrong);
}

/// Listed commands that do more than read. The kernel stops them, as the end-to-end tests show for
/// each. A command that does not end (`time`) is stopped by its time limit; a command that reads
/// the whole system (`wide`) is limited like the others.
fn refused_by_sandbox() -> BTreeSet<String> {
    let rows = include_str!("../data/refused_by_sandbox.tsv")
        .lines()
        .skip(1);
    let scripts = rows.map(|line| line.split('\t').nth(1).unwrap());
    scripts
        .map(|script| serde_json::from_str(script).unwrap())
        .collect()
}

#[test]
fn interceptor_corpus_has_the_measured_verdicts() {
    let tools = ["read", "grep", "find", "edit", "write"].map(ToOwned::to_owned);
    let interceptor = Interceptor::default();
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "interceptor") {
        let context = context();
        let script = Script::read(&case.script, &context);
        let verdict = interceptor.check(&script, &tools);
        if verdict.refuses() != case.blocks {
            wrong.push(format!("{:?}: {verdict:?}", case.script));
        }
        // Negative control: without tools nothing is intercepted.
        assert!(
            !interceptor.check(&script, &[]).refuses(),
            "{:?}",
            case.script
        );
    }
    assert_none(&wrong);
}

#[test]
fn measured_cases_do_not_depend_on_the_directory() {
    let mut wrong = Vec::new();
    let measured = include_str!("../data/policy_cases.tsv").lines().skip(1);
    for case in read(measured).iter().filter(|case| case.check == "safety") {
        let mut rules = RuleSelection::default();
        rules.switch(case.group.name(), true).unwrap();
        for context in elsewhere() {
            let verdict = check_safety(&Script::read(&case.script, &context), &rules);
            if (verdict.name() == "block") != case.blocks {
                wrong.push(format!("in {}: {:?}", context.cwd.display(), case.script));
            }
        }
    }
    assert_none(&wrong);
}

/// Commands that a careless model does not write, and which the rules therefore ignore. The list
/// must stay accurate: commands that the rules find now belong to the variants.
#[test]
fn allowed_requests_pass() {
    for case in read(include_str!("../data/let_pass.tsv").lines().skip(1)) {
        let verdict = check_safety(
            &Script::read(&case.script, &context()),
            &RuleSelection::all(),
        );
        assert_eq!(verdict.name(), "allow", "{:?}", case.script);
    }
}

//! Every case of the corpus, measured in real bash and git: none missed, no false alarm.

#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be read fails the test"
)]

use agent_bash_policy::{
    Context, Group, Interceptor, RuleSelection, SafeMode, check_safe_mode, check_safety,
};

/// Measured cases, and variants of them that were thought of.
const CORPORA: [&str; 2] = [
    include_str!("data/policy_cases.tsv"),
    include_str!("data/variants.tsv"),
];

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

/// Other places to be in: the verdicts of the measured cases do not depend on it.
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
    line: usize,
}

fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for (index, line) in CORPORA
        .into_iter()
        .flat_map(|text| text.lines().enumerate().skip(1))
    {
        let fields: Vec<&'static str> = line.split('\t').collect();
        out.push(Case {
            check: fields[0],
            group: fields[1].parse().unwrap(),
            blocks: fields[2] == "block",
            script: serde_json::from_str(fields[3]).unwrap(),
            line: index + 1,
        });
    }
    out
}

#[test]
fn the_safety_corpus_is_judged_as_measured() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "safety") {
        let mut rules = RuleSelection::default();
        rules.switch(case.group.name(), true).unwrap();
        let verdict = check_safety(&case.script, &context(), &rules);
        if (verdict.name() == "block") != case.blocks {
            wrong.push(format!(
                "line {}: {:?}: {}",
                case.line,
                case.script,
                verdict.name()
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_safe_mode_corpus_is_judged_as_measured() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "safemode") {
        let verdict = check_safe_mode(&case.script, &context(), &SafeMode::default());
        if verdict.refuses() != case.blocks {
            wrong.push(format!(
                "line {}: {:?}: {verdict:?}",
                case.line, case.script
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_interceptor_corpus_is_judged_as_measured() {
    let tools = context().with_tools(["read", "grep", "find", "edit", "write"]);
    let interceptor = Interceptor::default();
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.check == "interceptor") {
        let verdict = interceptor.check(&case.script, &tools);
        if verdict.refuses() != case.blocks {
            wrong.push(format!(
                "line {}: {:?}: {verdict:?}",
                case.line, case.script
            ));
        }
        // The negative control: without tools nothing is intercepted.
        assert!(
            !interceptor.check(&case.script, &context()).refuses(),
            "{:?}",
            case.script
        );
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_measured_cases_do_not_depend_on_the_place() {
    let mut wrong = Vec::new();
    let measured = CORPORA[0].lines().count() - 1;
    for case in cases()
        .iter()
        .take(measured)
        .filter(|case| case.check == "safety")
    {
        let mut rules = RuleSelection::default();
        rules.switch(case.group.name(), true).unwrap();
        for context in elsewhere() {
            let verdict = check_safety(&case.script, &context, &rules);
            if (verdict.name() == "block") != case.blocks {
                wrong.push(format!(
                    "line {} in {}: {:?}",
                    case.line,
                    context.cwd.display(),
                    case.script
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

//! Every rule's own examples: it blocks what it claims to block, and allows near misses.

use agent_bash_policy::{Context, RuleSelection, Script, Verdict, check_safety, rules};

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

#[test]
fn examples_hold() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let mut only = RuleSelection::none();
        only.switch(rule.id, true).unwrap();
        for script in rule.fires {
            match check_safety(&Script::read(script, &context()), &only) {
                Verdict::Block(finding) if finding.rule == rule.id => {}
                other => wrong.push(format!("{} should fire on {script:?}: {other:?}", rule.id)),
            }
            // Negative control: without the rule nothing blocks.
            let off = check_safety(&Script::read(script, &context()), &RuleSelection::none());
            if off != Verdict::Allow {
                wrong.push(format!("with no rule on, {script:?}: {off:?}"));
            }
        }
        for script in rule.spares {
            let verdict = check_safety(&Script::read(script, &context()), &only);
            if verdict != Verdict::Allow {
                wrong.push(format!("{} should spare {script:?}: {verdict:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_messages_are_one_line() {
    for (index, rule) in rules().iter().enumerate() {
        assert!(!rule.message.contains('\n'), "{}", rule.id);
        assert!(
            !rule.fires.is_empty() && !rule.spares.is_empty(),
            "{}",
            rule.id
        );
        assert!(
            rules()[..index].iter().all(|other| other.id != rule.id),
            "{}",
            rule.id
        );
    }
}

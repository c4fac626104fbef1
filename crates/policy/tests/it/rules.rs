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
        for script in &rule.blocked_examples {
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
        for script in &rule.allowed_examples {
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
            !rule.blocked_examples.is_empty() && !rule.allowed_examples.is_empty(),
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

/// A suggestion of a rule is refused by no rule, even if all rules are on.
#[test]
fn no_advice_is_refused() {
    let mut all = RuleSelection::none();
    for rule in rules() {
        all.switch(rule.id, true).unwrap();
    }
    let mut advised = 0;
    let mut wrong = Vec::new();
    for rule in rules() {
        let mut only = RuleSelection::none();
        only.switch(rule.id, true).unwrap();
        for script in &rule.blocked_examples {
            let Verdict::Block(finding) = check_safety(&Script::read(script, &context()), &only)
            else {
                continue;
            };
            for command in commands(&finding.suggestion) {
                advised += 1;
                let verdict = check_safety(&Script::read(command, &context()), &all);
                // Prose that starts with a keyword cannot be parsed.
                if matches!(verdict, Verdict::Block(_)) {
                    wrong.push(format!("{} advises {command:?}: {verdict:?}", rule.id));
                }
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(advised > rules().len(), "{advised}");
}

/// Returns the commands in a suggestion: the quoted parts, or else each alternative.
fn commands(advice: &str) -> Vec<&str> {
    let quoted: Vec<_> = advice.split('`').skip(1).step_by(2).collect();
    if quoted.is_empty() {
        let alternatives = advice.split(", or ").flat_map(|part| part.split(", then "));
        return alternatives.collect();
    }
    quoted
}

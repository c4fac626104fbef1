//! Properties of all scripts: no panic, and a verdict that does not depend on insignificant text.

use agent_bash_policy::{
    Context, Dialect, Interceptor, Parsed, Policy, RuleSelection, SafeMode, Script, check_safety,
    explain, lift, rules,
};
use proptest::prelude::*;

/// Returns the configuration with the number of cases per property. `AGENT_BASH_FUZZ_CASES` sets a
/// larger number for a fuzz test.
#[expect(
    clippy::disallowed_methods,
    reason = "a switch of the test, not of the product"
)]
fn config() -> ProptestConfig {
    let cases = std::env::var("AGENT_BASH_FUZZ_CASES").ok();
    ProptestConfig {
        cases: cases.and_then(|cases| cases.parse().ok()).unwrap_or(200),
        ..ProptestConfig::default()
    }
}

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

fn everything() -> Policy {
    Policy {
        interceptor: Some(Interceptor::default()),
        safety: Some(RuleSelection::all()),
        safe_mode: Some(SafeMode::default()),
        tools: ["read", "grep"].map(ToOwned::to_owned).to_vec(),
    }
}

/// Generates text that consists of shell syntax.
fn shellish() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        prop::sample::select(vec![
            "rm", "-rf", "/", "git", "add", "-A", ".", "push", "-f", "$x", "${x", "}", "$(", ")",
            "`", "'", "\"", "\\", "\n", " ", ";", "&&", "||", "|", "&", "<<E", "E\n", "<", ">",
            "(", "{", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", ";;", "[[",
            "]]", "((", "))", "x=", "a[", "]", "*", "?", "~", "!", "#", "eval", "bash", "-c",
            "xargs", "find", "-exec", "time", "coproc", "$'", "\\\n", "{a,b}", "é", "\u{0}",
            "function", "f()", "zsh", "(N)", "(e:", "${(f)", "${=", "$=x", "$x[", ":h", "<1-5>",
            "=rm", "repeat", ">!", "&!", "setopt", "always",
        ]),
        prop::sample::select(vec![" ", " ", "\n"]),
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

/// Selects one of the rules' examples, as a meaningful script.
fn example() -> impl Strategy<Value = &'static str> {
    let scripts: Vec<&str> = rules()
        .iter()
        .flat_map(|rule| rule.blocked_examples.iter().chain(&rule.allowed_examples))
        .map(String::as_str)
        .collect();
    prop::sample::select(scripts)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_text_causes_no_panic(script in shellish()) {
        let explanation = explain(&Script::read(&script, &context()), &everything());
        prop_assert!(!explanation.to_string().is_empty());
        for command in &explanation.commands {
            prop_assert!(command.span.start <= command.span.end && command.span.end <= script.len(), "{:?}", command);
        }
        let zsh = context().with_dialect(Dialect::Zsh);
        check_safety(&Script::read(&script, &zsh), &RuleSelection::all());
        lift(&Parsed::read(&script));
    }

    #[test]
    fn random_unicode_text_causes_no_panic(script in "\\PC{0,80}") {
        explain(&Script::read(&script, &context()), &everything());
        lift(&Parsed::read(&script));
    }

    #[test]
    fn white_space_and_comments_change_no_verdict(script in example(), blank in "[ \t\n]{0,4}") {
        let rules = RuleSelection::all();
        let name = |script: &str| check_safety(&Script::read(script, &context()), &rules).name();
        let plain = name(script);
        for same in [
            format!("{blank}{script}"),
            format!("true && {script}"),
            format!("true; {script}"),
            format!("# a comment\n{script}"),
            format!("{script}\n{blank}"),
            format!("{script}\n# a comment"),
            format!("{{ {script}\n}}"),
            format!("if true; then {script}\nfi"),
        ] {
            prop_assert_eq!(name(&same), plain, "{}", same);
        }
    }

    #[test]
    fn dangerous_command_is_found_after_any_complete_script(script in example()) {
        let rules = RuleSelection::default();
        let both = format!("{script}\nrm -rf /");
        prop_assert_eq!(check_safety(&Script::read(&both, &context()), &rules).name(), "block", "{}", both);
    }
}

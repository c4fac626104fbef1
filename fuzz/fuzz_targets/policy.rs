//! No text makes the policy panic, and white space and comments around a script change no verdict.

#![no_main]

use agent_bash_policy::{
    Context, Interceptor, Parsed, Policy, RuleSelection, SafeMode, Script, explain, lift,
};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static POLICY: LazyLock<Policy> = LazyLock::new(|| Policy {
    interceptor: Some(Interceptor::default()),
    safety: Some(RuleSelection::default()),
    safe_mode: Some(SafeMode::default()),
    tools: ["read", "grep", "find", "edit", "write"].map(str::to_owned).to_vec(),
});

fuzz_target!(|text: &str| {
    let context = Context::new("/home/u/project").with_home("/home/u");
    let policy = &*POLICY;
    let verdict = policy.decide(&Script::read(text, &context));
    assert_eq!(explain(&Script::read(text, &context), policy).verdict, verdict);
    let framed = policy.decide(&Script::read(&format!("\n \t{text}\n# comment\n"), &context));
    // A newline at the end closes a comment but not an unfinished command; after a backslash it is
    // swallowed.
    if verdict.name() != "unreadable" && framed.name() != "unreadable" && !text.contains('\\') {
        assert_eq!(framed.name(), verdict.name());
    }
    let _ = lift(&Parsed::read(text));
});

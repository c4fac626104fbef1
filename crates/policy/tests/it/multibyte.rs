//! No input causes a panic: the corpora, with multi-byte characters inserted where single bytes are
//! expected.

use crate::corpora;
use std::collections::{BTreeSet, HashSet};

use agent_bash_policy::{
    Context, Interceptor, Parsed, Policy, RuleSelection, SafeMode, Script, lift, rules,
};

/// Characters of two, three and four bytes; a soft hyphen, as occurs in options copied from web
/// pages; and the reader's own placeholder characters.
const CHARACTERS: [char; 7] = [
    'é', '\u{ad}', '—', '\u{1f980}', '\u{f8fe}', '\u{f8ff}', '\u{301}',
];

fn scripts() -> BTreeSet<String> {
    let cases = corpora::lines().into_iter().filter_map(corpora::script);
    let examples = rules()
        .iter()
        .flat_map(|rule| rule.blocked_examples.iter().chain(&rule.allowed_examples))
        .cloned();
    // Options that occur nowhere else so far.
    let more = [
        "xargs -i", "xargs -e", "sudo -u", "env -S", "timeout -k", "python -Wc", "pkill -u",
    ];
    cases
        .chain(examples)
        .chain(more.map(ToOwned::to_owned))
        .collect()
}

/// Returns the positions at which a character may change the verdict: positions in options, and a
/// few others that depend on the text.
fn positions(script: &str) -> Vec<usize> {
    let bytes = script.as_bytes();
    let mut out: Vec<usize> = (1..=bytes.len())
        .filter(|at| {
            let before = bytes[*at - 1];
            before == b'-'
                || *at > 1 && bytes[*at - 2] == b'-' && before.is_ascii_alphabetic()
                || matches!(
                    before,
                    b'=' | b'$' | b'{' | b'[' | b'~' | b'\\' | b'%' | b':'
                )
        })
        .collect();
    let mut seed = bytes.iter().fold(17_usize, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
    });
    for _ in 0..3 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        out.push((seed >> 16) % (bytes.len() + 1));
    }
    out.retain(|at| script.is_char_boundary(*at));
    out.sort_unstable();
    out.dedup();
    out.truncate(4);
    out
}

/// Returns the script's first word, and the parts of the word at `at` before and after this
/// position. A parser that fails there fails in every script with the same three texts.
fn class(script: &str, at: usize) -> [&str; 3] {
    let first = |text| str::split(text, char::is_whitespace).next();
    let (before, behind) = script.split_at(at);
    let last = before.rsplit(char::is_whitespace).next();
    [first(script.trim_start()), last, first(behind)].map(Option::unwrap_or_default)
}

#[test]
fn characters_of_several_bytes_cause_no_panic() {
    let context = Context::new("/home/u/project").with_home("/home/u");
    let policy = Policy {
        interceptor: Some(Interceptor::default()),
        safety: Some(RuleSelection::all()),
        safe_mode: Some(SafeMode::default()),
        tools: ["read", "grep"].map(ToOwned::to_owned).to_vec(),
    };
    let mut tried = 0_usize;
    let mut classes = HashSet::new();
    let scripts = scripts();
    for script in scripts.iter().filter(|script| script.len() < 400) {
        for at in positions(script) {
            if !classes.insert(class(script, at)) {
                continue;
            }
            let character = CHARACTERS[tried % CHARACTERS.len()];
            let (before, behind) = script.split_at(at);
            let mut changed = format!("{before}{character}{behind}");
            // Every third one replaces the existing character.
            if tried.is_multiple_of(3) && behind.starts_with(|c: char| c.is_ascii_alphanumeric()) {
                changed = format!("{before}{character}{}", &behind[1..]);
            }
            policy.decide(&Script::read(&changed, &context));
            lift(&Parsed::read(&changed));
            tried += 1;
        }
    }
    assert!(tried > 3_000, "{tried}");
}

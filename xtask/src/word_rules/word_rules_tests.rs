use super::*;

/// Returns the rules that a text breaks, with their lines.
fn broken(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let rules = CompiledRules::compile().unwrap();
    let offences = rules.offences_in(path, text).into_iter();
    offences
        .map(|offence| (offence.rule, offence.line))
        .collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn offences_are_found_by_file_and_line() {
    let long = format!("\n// {}", "word ".repeat(25));
    let cases: &[(&str, &str, &str, usize)] = &[
        ("crates/a/src/a.rs", "\npub struct Told;", "banned name", 2),
        (
            "crates/a/src/a.rs", "struct A {\n    kept: u8,\n}", "banned name", 2,
        ),
        (
            "crates/a/src/a.rs", "enum A {\n    Gone,\n}", "banned name", 2,
        ),
        (
            "crates/a/src/a.rs", "enum A { B {\n left: u8 } }", "banned name", 2,
        ),
        ("crates/a/src/a.rs", "\nmod beneath;", "banned name", 2),
        ("crates/a/src/apart.rs", "", "banned name", 1),
        (
            "crates/a/src/a.rs",
            "impl A {\n    pub(crate) fn given(&self) {}\n}",
            "banned name",
            2,
        ),
        (
            "crates/a/src/a.rs",
            "trait A {\n    fn asked(&self);\n}",
            "banned name",
            2,
        ),
        (
            "crates/a/src/a.rs", "\npub enum State { B }", "vague type", 2,
        ),
        (
            "crates/a/src/a.rs",
            "\n#[test]\nfn it_harms_nobody() {}",
            "person in a name",
            3,
        ),
        (
            "crates/a/src/a.rs", "\n// It is held by nobody.", "subject", 2,
        ),
        ("crates/a/src/a.rs", "\nfn a() {} // for\n", "", 0),
        (
            "crates/a/src/a.rs",
            "\n/// Ends a process that belongs to\n/// nobody.",
            "nobody",
            3,
        ),
        (
            "crates/a/src/a.rs",
            "f(\"a timeout that is none\")",
            "is none",
            1,
        ),
        (
            "crates/a/src/a.rs",
            "//! Files of\n//! which one is open.",
            "of which",
            1,
        ),
        ("crates/a/src/a.rs", "// The child who waits.", "who", 1),
        (
            "crates/a/src/a.rs",
            "// Ends a process whose parent exited.",
            "whose",
            1,
        ),
        (
            "crates/a/src/a.rs", "fn a() {}\n// Those of jobs.", "that of", 2,
        ),
        ("crates/a/src/a.rs", "/// What is read of it.", "subject", 1),
        (
            "crates/a/src/a.rs",
            "struct A {\n    /// Its name.\n    name: String,\n}",
            "doc subject",
            2,
        ),
        (
            "crates/a/src/a.rs",
            "\n/// Whether it has ended.\nfn a() -> bool {}",
            "doc subject",
            2,
        ),
        (
            "crates/a/src/a.rs",
            "\n/// As [`b`], without waiting.\nfn a() {}",
            "doc subject",
            2,
        ),
        (
            "crates/a/src/a.rs", "//! Where files are stored.", "doc subject", 1,
        ),
        (
            "crates/a/src/a.rs", "\nconst MOST: usize = 9;", "bare constant", 2,
        ),
        (
            "crates/a/src/a.rs",
            "impl A {\n    pub const PATIENCE: Duration = B;\n}",
            "bare constant",
            2,
        ),
        ("crates/a/src/a.rs", &long, "long comment", 2),
        (
            "docs/a.md",
            "# A\n\nA process is ended by\nwhoever started it.",
            "nobody",
            4,
        ),
        (
            "clients/python/a.py",
            "# The call is ended by nobody.",
            "nobody",
            1,
        ),
        (
            "tests/conformance/a.toml",
            "name = \"a result that is none\"",
            "is none",
            1,
        ),
        (
            "tests/data/a.sh",
            "echo who\n# A process who waits",
            "who",
            2,
        ),
    ];
    for (path, text, rule, line) in cases {
        let found = broken(path, text);
        assert!(
            rule.is_empty() || found.contains(&(*rule, *line)),
            "{path}: {text}: {found:?}"
        );
    }
}

#[test]
fn similar_valid_text_has_no_offence() {
    let cases: &[(&str, &str)] = &[
        (
            "crates/a/src/a.rs",
            "struct JobState { kept_bytes: u8 } fn told() { let left = 1; match a { Some(gone) => gone } }",
        ),
        (
            "crates/a/src/a.rs",
            "enum JobRecord { Session(u8) } type Item = u8;",
        ),
        ("crates/a/src/a.rs", "// Returns 0 if there is none."),
        (
            "crates/a/src/a.rs",
            "// A user who is not root, and a file whose name is not UTF-8.",
        ),
        ("crates/a/src/a.rs", "// Runs `who` as the user `nobody`."),
        (
            "crates/a/src/a.rs",
            "const A: &[&str] = &[\"who\", \"nobody\"];",
        ),
        (
            "crates/a/src/a.rs",
            "// The exit code differs from that of bash in one case.",
        ),
        (
            "crates/a/src/a.rs",
            "/// Returns what the shell printed.\n/// It is UTF-8.",
        ),
        (
            "crates/a/src/a.rs",
            "/// Returns the state.\n///\n/// As the call ends, so does the shell.\nfn a() {} // As above.",
        ),
        (
            "crates/a/src/a.rs",
            "const ESC: u8 = 27; const SIGTERM: i32 = 15; const RULE: Rule = B; const MAX_BYTES: u64 = 1;",
        ),
        (
            "crates/a/src/a_tests.rs",
            "/// As in a shell.\nconst SOON: Duration = A;",
        ),
        ("docs/a.md", "```sh\nwho | wc -l\n```"),
        ("clients/python/a.py", "if a is None:\n    pass"),
        ("tests/data/a.sh", "who am i"),
        (
            "crates/a/src/a.rs",
            &format!("// https://example.org/{}", "a".repeat(100)),
        ),
    ];
    for (path, text) in cases {
        assert_eq!(broken(path, text), [], "{path}: {text}");
    }
}

#[test]
fn exception_excuses_one_rule_in_one_file() {
    let exception = exceptions::Exception {
        rule: "vague type",
        path: "crates/a/src/a.rs",
        excerpt: "`Session`",
        reason: "a promised name",
    };
    let rules = CompiledRules::compile().unwrap();
    let found = |path, text| rules.offences_in(path, text).remove(0);
    assert!(exception.excuses(&found("crates/a/src/a.rs", "struct Session;")));
    assert!(!exception.excuses(&found("crates/a/src/b.rs", "struct Session;")));
    assert!(!exception.excuses(&found("crates/a/src/a.rs", "struct State;")));
    assert_eq!(exception.as_offence().rule, "unneeded exception");
}

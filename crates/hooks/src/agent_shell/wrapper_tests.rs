//! The scripts are texts that published agents passed to their shell, with shorter paths.

use super::*;
use proptest::prelude::*;

/// Claude Code 2.1.332 with `CLAUDE_CODE_SHELL_PREFIX`, up to the model's text.
const CLAUDE_CODE: &str = r"source /home/user/.claude/shell-snapshots/snapshot-bash-1795809597164-r2b7vo.sh 2>/dev/null || true && { \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_RC_QUOTES NO_EQUALS; } >/dev/null 2>&1 || true && { \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && { \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && ";

/// The part that Claude Code puts before a text that old versions of bash parse differently.
const OLD_BASH: &str = r#"{ case "${BASH_VERSINFO-}" in '2'|'3') \builtin printf '%s\n' '__CLAUDE_CODE_DID_NOT_RUN_BASH_TOO_OLD='"${BASH_VERSION-}" >&2; \builtin exit 126; \exit 126;; esac; } && "#;

/// Claude Code 2.1.332 with `CLAUDE_CODE_SHELL`.
const CLAUDE_CODE_SHELL: &str = r"source /home/user/.claude/shell-snapshots/snapshot-bash-1795810519673-j1kuxz.sh 2>/dev/null || true && \builtin shopt -u extglob 2>/dev/null || true && { \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && { \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && ";

/// Claude Code 2.1.332 with `CLAUDE_CODE_REMOTE`.
const CLAUDE_CODE_REMOTE: &str = r#"source /home/user/.claude/shell-snapshots/snapshot-bash-1795810544298-19wxb4.sh 2>/dev/null || true && \builtin export BUN_OPTIONS="--smol${BUN_OPTIONS:+ $BUN_OPTIONS}" && { \builtin shopt -u extglob || \builtin setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL NO_BRACE_CCL NO_MAGIC_EQUAL_SUBST NO_RC_QUOTES NO_EQUALS; } >/dev/null 2>&1 || true && { \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && { \builtin unalias -- 'unsetenv'; \builtin unset -f -- 'unsetenv'; } >/dev/null 2>&1 || true && "#;

const ECHO_HELLO: &str = "eval 'echo hello' < /dev/null && pwd -P >| /tmp/claude-1c4d-cwd";

/// Gemini CLI 0.61.0, around the model's text.
const GEMINI_CLI: [&str; 2] = [
    "shopt -u promptvars nullglob extglob nocaseglob dotglob; \
     _bgpids_file=/tmp/gemini-shell-DYTIuL/bgpids.tmp\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n",
    "\n)\n__code=$?\nexit $__code",
];

fn claude_code(tail: &str) -> String {
    format!("{CLAUDE_CODE}{tail}")
}

fn gemini_cli(text: &str) -> String {
    let [before, after] = GEMINI_CLI;
    format!("{before}{text}{after}")
}

#[track_caller]
fn assert_command(script: &str, agent: &str, text: &str) {
    let command = model_command(script);
    let found = command.as_ref().map(|found| (found.agent, &*found.command));
    assert_eq!(found, Some((agent, text)), "{script}");
}

#[track_caller]
fn assert_none(script: &str) {
    assert_eq!(model_command(script), None, "{script}");
}

#[test]
fn model_command_reads_the_text_of_claude_code() {
    let recorded = [
        (ECHO_HELLO, "echo hello"),
        (
            "eval pwd < /dev/null && pwd -P >| /tmp/claude-8e5a-cwd",
            "pwd",
        ),
        (
            r#"eval 'echo '"'"'single'"'"'' < /dev/null && pwd -P >| /tmp/claude-17e9-cwd"#,
            "echo 'single'",
        ),
        (
            "eval 'cat <<'\"'\"'EOF'\"'\"'\nline one\nit'\"'\"'s \"two\"\nEOF\necho end' \
             && pwd -P >| /tmp/claude-4eeb-cwd",
            "cat <<'EOF'\nline one\nit's \"two\"\nEOF\necho end",
        ),
        (
            "eval 'for i in 1 2; do\n  echo $i\ndone' < /dev/null && pwd -P >| /tmp/claude-6ce9-cwd",
            "for i in 1 2; do\n  echo $i\ndone",
        ),
        (
            "eval 'cat < /dev/null' && pwd -P >| /tmp/claude-d864-cwd",
            "cat < /dev/null",
        ),
        (
            r#"eval 'printf '"'"'b\na\n'"'"' | sort | head -1' < /dev/null && pwd -P >| /tmp/claude-d9cf-cwd"#,
            r"printf 'b\na\n' | sort | head -1",
        ),
        (
            "eval 'cat < f.txt | wc -l' && pwd -P >| /tmp/claude-170c-cwd",
            "cat < f.txt | wc -l",
        ),
        (
            r#"eval 'sort <<< '"'"'x y'"'"'' < /dev/null && pwd -P >| /tmp/claude-cb8b-cwd"#,
            "sort <<< 'x y'",
        ),
        (
            r#"eval 'echo a | cat && echo "$(echo b)" | cat' < /dev/null && pwd -P >| /tmp/claude-142f-cwd"#,
            r#"echo a | cat && echo "$(echo b)" | cat"#,
        ),
        (
            r"eval 'echo back\slash \| cat | cat' < /dev/null && pwd -P >| /tmp/claude-4048-cwd",
            r"echo back\slash \| cat | cat",
        ),
        (
            "eval '# comment first\necho after' < /dev/null && pwd -P >| /tmp/claude-4e29-cwd",
            "# comment first\necho after",
        ),
        (
            "eval 'echo a # trailing' < /dev/null && pwd -P >| /tmp/claude-a4aa-cwd",
            "echo a # trailing",
        ),
        (
            "eval 'ls |' < /dev/null && pwd -P >| /tmp/claude-9973-cwd",
            "ls |",
        ),
        (
            "eval 'cd /' < /dev/null && pwd -P >| '/tmp/with blank/claude-a9e4-cwd'",
            "cd /",
        ),
    ];
    for (tail, text) in recorded {
        assert_command(&claude_code(tail), "claude-code", text);
    }
}

#[test]
fn model_command_reads_the_text_of_claude_code_in_other_settings() {
    for before in [CLAUDE_CODE_SHELL, CLAUDE_CODE_REMOTE] {
        assert_command(
            &format!("{before}{ECHO_HELLO}"),
            "claude-code",
            "echo hello",
        );
    }
    let tail = r#"eval 'pwd; echo it'"'"'s '"'"'quoted text'"'"' "dq $HOME"' < /dev/null && pwd -P >| /tmp/claude-1b84-cwd"#;
    assert_command(
        &format!("{OLD_BASH}{CLAUDE_CODE}{tail}"),
        "claude-code",
        r#"pwd; echo it's 'quoted text' "dq $HOME""#,
    );
    let without_snapshot = claude_code(ECHO_HELLO);
    let (_, without_snapshot) = without_snapshot.split_once("true && ").unwrap();
    assert_command(without_snapshot, "claude-code", "echo hello");
    let without_flags = claude_code(ECHO_HELLO)
        .replace("NO_RC_QUOTES NO_EQUALS", "NO_OTHER_OPTION")
        .replacen(r"{ \builtin unalias -- 'which'; \builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && ", "", 1);
    assert_command(&without_flags, "claude-code", "echo hello");
}

#[test]
fn model_command_reads_the_text_of_older_versions_of_claude_code() {
    let snapshot = "/home/user/.claude/shell-snapshots/snapshot-bash-1763000000000-a1b2c3.sh";
    let ignores_failure = format!("source {snapshot} 2>/dev/null || true && ");
    let before_2_1_109 = format!("source {snapshot} && ");
    let prefixed = format!(
        "{ignores_failure}{{ shopt -u extglob || setopt NO_EXTENDED_GLOB; }} >/dev/null 2>&1 || true && "
    );
    let before_2_1_332 = prefixed.replace("GLOB;", "GLOB NO_BARE_GLOB_QUAL;");
    let without_prefix = format!("{ignores_failure}shopt -u extglob 2>/dev/null || true && ");
    for before in [
        "", &before_2_1_109, &prefixed, &before_2_1_332, &without_prefix,
    ] {
        for (eval, text) in [
            (r"eval 'echo a; echo b' \< /dev/null", "echo a; echo b"),
            (r"eval ls \< /dev/null", "ls"),
            ("eval 'echo a | cat' < /dev/null", "echo a | cat"),
            ("eval 'cat < f.txt'", "cat < f.txt"),
        ] {
            let script = format!("{before}{eval} && pwd -P >| /tmp/claude-1c4d-cwd");
            assert_command(&script, "claude-code", text);
        }
    }
    for other in [
        r"eval 'echo a' \< /etc/passwd",
        r"eval 'echo a' \> /dev/null",
        r"eval 'echo a' \< /dev/null b",
    ] {
        let script = format!("{before_2_1_109}{other} && pwd -P >| /tmp/claude-1c4d-cwd");
        assert_none(&script);
        assert!(has_wrapper_marker(&script));
    }
    assert!(!has_wrapper_marker("source hook.sh && eval 'echo a'"));
}

#[test]
fn model_command_names_the_files_that_the_wrapper_writes() {
    for (script, file) in [
        (claude_code(ECHO_HELLO), "/tmp/claude-1c4d-cwd"),
        (
            claude_code(
                "eval 'echo > /tmp/claude-2-cwd' < /dev/null && pwd -P >| '/tmp/a b/claude-1-cwd'",
            ),
            "/tmp/a b/claude-1-cwd",
        ),
        (
            gemini_cli("echo hello > /tmp/gemini-shell-x/bgpids.tmp"),
            "/tmp/gemini-shell-DYTIuL/bgpids.tmp",
        ),
    ] {
        let found = model_command(&script).unwrap();
        assert_eq!(found.written_files, [PathBuf::from(file)], "{script}");
    }
}

#[test]
fn model_command_borrows_text_without_single_quotes() {
    let script = claude_code(ECHO_HELLO);
    let found = model_command(&script).unwrap();
    assert!(matches!(found.command, Cow::Borrowed("echo hello")));
}

#[test]
fn model_command_reads_the_text_of_gemini_cli() {
    let recorded = [
        "echo hello",
        "cat <<'EOF'\nline one\nit's \"two\"\nEOF",
        "cat <<'EOF'\nline one\nEOF\necho end",
        "echo a # trailing",
        "echo semi;",
        "sleep 1 &",
        "cd sub\npwd",
        "git log --oneline | head -1",
        "# a comment alone",
        "(echo a; echo b)",
        "trap 'echo bye' EXIT\necho a",
    ];
    for text in recorded {
        assert_command(&gemini_cli(text), "gemini-cli", text);
    }
}

#[test]
fn model_command_is_none_for_text_without_a_wrapper() {
    let recorded = [
        "",
        "echo hello",
        "true session start",
        "cat -u 'a b'",
        r#"cat >/dev/null; echo 'hook ran' "$CLAUDE_PROJECT_DIR" >&2; exit 0"#,
        "eval 'echo hello' < /dev/null",
        "eval 'echo hello' && pwd",
        "pwd -P >| /tmp/claude-1c4d-cwd",
        "source /home/user/.claude/shell-snapshots/snapshot-bash-1-a.sh 2>/dev/null || true",
    ];
    for script in recorded {
        assert_none(script);
    }
}

#[test]
fn model_command_is_none_if_a_command_is_added() {
    let script = claude_code(ECHO_HELLO);
    for added in [
        "; echo more", "\necho more", " && echo more", " || echo more", " | cat", " |& cat", " &",
        " & echo more", " && eval 'echo more'", " 2>/dev/null", " > /home/user/.bashrc", " extra",
        " <<EOF\n$(echo more)\nEOF",
    ] {
        assert_none(&format!("{script}{added}"));
    }
    for added in [
        "echo more; ", "echo more\n", "echo more && ", "echo more || ", "echo more | ", "! ",
        "time ", "PATH=/tmp/x ", "exec ", "( ", "f() { echo more; }; ", "trap 'echo more' EXIT; ",
    ] {
        assert_none(&format!("{added}{script}"));
    }
}

#[test]
fn model_command_is_none_if_a_part_differs() {
    let script = claude_code(ECHO_HELLO);
    for (part, other) in [
        ("eval 'echo hello'", r#"eval "$X""#),
        ("eval 'echo hello'", "eval $X"),
        ("eval 'echo hello'", r#"eval "echo $(echo hello)""#),
        ("eval 'echo hello'", "eval `echo hello`"),
        ("eval 'echo hello'", "eval echo hello"),
        ("eval 'echo hello'", "eval 'echo hello' 'echo more'"),
        ("eval 'echo hello'", "eval 'echo hello'$X"),
        ("eval 'echo hello'", "eval 'echo hello'*"),
        ("eval 'echo hello'", "eval {a,b}"),
        ("eval 'echo hello'", "eval ~"),
        ("eval 'echo hello'", "eval <(echo hello)"),
        ("eval 'echo hello'", "X=1 eval 'echo hello'"),
        ("eval 'echo hello'", "! eval 'echo hello'"),
        ("eval 'echo hello'", "command eval 'echo hello'"),
        ("eval 'echo hello'", "eval 'echo hello' | cat"),
        ("eval 'echo hello'", "eval 'echo hello' && eval 'echo more'"),
        ("< /dev/null &&", "< /etc/passwd &&"),
        ("< /dev/null &&", "> /dev/null &&"),
        ("< /dev/null &&", "< /dev/null 2>&1 &&"),
        ("< /dev/null &&", "< /dev/null ||"),
        ("< /dev/null &&", "< /dev/null ;"),
        ("< /dev/null &&", "< /dev/null &"),
        ("pwd -P", "pwd -L"),
        ("pwd -P", "pwd -P extra"),
        ("pwd -P", "echo -P"),
        (">|", ">>"),
        ("/tmp/claude-1c4d-cwd", "/home/user/.bashrc"),
        (
            "/tmp/claude-1c4d-cwd",
            "/tmp/claude-x/../../etc/claude--cwd",
        ),
        ("/tmp/claude-1c4d-cwd", "claude-1c4d-cwd"),
        ("/tmp/claude-1c4d-cwd", "/tmp/claude-$X-cwd"),
        ("/tmp/claude-1c4d-cwd", "/tmp/claude-*-cwd"),
        ("/tmp/claude-1c4d-cwd", "~/claude-1c4d-cwd"),
        ("/tmp/claude-1c4d-cwd", "/tmp/claude-cwd"),
        ("source ", "bash "),
        ("source ", "source -- "),
        (
            "/home/user/.claude/shell-snapshots/snapshot-",
            "/tmp/snapshot-",
        ),
        (
            "/home/user/.claude/shell-snapshots/snapshot-",
            "/tmp/shell-snapshots/other-",
        ),
        (
            "/home/user/.claude/shell-snapshots/snapshot-",
            "$(echo more)/shell-snapshots/snapshot-",
        ),
        ("|| true &&", "|| false &&"),
        ("|| true &&", "&& true &&"),
        ("|| true &&", "|| true;"),
        ("-u extglob", "-s extglob"),
        ("-- 'which'", "-- which"),
        ("-f -- 'unsetenv'", "-f -- 'cd'"),
        ("\\builtin setopt", "builtin setopt"),
        ("NO_EQUALS", "EQUALS"),
        ("NO_EQUALS", "NO_EQUALS$X"),
        ("NO_EQUALS", "NO_EQUALS > x"),
        ("; } >/dev/null", "; echo more; } >/dev/null"),
        (">/dev/null 2>&1", ">/tmp/x 2>&1"),
        (">/dev/null 2>&1", ">/dev/null"),
    ] {
        assert!(script.contains(part), "{part}");
        assert_none(&script.replacen(part, other, 1));
    }
    let twice = format!("{script} && {script}");
    assert_none(&twice);
    let swapped = r"eval 'echo hello' < /dev/null && \builtin shopt -u extglob 2>/dev/null || true && pwd -P >| /tmp/claude-1c4d-cwd";
    assert_none(swapped);
}

#[test]
fn model_command_is_none_if_the_environment_of_the_session_is_in_the_script() {
    let export = "|| true && export FOO=bar\nexport PATH=\"$HOME/bin:$PATH\"\n: && {";
    assert_none(&claude_code(ECHO_HELLO).replacen("|| true && {", export, 1));
}

#[test]
fn model_command_is_none_if_the_text_closes_the_subshell_of_gemini_cli() {
    for text in [
        "echo a\n)\necho more\n(\necho b",
        "echo a\n) && echo more && (\necho b",
        "echo a )",
        "echo a\n) > /home/user/.bashrc\n(echo b",
        "ls |",
        "cat <<EOF\nno end",
        "echo 'no end",
        "$(",
    ] {
        assert_none(&gemini_cli(text));
    }
}

#[test]
fn model_command_is_none_if_the_wrapper_of_gemini_cli_differs() {
    let script = gemini_cli("echo hello");
    for (part, other) in [
        ("'jobs -p > \"$_bgpids_file\"'", "'echo more'"),
        (
            "'jobs -p > \"$_bgpids_file\"'",
            "\"jobs -p > $_bgpids_file\"",
        ),
        (" EXIT\n", " EXIT; echo more\n"),
        (" EXIT\n", " EXIT # comment\n"),
        (" EXIT\n", " EXIT &\n"),
        (" EXIT\n", " EXIT DEBUG\n"),
        ("/tmp/gemini-shell-DYTIuL/bgpids.tmp", "/home/user/.bashrc"),
        ("/tmp/gemini-shell-DYTIuL/bgpids.tmp", "$(echo more)"),
        ("_bgpids_file=", "PATH="),
        ("_bgpids_file=", "_bgpids_file+="),
        ("bgpids.tmp\n", "bgpids.tmp echo more\n"),
        ("dotglob;", "dotglob; echo more;"),
        ("shopt -u", "shopt -s"),
        ("(\n", "{\n"),
        (")\n__code", ") &\n__code"),
        (")\n__code", ") > /tmp/x\n__code"),
        (")\n__code", ") | cat\n__code"),
        ("__code=$?\n", "__code=$?; echo more\n"),
        ("$__code", "$(echo more)"),
        ("exit ", "exec "),
    ] {
        assert!(script.contains(part), "{part}");
        assert_none(&script.replacen(part, other, 1));
    }
    assert_none(&format!("{script}\necho more"));
    assert_none(&format!("echo more\n{script}"));
}

#[test]
fn model_command_takes_a_nested_wrapper_off_once() {
    let inner = gemini_cli("echo hello");
    let outer = gemini_cli(&inner);
    assert_command(&outer, "gemini-cli", &inner);
}

#[test]
fn templates_are_valid_shell_text() {
    for wrapper in wrappers() {
        for form in wrapper.parts.iter().flat_map(|part| part.forms) {
            let parsed = Parsed::read(form);
            assert!(
                parsed.is_whole() && !parsed.list.entries.is_empty(),
                "{form}"
            );
        }
    }
}

proptest! {
    #[test]
    fn model_command_returns_any_text_that_claude_code_quotes(text in "(?s).{0,40}|[a-z'\"$`\\\\ \n;&|<>(){}#*~=-]{0,40}") {
        let quoted = text.replace('\'', "'\"'\"'");
        let script = claude_code(&format!("eval '{quoted}' < /dev/null && pwd -P >| /tmp/claude-1c4d-cwd"));
        prop_assert_eq!(model_command(&script).map(|found| found.command), Some(Cow::Owned(text)));
    }

    #[test]
    fn model_command_returns_all_of_the_text_in_gemini_cli_or_none(text in "[a-z'\"$`\\\\ \n;&|<>(){}#*~=-]{0,40}") {
        let script = gemini_cli(&text);
        if let Some(found) = model_command(&script) {
            prop_assert_eq!(found.command, text);
        }
    }
}

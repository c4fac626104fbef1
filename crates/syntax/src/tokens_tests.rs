use super::*;
use crate::Span;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The tokens, each as a letter and its text.
fn shown(text: &str) -> String {
    let letter = |kind| match kind {
        TokenKind::Keyword => 'k',
        TokenKind::Command => 'c',
        TokenKind::Text => 't',
        TokenKind::String => 's',
        TokenKind::Variable => 'v',
        TokenKind::Comment => '#',
        TokenKind::Operator => 'o',
    };
    let tokens = Tokens::of(text).tokens;
    let shown = tokens.iter().map(|token| {
        format!(
            "{}:{}",
            letter(token.kind),
            &text[token.span.start..token.span.end]
        )
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn token_kind_of_a_word_depends_on_its_position() {
    for (text, want) in [
        ("ls -l # x", "c:ls t:-l #:# x"),
        (
            "A=1 B[2]+='x y' make",
            "v:A t:=1 v:B t:[2]+= s:'x y' c:make",
        ),
        ("if a; then b; fi", "k:if c:a o:; k:then c:b o:; k:fi"),
        (
            "for x in a b; do c $x; done",
            "k:for v:x k:in t:a t:b o:; k:do c:c v:$x o:; k:done",
        ),
        (
            "case $x in a|b) c;; *) d;; esac; e",
            "k:case v:$x k:in t:a o:| t:b o:) c:c o:;; t:* o:) c:d o:;; k:esac o:; c:e",
        ),
        (
            "[[ a == b && c ]] && d",
            "k:[[ t:a t:== t:b o:&& t:c k:]] o:&& c:d",
        ),
        ("f() { a; }", "c:f o:( o:) k:{ c:a o:; k:}"),
        (
            "a 2>&1 <&- >&b >1 | sudo -n c",
            "c:a o:2 o:>& o:1 o:<& o:- o:>& t:b o:> t:1 o:| c:sudo t:-n c:c",
        ),
        (
            "echo \"a $b $(c d) e\"f",
            "c:echo s:\"a  v:$b s:  o:$( c:c t:d o:) s: e\" t:f",
        ),
        (
            "x=$((1 + 2)) y=${a:-'}'} z=(1 \"2\")",
            "v:x t:= v:$((1 + 2)) v:y t:= v:${a:-'}'} v:z t:= o:( t:1 s:\"2\" o:)",
        ),
        (
            "cat <<-E | b\n\tx\n\tE\nc",
            "c:cat o:<<- s:E o:| c:b s:\tx\n\tE\n c:c",
        ),
        ("a `b c` d", "c:a o:` c:b t:c o:` t:d"),
        ("diff <(a) >(b)", "c:diff o:<( c:a o:) o:>( c:b o:)"),
        ("(( x++ )); ! a", "v:(( x++ )) o:; k:! c:a"),
        ("echo é\\ ü $", "c:echo t:é\\ ü t:$"),
    ] {
        assert_eq!(shown(text), want, "{text}");
    }
}

#[test]
fn word_at_the_cursor_is_found() {
    for (text, start, value, quote, is_command, before) in [
        ("", 0, Some(""), None, true, vec![]),
        ("gi", 0, Some("gi"), None, true, vec![]),
        (
            "git checkout ma",
            13,
            Some("ma"),
            None,
            false,
            vec!["git", "checkout"],
        ),
        (
            "a && cat my\\ fi",
            9,
            Some("my fi"),
            None,
            false,
            vec!["cat"],
        ),
        (
            "cat \"my fi",
            4,
            Some("my fi"),
            Some('"'),
            false,
            vec!["cat"],
        ),
        ("cat 'a'\"b", 4, Some("ab"), Some('"'), false, vec!["cat"]),
        ("echo $(ca", 7, Some("ca"), None, true, vec![]),
        ("echo \"$(cat x", 12, Some("x"), None, false, vec!["cat"]),
        ("echo `ca", 6, Some("ca"), None, true, vec![]),
        ("a >", 3, Some(""), None, false, vec!["a"]),
        ("a > b", 4, Some("b"), None, false, vec!["a"]),
        ("cat $x/", 4, None, None, false, vec!["cat"]),
        ("sudo ", 5, Some(""), None, true, vec!["sudo"]),
        ("A=1 ", 4, Some(""), None, true, vec![]),
    ] {
        let word = Tokens::of(text).last_word.expect(text);
        let found = (
            word.start,
            word.value.as_deref(),
            word.quote,
            word.is_command,
            word.before.iter().map(String::as_str).collect(),
        );
        assert_eq!(found, (start, value, quote, is_command, before), "{text}");
    }
    for text in ["a # b", "cat <<E\nx"] {
        assert_eq!(Tokens::of(text).last_word, None, "{text}");
    }
}

#[test]
fn unfinished_text_is_not_an_error() {
    let how = |text: &str| ending(text, &Tokens::of(text));
    for text in [
        "", "ls", "a; b", "a &", "for x in 1 2; do a; done", "cat <<E\nx\nE\n", "f() { a; }",
        "a \"b\" 'c' $(d)", "! a", "case x in a) b;; esac", "[[ a ]] && b", "x=(1 2)",
    ] {
        assert_eq!(how(text), TextEnding::Whole, "{text}");
    }
    for text in [
        "echo 'a", "echo \"a", "echo \"$(", "if", "if a; then b", "a &&", "a |", "for x in 1",
        "case x in", "(a", "{ a;", "cat <<E", "cat <<E\nx", "echo ${a", "echo $((1", "echo `a",
        "do", "fi", "a $'b", "[[ a", "f()", "while a; do b", "a \\", "a >",
    ] {
        assert_eq!(how(text), TextEnding::Unfinished, "{text}");
    }
    for (text, start, end) in [
        ("a )", 2, 3),
        ("&& a", 0, 2),
        ("a ;; b", 2, 4),
        ("fi; a", 0, 2),
        ("if a; fi; b", 6, 8),
        ("a | | b", 4, 5),
        ("for x in a; b", 12, 13),
        ("a ) 'b", 2, 3),
    ] {
        if text == "for x in a; b" {
            // `b` may become another word, but never `do`, which is not examined.
            assert_eq!(how(text), TextEnding::Unfinished, "{text}");
        } else {
            assert_eq!(how(text), TextEnding::Wrong(Span { start, end }), "{text}");
        }
    }
}

#[test]
fn any_text_has_tokens_in_order() {
    let pieces = [
        "'", "\"", "`", "$(", ")", "${", "}", "((", "))", "<<E\n", "E\n", "\\", "é", " ", "\n",
        ";", "case", "in", "#", "=(", "$'", "<(", "[[", "a",
    ];
    let mut state = 7_u64;
    for _ in 0..4000 {
        let mut text = String::new();
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        let tokens = Tokens::of(&text);
        let mut end = 0;
        for token in &tokens.tokens {
            assert!(
                token.span.start >= end && token.span.end > token.span.start,
                "{text:?}"
            );
            end = token.span.end;
            assert!(
                text.get(token.span.start..token.span.end).is_some(),
                "{text:?}"
            );
        }
        ending(&text, &tokens);
    }
    let deep = "$(".repeat(10_000);
    Tokens::of(&deep);
}

/// Returns true if bash reads on after this line, judging by its message about a script that ends
/// there.
#[expect(clippy::disallowed_methods, reason = "bash is asked how it reads")]
fn bash_reads_on(line: &str) -> bool {
    let mut bash = Command::new("bash")
        .args(["--norc", "-n"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let script = format!("{line}\n");
    bash.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let printed = bash.wait_with_output().unwrap().stderr;
    let printed = String::from_utf8(printed).unwrap();
    // An error before the end comes first.
    let first = printed.lines().next().unwrap_or("");
    [
        "unexpected end of file", "unexpected EOF", "unexpected token `EOF'",
        "delimited by end-of-file",
    ]
    .iter()
    .any(|of_the_end| first.contains(of_the_end))
}

#[test]
fn line_continues_where_bash_reads_another_line() {
    let mut count = [0, 0];
    for line in [
        "ls", "ls;", "ls &", "! ls", "a | b", "a && b", "a; b", "# it's", "a # \"", "", "if",
        "if a", "if a;", "if a; then", "if a; then b", "if a; then b; else", "if a; then b; fi",
        "if then", "if a; fi", "if a; then fi", "then", "fi", "else", "elif a; then b", "for x",
        "for x in a b", "for x in a b;", "for x in a; do", "for x in a; do b",
        "for x in a; do b; done", "for x in a; b", "for ((i=0;;)); do", "do", "done", "for",
        "select x in a", "while", "while a", "while a; do b", "while a; do b; done", "while do",
        "until a; do", "case", "case x", "case x in", "case x in a", "case x in a)",
        "case x in a) b", "case x in a) b;;", "case x in a) b;; esac", "esac", "case x in esac",
        "in", "{", "{ a", "{ a;", "{ a; }", "}", "{ }", "(", "(a", "(a)", ")", "( )", "()", "a )",
        "f()", "f() {", "f() { a; }", "function f", "function f {", "coproc {", "[[", "[[ a ]]",
        "[[ a &&", "((", "((1", "((1))", "time", "!", "a |", "a ||", "a &&", "a | | b", "&& a",
        "| a", "|| a", "a ;; b", ";", "; a", "& a", "a & & b", "a >", "a > b", "a <", "a 2>&1",
        "a >>", "> >", "a < ; b", "<<", "<<<", "a <<<", "a <<< b", "cat <<E", "cat <<E\nx",
        "cat <<E\nx\nE", "cat <<'E'\n$(\nE", "cat <<-E\n\tE", "cat <<E; if a", "'", "'a", "'a'",
        "\"", "\"a", "\"a\"", "$'a", "a'b\"c", "\"$(", "\"$(a", "\"$(a)\"", "$(", "$(a", "$(a)",
        "$(if", "$(if a; then b", "`a", "`a`", "${", "${a", "${a}", "${a:-", "${a:-'", "$((",
        "$((1", "$((1))", "<(", "<(a", "a <(b)", "x=(", "x=(1", "x=(1 2)", "x=(1\n2", "x[1]=2",
        "if a; then 'b", "a | if", "{ (a", "{ (a) }", "(a; }", "f() { if a", "a\nb", "a\nif",
        "echo if", "echo }",
    ] {
        let reads = bash_reads_on(line);
        assert_eq!(needs_more_lines(line), reads, "{line:?}");
        count[usize::from(reads)] += 1;
    }
    assert!(count.iter().all(|count| *count > 50), "{count:?}");
}

//! Scripts of absurd shapes, for the tests of limits and for the benchmark.

/// Shapes that take a grammar's error recovery quadratic time and memory, or could overflow the
/// stack of a recursive walk.
#[expect(clippy::too_many_lines, reason = "a list of shapes")]
pub(crate) fn absurd() -> Vec<(&'static str, String)> {
    vec![
        ("unfinished pipes", "a|".repeat(20_000)),
        ("unfinished pipes with stderr", "a |& ".repeat(8_000)),
        ("pipes over lines", "a|\n".repeat(13_000)),
        ("heredocs", "<<A ".repeat(10_000)),
        ("heredocs without blanks", "<<A".repeat(13_000)),
        ("heredocs and pipes", "a <<E|".repeat(7_000)),
        ("arrays", "a=(".repeat(13_000)),
        ("subshells", "(".repeat(40_000)),
        ("groups", "{ ".repeat(20_000)),
        ("substitutions", "$(".repeat(20_000)),
        ("quoted substitutions", "\"$(".repeat(13_000)),
        ("expansions", "${a:-".repeat(8_000)),
        ("braces", "{a,".repeat(13_000)),
        ("many braces", format!("echo {}", "{a,b}".repeat(5_000))),
        ("backticks", "`".repeat(40_001)),
        ("escaped backticks", "\\`".repeat(20_000)),
        ("arithmetic", "$((".repeat(13_000)),
        ("brackets", "$[".repeat(20_000)),
        ("subscripts", "a[".repeat(20_000)),
        ("conditions", "[[ ".repeat(13_000)),
        ("extglob", "@(".repeat(20_000)),
        ("ifs", "if ".repeat(13_000)),
        ("cases", "case x in x) ".repeat(3_000)),
        ("functions", "f() { ".repeat(7_000)),
        ("negations", "! ".repeat(20_000)),
        ("timed", "time ".repeat(8_000)),
        ("coprocesses", "coproc ".repeat(6_000)),
        ("quotes", "\"'".repeat(20_000)),
        ("backslashes", "\\".repeat(40_001)),
        ("continuations", "\\\n".repeat(20_000)),
        ("and-lists", "a && ".repeat(10_000) + "a"),
        ("assignments", "a=b ".repeat(10_000)),
        ("redirections", ">x ".repeat(13_000)),
        ("wrappers", "env ".repeat(10_000) + "ls"),
        ("evals", "eval ".repeat(8_000) + "ls"),
        (
            "doubling",
            format!("x=aa; {}echo $x", "x=$x$x; ".repeat(4_000)),
        ),
        ("recursion", "f() { f; f; f; f; }; f; ".repeat(2_000)),
        ("pushes", "git push\n".repeat(8_000)),
        ("unknown texts", "eval \"$x\"\n".repeat(8_000)),
        ("recursive pipelines", ":(){ : a|: b& };: c".to_owned()),
        (
            "nested loops",
            format!(
                "{}:{}",
                "for i in 1 2 3; do ".repeat(40),
                "; done".repeat(40)
            ),
        ),
        (
            "calls in a program",
            format!("python3 -c '{}'", "system(".repeat(6_000)),
        ),
        (
            "commands in a program",
            format!("python3 -c '{}'", "system(\"rm a\", ".repeat(3_000)),
        ),
        (
            "names in a program",
            format!("python3 -c '{}'", "a=a+a;system(a,a,a);".repeat(2_000)),
        ),
        (
            "commands of sed",
            format!("sed '{}'", "s/a/rm b/e;".repeat(4_000)),
        ),
        (
            "pipes of awk",
            format!("awk '{}'", "print | \"rm\";".repeat(3_000)),
        ),
        (
            "long loop",
            "for i in {1..100000}; do echo $i; done".to_owned(),
        ),
        ("long word", "a".repeat(1_000_000)),
        (
            "long quoted word",
            format!("echo '{}'", "a b ".repeat(250_000)),
        ),
        (
            "trims",
            format!("x={}; echo ${{x%%*b*}}", "ab".repeat(20_000)),
        ),
        (
            "stars",
            format!(
                "x={}; echo ${{x%%{}c}}",
                "ab".repeat(1_000),
                "*a".repeat(200)
            ),
        ),
        (
            "functions with arguments",
            (0..8)
                .map(|at| {
                    let next = at + 1;
                    format!(
                        "f{at}() {{ f{next} \"$1a\" \"$2\"; f{next} \"$1b\"; f{next} \"$2\" \"$1c\"; f{next} \"$1d\"; }}\n"
                    )
                })
                .collect::<Vec<_>>()
                .concat()
                + "f8() { echo \"$1\" > \"$2\"; }\nf0 a b",
        ),
        (
            "growing array",
            format!(
                "a=({})\nfor i in \"${{a[@]}}\"; do b+=(\"$i\"); done",
                "x \"$y\" z ".repeat(600)
            ),
        ),
        (
            "several values",
            "if a; then v=1; elif b; then v=2; elif c; then v=3; else v=4; fi; w=$v$w; x=$(echo \"$w\")\n".repeat(400),
        ),
        ("commands of a program", format!("python3 -c '{}'", (0..3_000).map(|at| format!("system(\"rm a{at}\", ")).collect::<Vec<_>>().concat())),
        ("nul", "a\0b".repeat(10_000)),
        ("controls", "\u{1}\u{2}\u{f8fe}".repeat(10_000)),
        ("not ascii", "é|ü&&".repeat(5_000)),
    ]
}

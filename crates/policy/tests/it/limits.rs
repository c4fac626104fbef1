//! Long, deep or absurd inputs get a verdict, and dangerous parts are still found. The benchmark
//! measures the time.

mod shapes;

use agent_bash_policy::{
    Context, Interceptor, Parsed, Policy, RuleSelection, SafeMode, Script, Verdict,
    check_safe_mode, check_safety, explain, lift,
};
use shapes::absurd;

fn context() -> Context {
    Context::new("/home/u/project").with_home("/home/u")
}

fn verdict(script: &str) -> &'static str {
    check_safety(&Script::read(script, &context()), &RuleSelection::default()).name()
}

#[test]
fn absurd_shapes_get_an_answer() {
    let policy = Policy {
        interceptor: Some(Interceptor::default()),
        safety: Some(RuleSelection::all()),
        safe_mode: Some(SafeMode::default()),
        tools: Vec::new(),
    };
    for (name, script) in absurd() {
        let verdict = policy.decide(&Script::read(&script, &context()));
        // Scripts of blanks only or with an unused heredoc are allowed; they are not dangerous.
        let core = verdict.finding().and_then(|finding| finding.group);
        assert_eq!(core, None, "{name}: {verdict:?}");
        lift(&Parsed::read(&script));
    }
}

#[test]
fn explanation_of_a_long_script_is_short() {
    let script = "echo a\n".repeat(10_000);
    let explanation = explain(&Script::read(&script, &context()), &Policy::standard());
    assert!(explanation.to_string().lines().count() < 200);
    assert!(
        explanation
            .remarks
            .iter()
            .any(|remark| remark.contains("not listed"))
    );
}

#[test]
fn nested_text_in_nested_script_does_not_exhaust_the_stack() {
    let inner = format!("{}ls{}", "$(echo ".repeat(45), ")".repeat(45));
    let nested = |text: &str, depth: usize| {
        format!("echo {}{text}{}", "$(".repeat(depth), ")".repeat(depth))
    };
    for depth in [10, 30, 45] {
        for run in [
            "eval \"$x\"", "bash -c \"$x\"", "f() { eval \"$x\"; f; }; f",
        ] {
            let script = format!("x='echo {inner}'; {}", nested(run, depth));
            assert_ne!(verdict(&script), "block", "{depth} {run}");
            assert_eq!(
                verdict(&format!("{script}; rm -rf /")),
                "block",
                "{depth} {run}"
            );
        }
    }
}

#[test]
fn function_is_walked_once_for_each_situation() {
    // Each function calls the next five times: five to the tenth paths, more than any limit allows.
    let ladder = |leaf: &str| {
        let rungs: Vec<String> = (0..10)
            .map(|rung| {
                format!(
                    "f{rung}() {{ {} }}\n",
                    format!("f{} \"$1\"; ", rung + 1).repeat(5)
                )
            })
            .collect();
        format!("f10() {{ {leaf}; }}\n{}", rungs.concat())
    };
    let harmless = ladder("rm -rf \"$1/$d\"");
    assert_eq!(verdict(&format!("{harmless}f0 build")), "allow");
    // A call that differs is walked again.
    for then in [
        "f0 /",
        "f0 build; f0 /",
        "d=x f0 build; d=..; f0 build",
        "f0 build; cd /; f0 .",
        "f0 build; f10() { rm -rf /; }; f0 build",
    ] {
        assert_eq!(verdict(&format!("{harmless}{then}")), "block", "{then}");
    }
    let reads = ladder("xargs rm -rf; x=$1; [ -d . ] && y=$x");
    assert_eq!(verdict(&format!("{reads}echo a | f0 /")), "allow");
    assert_eq!(verdict(&format!("{reads}echo / | f0 a")), "block");
    assert_eq!(
        verdict(&format!("{reads}echo a | f0 /; f0 / <<< b; rm -rf \"$x\"")),
        "block"
    );
    assert_eq!(
        verdict(&format!("{reads}f0 b <<< b; f0 / <<< b; rm -rf \"$y\"")),
        "block"
    );
}

#[test]
fn action_of_a_program_after_many_calls_is_found() {
    for last in ["rm -rf /", "git push -f"] {
        let calls: Vec<String> = (0..300)
            .map(|at| format!("system(\"rm a{at}\")\n"))
            .collect();
        let calls = calls.concat();
        let script = |last: &str| format!("python3 -c '{calls}system(\"{last}\")'");
        assert_eq!(verdict(&script(last)), "block", "{last}");
        assert_eq!(verdict(&script("rm b")), "allow", "the control");
    }
}

#[test]
fn function_is_not_walked_again_in_the_same_situation() {
    // This is more than the walk could do if it followed each call.
    let f = format!("f() {{ {} }}\n", "true; ".repeat(2_000));
    let same = format!("{f}{}", "f a; ".repeat(40));
    assert_eq!(verdict(&same), "allow");
    // Arguments make a difference.
    let calls: Vec<String> = (0..40).map(|at| format!("f {at}; ")).collect();
    let others = format!("{f}{}", calls.concat());
    assert_eq!(verdict(&others), "unreadable");
    assert_eq!(verdict(&format!("{others}rm -rf /")), "block");
    let last = "g() { rm -rf \"$1\"; }; f() { g \"$2\"; }; f x build; f x";
    assert_eq!(verdict(&format!("{last} dist")), "allow");
    assert_eq!(verdict(&format!("{last} /")), "block");
}

#[test]
fn dangerous_command_in_an_absurd_form_is_found() {
    for (name, script) in absurd() {
        let front = format!("rm -rf /\n{script}");
        assert_eq!(verdict(&front), "block", "in front of {name}");
    }
    for inside in [
        "$(echo ", "( ", "{ ", "if true; then ", "echo \"$(", "while ",
    ] {
        let deep = format!("{}rm -rf /", inside.repeat(1_000));
        assert_eq!(verdict(&deep), "block", "{inside}");
    }
}

#[test]
fn deep_but_finished_nesting_is_read() {
    for depth in [10, 100, 1_000] {
        let script = format!(
            "echo {}$(rm -rf /){}",
            "$(echo ".repeat(depth),
            ")".repeat(depth)
        );
        assert_eq!(verdict(&script), "block", "{depth}");
        let script = format!("echo {}$(ls){}", "$(echo ".repeat(depth), ")".repeat(depth));
        assert_ne!(verdict(&script), "block", "{depth}");
    }
    let long = format!("{}rm -rf /", "true && ".repeat(10_000));
    assert_eq!(verdict(&long), "block");
    let long = format!("{}true", "true && ".repeat(10_000));
    assert_eq!(verdict(&long), "allow");
}

#[test]
fn verdict_on_long_data_depends_on_the_command_around_it() {
    let body = "rm -rf /\n`git push -f`\n$(x) \"it's\n".repeat(7_000);
    assert!(body.len() > 200_000);
    assert_eq!(verdict(&format!("cat <<'EOF' > x\n{body}EOF\n")), "allow");
    assert_eq!(verdict(&format!("cat <<'EOF' > x\n{body}EOF\nls")), "allow");
    assert_eq!(
        verdict(&format!("cat <<'EOF' > x\n{body}EOF\nrm -rf /")),
        "block"
    );
    assert_eq!(
        verdict(&format!("rm -rf /; cat <<'EOF' > x\n{body}EOF\n")),
        "block"
    );
    // Safe mode writes nothing, so long data is of no use in it; the second reader is not asked.
    let safe = |body: &str| {
        let script = format!("cat <<'EOF'\n{body}EOF\n");
        check_safe_mode(&Script::read(&script, &context()), &SafeMode::default())
    };
    assert_eq!(safe(&body).name(), "unreadable");
    assert_eq!(safe("rm -rf /\n$(x) \"it's\n"), Verdict::Allow);
}

#[test]
fn long_script_is_checked_to_its_end() {
    let lines = "echo some words to make it long\n".repeat(20_000);
    assert_ne!(verdict(&lines), "block");
    assert_eq!(verdict(&format!("{lines}rm -rf /")), "block");
    assert_eq!(verdict(&format!("{lines}git push -f\n{lines}")), "block");
}

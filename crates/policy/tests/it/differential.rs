//! Differential test against real bash: generated scripts run with stubs of `rm` and `git` first on
//! `PATH` that only record their arguments. Whenever a stub saw something forbidden, the policy
//! must have blocked the script; a script that contains forbidden commands only as data must be
//! allowed.
//!
//! `POLICY_DIFFERENTIAL` sets the number of scripts (5000), `POLICY_SEED` the first seed (1).

#![expect(
    clippy::disallowed_methods,
    reason = "a test runs real bash and reads its settings from the environment"
)]
#![expect(
    clippy::print_stderr,
    reason = "the number of scripts that proved something is worth seeing"
)]

mod generate;
mod oracle;

use std::path::Path;

use agent_bash_policy::{Context, RuleSelection, Script, Verdict, check_safety};
use generate::Generator;
use oracle::Sandbox;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn policy_lists_every_command_that_bash_runs() {
    let count = setting("POLICY_DIFFERENTIAL", 5000);
    let seed = setting("POLICY_SEED", 1);
    let scripts: Vec<generate::Generated> = (0..count)
        .map(|index| Generator::new(seed + index).script())
        .collect();
    let sandbox = Sandbox::new();
    let context = Context::new(sandbox.cwd()).with_home(oracle::HOME);
    let logs = sandbox.run(scripts.iter().map(|generated| generated.text.as_str()));
    let rules = RuleSelection::default();
    let (mut missed, mut false_alarms, mut forbidden) = (Vec::new(), Vec::new(), 0);
    for (generated, argvs) in scripts.iter().zip(&logs) {
        let verdict = check_safety(&Script::read(&generated.text, &context), &rules);
        let blocks = matches!(verdict, Verdict::Block(_));
        if let Some(argv) = argvs
            .iter()
            .find(|argv| oracle::is_forbidden(argv, sandbox.cwd()))
        {
            forbidden += 1;
            if !blocks {
                missed.push(format!("{:?}\n    ran {argv:?}", generated.text));
            }
        } else if generated.harmless && blocks {
            false_alarms.push(format!("{:?}", generated.text));
        }
    }
    eprintln!("{count} scripts, {forbidden} ran something forbidden");
    // Negative control: the stubs do see forbidden commands, in a good part of the scripts.
    assert!(
        forbidden * 5 > count,
        "the stand-ins saw too little: {forbidden} of {count}"
    );
    assert!(
        missed.is_empty(),
        "{} missed\n{}",
        missed.len(),
        shown(&missed)
    );
    assert!(
        false_alarms.is_empty(),
        "{} false alarms\n{}",
        false_alarms.len(),
        shown(&false_alarms)
    );
}

fn shown(lines: &[String]) -> String {
    let mut lines: Vec<&String> = lines.iter().collect();
    lines.sort_by_key(|line| line.len());
    let first: Vec<&str> = lines.into_iter().take(25).map(String::as_str).collect();
    first.join("\n")
}

#[test]
fn oracle_distinguishes_forbidden_from_allowed() {
    let cwd = Path::new("/tmp/x");
    for (argv, expect) in [
        (vec!["rm", "-rf", "/"], true),
        (vec!["rm", "-rf", "build"], false),
        (vec!["rm", "/"], false),
        (vec!["git", "add", "-A"], true),
        (vec!["git", "push", "-f"], true),
        (vec!["git", "push"], false),
    ] {
        let argv: Vec<String> = argv.into_iter().map(str::to_owned).collect();
        assert_eq!(oracle::is_forbidden(&argv, cwd), expect, "{argv:?}");
    }
}

//! Safe mode's list: any git command, called from anywhere, and a refusal that describes the list.

use agent_bash_policy::{Context, SafeMode, Script, check_safe_mode};

#[test]
fn any_command_of_git_passes_wherever_its_repository_is() {
    let context = Context::new("/home/u/project").with_home("/home/u");
    for (script, passes) in [
        ("git -C sub status", true),
        ("git --git-dir=x/.git log", true),
        ("git --git-dir x/.git --work-tree x status", true),
        ("git --bare -C x log", true),
        ("git help", true),
        ("git help -a", true),
        ("git status &>> /dev/null", true),
        ("git help -w log", false),
        ("git help --web log", false),
        ("git -c core.pager=x log", false),
        ("git --exec-path=x log", false),
        ("git -C sub foo", false),
        ("git --super-prefix x log", false),
        ("git config user.name", true),
        ("git config --show-origin --get user.name", true),
        ("git config list", true),
        ("git config -f x --list", true),
        ("git config user.name x", false),
        ("git config --unset user.name", false),
        ("git config edit", false),
        ("tail -f app.log", true),
        ("find . -name -delete -print", true),
        ("find . -name x -delete", false),
        ("find . -name x -fprintf out x", false),
        ("rg --pretty x", true),
        ("rg --pre cat x", false),
        ("rg -iz x", false),
        ("rg -- -z x", true),
        ("npm test --prefix=x", false),
        ("pytest -p x", false),
    ] {
        let verdict = check_safe_mode(&Script::read(script, &context), &SafeMode::default());
        assert_eq!(!verdict.refuses(), passes, "{script}: {verdict:?}");
    }
}

/// Everyday commands that only read pass. Options and program texts of the same programs that write
/// a file or start a program are refused, as are words that are known only when the command runs.
#[test]
fn everyday_reading_passes_and_writing_by_the_same_programs_does_not() {
    let context = Context::new("/home/u/project").with_home("/home/u");
    let rows = include_str!("../data/safe_mode_everyday.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap());
    let mut wrong = Vec::new();
    for (verdict, script) in rows {
        let found = check_safe_mode(&Script::read(script, &context), &SafeMode::default());
        if found.refuses() != (verdict == "refuse") {
            wrong.push(format!("{verdict} {script}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn refusal_names_the_word_and_the_list() {
    let context = Context::new("/home/u/project");
    for (script, word) in [
        ("make all", "`make`"),
        ("git -c a.b=c log", "`-c a.b`"),
        ("git foo", "`foo`"),
    ] {
        let verdict = check_safe_mode(&Script::read(script, &context), &SafeMode::default());
        let printed = verdict.finding().map_or("", |finding| &finding.suggestion);
        assert!(
            printed.contains(word) && printed.contains("git, grep, rg"),
            "{script}: {printed}"
        );
    }
}

//! Level `listed`: any git command, called from anywhere, and a refusal that describes the list.

use agent_bash_policy::{Context, SafeLevel, SafeMode, Script, check_safe_mode};

fn listed() -> SafeMode {
    SafeMode {
        level: SafeLevel::Listed,
        ..SafeMode::default()
    }
}

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
    ] {
        let verdict = check_safe_mode(&Script::read(script, &context), &listed());
        assert_eq!(!verdict.refuses(), passes, "{script}: {verdict:?}");
    }
    let strict = check_safe_mode(
        &Script::read("git -C sub status", &context),
        &SafeMode::default(),
    );
    assert!(strict.refuses(), "only at this level");
}

#[test]
fn a_refusal_names_the_word_and_the_list() {
    let context = Context::new("/home/u/project");
    for (script, word) in [
        ("make all", "`make`"),
        ("git -c a.b=c log", "`-c a.b`"),
        ("git foo", "`foo`"),
    ] {
        let verdict = check_safe_mode(&Script::read(script, &context), &listed());
        let said = verdict.finding().map_or("", |finding| &finding.suggestion);
        assert!(
            said.contains(word) && said.contains("git, grep, rg"),
            "{script}: {said}"
        );
    }
}

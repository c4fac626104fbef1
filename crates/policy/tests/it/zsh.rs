//! Scripts for zsh: syntax that only zsh has is refused where a rule could be affected, and passes
//! elsewhere.

use agent_bash_policy::{Context, Dialect, RuleSelection, Script, Verdict, check_safety, rules};

/// Scripts that are refused if zsh runs them.
const REFUSED: &[&str] = &[
    // Globs.
    "rm -rf *(N)",
    "rm -rf *(.om[1])",
    "rm -rf ./(a|b)",
    "rm -rf a(b|/)c",
    "rm -rf <1-5>",
    "rm -rf dir<->",
    "cp *(.) ${=x}",
    "mv ~/*(N) /tmp",
    "mv *(:h) /tmp",
    "mv *(P:-t:) /tmp",
    "rm -rf x/*(.)(:h)",
    "git add *(.)",
    "kill -9 $pids[1]",
    "for f in *(N); do rm -rf $f; done",
    "for f in *(N); do rm -rf ${f%.txt}; done",
    "f=*(N); rm -rf $f",
    "ls *(e:'rm -rf ~':)",
    // `=command` and other words.
    "=rm -rf ~",
    "sudo =rm -rf ~",
    "=git push --force",
    "rm -rf =ls",
    "cat =(rm -rf ~)",
    "print =(git push -f)",
    "d=/; rm -rf ~d",
    // Precommand modifiers.
    "repeat 2 do rm -rf /; done",
    "repeat 2 { rm -rf ~ }",
    "repeat 2 {rm -rf ~}",
    "noglob rm -rf ~",
    "nocorrect rm -rf ~",
    "- rm -rf ~",
    "command noglob rm -rf ~",
    // Expansions.
    "rm ${=x}",
    "rm -rf $=x",
    "rm -rf $~x $^y",
    "rm -rf ${~x}",
    "rm -rf ${^x}",
    "rm -rf ${(f)x}",
    "rm -rf ${(@)x}/y",
    "rm -rf \"${(j: :)x}\"",
    "rm -rf ${${x}%/*}",
    "rm -rf ${x:h}",
    "rm -rf $x:h",
    "rm -rf \"$x:h\"",
    "rm -rf $x[1]",
    "rm -rf ${x:#a}",
    ": ${x::=/}; rm -rf ${x::=/}",
    "git push origin $b:release",
    "eval \"rm ${(f)x}\"",
    "find . ${=x}",
    "ls $x[$(rm -rf ~)]",
    "echo / | read x; rm -rf $x",
    "cd a b; rm -rf *",
    // Redirections.
    // Compound commands.
    "for x (a b) rm -rf $x",
    "for x (a b) { git push -f }",
    "for x in a b; rm -rf $x",
    "for a b in 1 2; do rm -rf $a; done",
    "foreach x (a b) rm -rf $x; end",
    "while (true) rm -rf ~",
    "if [[ -d x ]] rm -rf ~",
    "if [[ -d x ]] { git push -f }",
    "{ rm -rf ~ } always { print }",
    "{ rm -rf ~ }",
    "f() { rm -rf build }",
    "() { rm -rf $1 } /",
    "function { rm -rf $1 } /",
    "function a b { rm -rf ~; }",
    "case x { (x) rm -rf ~ ;; }",
    "case x in (x) rm -rf ~ ;| (y) ;; esac",
    "rm -rf ~ &!",
    "rm -rf ~ &|",
    "true &! rm -rf ~",
    // Options and aliases.
    "setopt extendedglob; rm -rf ^keep",
    "setopt SH_WORD_SPLIT; rm -rf $x/y",
    "unsetopt bare_glob_qual; rm -rf build",
    "emulate sh; rm -rf build",
    "emulate bash -c 'rm -rf build'",
    "alias -g X='-rf ~'; eval 'rm X'",
    "alias -s txt=rm; rm x",
    // Nested.
    "zsh -c 'rm -rf *(N)'",
    "sudo zsh -fc 'rm -rf *(N)'",
    "zsh <<< 'for f (*) rm $f'",
    "true; for f (*) { echo }; git push",
];

/// Scripts that are allowed if zsh runs them.
const SPARED: &[&str] = &[
    "ls *(N)",
    "ls -d *(/) | head -5",
    "print -l **/*.rs(.om[1,5])",
    "wc -l src/(a|b).c",
    "ls foo(test|e|bench)",
    "cat <1-5>.txt",
    "sed -n 1p *(.)",
    "awk '{print $1}' *(N)",
    "grep -rn 'rm' *(N)",
    "make -j$cores[1]",
    "git -C ${x:h} status",
    "git log ${(j: :)x}",
    "echo ${x:t} rm",
    "[ $a == 'git push -f' ]",
    "=ls -l",
    "=git status",
    "repeat 3 echo hi",
    "repeat 3 do echo hi; done",
    "repeat 3 echo hi; git push",
    "for f (*.txt) wc -l $f",
    "for f (*.txt) { wc -l $f }",
    "git status; for f (*.txt) wc -l $f",
    "echo ${(U)name} ${name:t} $name[1] $path:h",
    "if (( ${+commands[git]} )); then git status; fi",
    "[ a == b ] && git push",
    "[[ $x == a* ]] && rm -rf build",
    "[[ $x =~ '^(a|b)$' ]] && rm -rf build",
    "x=(${(f)\"$(git ls-files)\"}); print $#x",
    // Qualifiers choose among what the glob matches.
    "cp *(.) /tmp",
    "chmod 644 *(.)",
    "rm -rf build/*(N)",
    "rm -rf node_modules",
    "rm -rf ./build/*",
    "rm *.o",
    "git show HEAD^ HEAD~2 HEAD@{1} stash@{0}",
    "git reset HEAD~1",
    "git push origin ${branch}:release",
    "git push origin $branch:main",
    "git commit -m \"fix(core): $x\"",
    "git add src/main.rs && git commit -m 'a (b)'",
    "git show $rev[1]",
    "git config a.b '(x)'",
    "docker run -v $PWD:/src x; rm -rf build",
    "setopt pipefail nullglob; rm -rf build",
    "setopt no_nomatch; rm -rf build",
    "emulate -L zsh; rm -rf build",
    "setopt extendedglob; ls ^keep",
    "alias -g G='| grep'; ls",
    "x=(a b); rm -rf $x",
    "x=(a b); rm -rf ${x[1]}",
    "arr=(build dist); for d in $arr; do rm -rf $d; done",
    "echo 'a\\nb' | cat",
    "noglob find . -name *.o",
    "noglob git add src/a.rs",
    "make 2>&1 >! log",
    "cd src && ls",
    "bash -c 'git push origin $b:release'",
    "python3 -c 'print(\"$x[1] rm\")'",
];

fn verdict(script: &str, dialect: Dialect) -> Verdict {
    let context = Context::new("/home/u/project")
        .with_home("/home/u")
        .with_dialect(dialect);
    check_safety(&Script::read(script, &context), &RuleSelection::default())
}

#[test]
fn zsh_only_syntax_is_refused_where_a_rule_may_apply() {
    let passed: Vec<_> = REFUSED
        .iter()
        .filter(|script| !verdict(script, Dialect::Zsh).refuses())
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn zsh_syntax_passes_where_no_rule_applies() {
    let refused: Vec<_> = SPARED
        .iter()
        .map(|script| (script, verdict(script, Dialect::Zsh)))
        .filter(|(_, verdict)| verdict.refuses())
        .map(|(script, verdict)| (script, verdict.finding().map(|f| f.rule.clone())))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn zsh_syntax_is_refused_in_zsh_scripts_only() {
    for script in ["rm -f $x[1]", "git push origin $b:release"] {
        assert!(verdict(script, Dialect::Zsh).refuses(), "{script}");
        assert_eq!(verdict(script, Dialect::Bash), Verdict::Allow, "{script}");
    }
}

#[test]
fn refusal_says_what_to_do() {
    let script = "git status; rm -f $x[1]";
    let verdict = verdict(script, Dialect::Zsh);
    let finding = verdict.finding().unwrap();
    assert_eq!(finding.rule, "no_unread_zsh");
    assert_eq!(&script[finding.span.start..finding.span.end], "rm -f $x[1]");
    assert!(finding.message.contains("only zsh"), "{}", finding.message);
    assert!(
        finding.suggestion.contains("bash -c"),
        "{}",
        finding.suggestion
    );
}

/// A command that is refused in bash is also refused in zsh.
#[test]
fn rules_refuse_the_same_in_zsh_as_in_bash() {
    let all = RuleSelection::all();
    let context = Context::new("/home/u/project").with_home("/home/u");
    let zsh = context.clone().with_dialect(Dialect::Zsh);
    let blocked_examples = rules().iter().flat_map(|rule| &rule.blocked_examples);
    let passed: Vec<_> = blocked_examples
        .filter(|script| !check_safety(&Script::read(script, &zsh), &all).refuses())
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
    // A command that both shells read alike passes in both.
    let allowed_examples = rules().iter().flat_map(|rule| &rule.allowed_examples);
    let refused: Vec<_> = allowed_examples
        .filter(|script| {
            !check_safety(&Script::read(script, &context), &all).refuses()
                && check_safety(&Script::read(script, &zsh), &all).refuses()
        })
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

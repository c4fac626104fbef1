//! Scripts in a shell that has functions and aliases, and `${ …; }` of bash 5.3.

use agent_bash_policy::{Context, Predefined, RuleSelection, Script, Verdict, check_safety};
use std::collections::BTreeMap;
use std::sync::Arc;

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let own = pairs.iter();
    own.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

fn is_blocked(script: &str, predefined: &Arc<Predefined>) -> bool {
    let context = Context::new("/w").with_predefined(Arc::clone(predefined));
    let script = Script::read(script, &context);
    matches!(
        check_safety(&script, &RuleSelection::all()),
        Verdict::Block(_)
    )
}

#[test]
fn functions_and_aliases_of_the_shell_are_followed() {
    let predefined = Arc::new(Predefined {
        functions: Arc::new(map(&[
            ("pf", "pf () \n{ \n    git push --force\n}\n"),
            ("p", "p () \n{ \n    git push \"$@\"\n}\n"),
            ("outer", "outer () \n{ \n    pf\n}\n"),
            ("clean", "clean () \n{ \n    rm -rf \"$CACHE\"/*\n}\n"),
        ])),
        aliases: Arc::new(map(&[
            ("g", "git"),
            ("gaa", "git add --all"),
            ("nice", "nice -n 5 "),
            ("git", "git --no-pager"),
        ])),
        git_aliases: map(&[
            ("pf", "push --force"),
            ("all", "!git add -A"),
            ("st", "status"),
        ]),
        expands_aliases: true,
        ..Predefined::default()
    });
    for script in [
        "pf", "p --force", "outer", "true && g push --force", "gaa", "nice g push --force",
        "git pf", "g pf origin", "git -C /x all", "echo a | pf", "x=$(pf)",
        "unalias gaa; g push --force",
    ] {
        assert!(is_blocked(script, &predefined), "{script}");
        assert!(!is_blocked(script, &Arc::default()), "{script}: control");
    }
    for script in [
        "p", "g status", "git st", // Its own words are unknown, and its user's.
        "clean", "unalias g; g push --force", "pf() { :; }; pf",
    ] {
        assert!(!is_blocked(script, &predefined), "{script}");
    }
}

#[test]
fn variables_of_the_call_are_known() {
    let predefined = Arc::new(Predefined {
        variables: map(&[
            ("F", "--force"),
            ("RUN", "git push --force"),
            ("OUT", "build"),
            ("IFS", "x"),
        ]),
        ..Predefined::default()
    });
    for script in [
        "git push $F", "git push \"$F\"", "eval \"$RUN\"", "$RUN", "bash -c 'git push $F'",
        "F=$F; git push $F",
    ] {
        assert!(is_blocked(script, &predefined), "{script}");
        assert!(!is_blocked(script, &Arc::default()), "{script}: control");
    }
    for script in ["F=; git push $F", "unset F; git push $F", "echo $RUN"] {
        assert!(!is_blocked(script, &predefined), "{script}");
    }
    // A known value ends the doubt.
    assert!(is_blocked("rm -rf \"$OUT\"", &Arc::default()));
    assert!(!is_blocked("rm -rf \"$OUT\"", &predefined));
}

#[test]
fn aliases_of_a_script_are_followed_if_it_expands_them() {
    let none = Arc::default();
    let alias = "alias g=git\ng push --force";
    assert!(is_blocked(
        &format!("shopt -s expand_aliases\n{alias}"),
        &none
    ));
    assert!(!is_blocked(alias, &none));
}

/// The expected results are those of bash 5.3.15.
#[test]
fn function_substitutions_are_read_and_followed() {
    let none = Arc::default();
    for script in [
        "echo \"${ date; }\"",
        "echo ${ echo a; }x${ echo b;}",
        "echo \"${|REPLY=5; }y\"",
        "echo ${ { echo a; } } ${ (echo a) } ${ }",
        "echo ${ if true; then echo b; fi }z",
        "echo ${ echo }a; }",
        "echo ${ echo \"${ echo b; }\"; }",
        "echo $(( ${ echo 3; }+1 ))",
        "cat <<E\n${ echo h; }.\nE",
        "[[ ${ echo a; } == a ]] && a=(${ echo 1; }2 3)",
        "echo ${ # c }\necho nl; }",
        "echo \"${ cat <<E\nhd\nE\n}\"",
        "echo ${ case x in x) echo c;; esac }",
        "echo ${ echo a & }w; echo ${x:-${ echo d; }}",
    ] {
        let context = Context::new("/w");
        let read = Script::read(script, &context);
        assert_eq!(read.syntax_error, None, "{script}");
        assert!(!is_blocked(script, &none), "{script}");
    }
    for script in [
        "echo \"${ git push --force; }\"",
        "echo ${ x=--force; }; git push $x",
        "git push ${| REPLY=--force; }",
        "git push \"${|REPLY=--force; }\"",
        "f() { return; }; ${ f; return; git status; }; git push --force",
    ] {
        assert!(is_blocked(script, &none), "{script}");
    }
    for script in ["echo ${ echo a }", "echo ${ ;}"] {
        let context = Context::new("/w");
        assert!(
            Script::read(script, &context).syntax_error.is_some(),
            "{script}"
        );
    }
}

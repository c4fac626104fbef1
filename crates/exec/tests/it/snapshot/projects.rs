//! Each project has its own snapshot, and a session follows the project that it enters.

use super::home::Home;
use super::{in_session, run};
use agent_bash_core::{RunSpec, SessionName};
use agent_bash_exec::SnapshotOptions;
use std::sync::Arc;

/// Returns a call of the session `a`. The call names a directory, unless `directory` is empty.
fn in_session_at(home: &Home, directory: &str, script: &str) -> RunSpec {
    let mut spec = in_session(home, script);
    spec.enter_cwd = !directory.is_empty();
    spec.cwd = home.path(directory);
    spec
}

/// The configuration is read in the project of the call, and `PROMPT_COMMAND` is run.
#[tokio::test(flavor = "multi_thread")]
async fn each_project_has_its_own_snapshot() {
    let home = Home::with("hook");
    let cache = home.cache(2);
    let version = async |directory: &str| {
        let mut spec = home.spec("echo ${TOOL_VERSION-none} ${PATH%%:*}");
        spec.cwd = home.path(directory);
        run(&cache, &spec).await.out
    };
    home.write("one/.tool-versions", "18\n");
    home.write("two/.tool-versions", "22\n");
    std::fs::create_dir(home.path("two/sub")).unwrap();
    for _ in 0..2 {
        assert_eq!(version("one").await, "18 /tools/18\n");
        assert_eq!(version("two/sub").await, "22 /tools/22\n");
        assert_eq!(version("").await, "none /usr/local/bin\n");
    }
    home.write("one/.tool-versions", "20.1\n");
    assert_eq!(version("one").await, "20.1 /tools/20.1\n");
}

/// After a session enters another project, its next call has the variables that a prompt would set.
#[tokio::test(flavor = "multi_thread")]
async fn session_gets_the_version_of_the_project_that_it_enters() {
    let home = Home::with("hook");
    let cache = home.cache(0);
    let run_in = async |script: &str| run(&cache, &in_session(&home, script)).await.out;
    home.write("one/.tool-versions", "18\n");
    home.write("two/.tool-versions", "22\n");
    std::fs::create_dir(home.path("none")).unwrap();
    let show = "echo ${TOOL_VERSION-none} $own $PATH";
    assert_eq!(
        run_in("own=1; PATH=/own:/usr/bin:/bin; cd ~/one; echo").await,
        "\n"
    );
    assert_eq!(run_in(show).await, "18 1 /tools/18:/own:/usr/bin:/bin\n");
    assert_eq!(
        run_in("PATH=/new:$PATH; cd ../two; echo $TOOL_VERSION").await,
        "18\n"
    );
    let two = "22 1 /tools/22:/new:/own:/usr/bin:/bin\n";
    assert_eq!(run_in(show).await, two);
    assert_eq!(run_in("TOOL_VERSION=mine; cd .; echo").await, "\n");
    assert_eq!(run_in("echo $TOOL_VERSION; cd ../none").await, "mine\n");
    assert_eq!(run_in(show).await, "none 1 /new:/own:/usr/bin:/bin\n");
    let named = in_session_at(&home, "two", show);
    assert_eq!(run(&cache, &named).await.out, two);
    home.write("two/.tool-versions", "24.10\n");
    assert_eq!(
        run_in(show).await,
        "24.10 1 /tools/24.10:/new:/own:/usr/bin:/bin\n"
    );
    assert_eq!(run_in("cd ../one").await, "");
    assert_eq!(run_in("exit 3").await, "");
    assert_eq!(
        run_in(show).await,
        "18 /tools/18:/new:/own:/usr/bin:/bin\n",
        "in another shell"
    );
}

/// A prompt applies the choice of `mise shell`; so does the next call of a session.
#[tokio::test(flavor = "multi_thread")]
async fn session_applies_the_choice_of_a_manager_before_its_next_call() {
    let home = Home::with("plain");
    home.write_rc(
        "mise() { MISE_CHOICE=$2; }\n\
         _mise_hook() { echo shown; chosen=${MISE_CHOICE-}; return 3; }\n\
         PROMPT_COMMAND=_mise_hook\n",
    );
    std::fs::create_dir_all(home.path("one/.git")).unwrap();
    let cache = home.cache(0);
    let run_in = async |script: &str| run(&cache, &in_session(&home, script)).await.out;
    assert_eq!(
        run_in("chosen=none; mise shell 18; echo $chosen; (exit 7)").await,
        "none\n"
    );
    assert_eq!(run_in("echo $? $chosen; MISE_CHOICE=20").await, "7 18\n");
    assert_eq!(run_in("echo $chosen; cd ~/one").await, "18\n");
    assert_eq!(
        run_in("echo $chosen").await,
        "20\n",
        "after a change of the project"
    );
}

/// The functions of a manager like mise, which restores the variables that it has replaced.
const MANAGER: &str = "mise() { :; }
    _mise_hook() {
        [[ -e untrusted ]] && return 1
        [[ ${FORMER+x} ]] && { export VERSION=$FORMER; unset FORMER; }
        [[ -e .tool-versions ]] || return 0
        export FORMER=${VERSION-none} VERSION
        read -r VERSION <.tool-versions
    }\n";

/// A manager that replaces `cd`, as mise, chooses in the shell of the session: it restores the
/// values that the session has set, and a project that it does not trust changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn session_calls_the_hook_of_a_manager_in_the_project_that_it_enters() {
    let home = Home::with("plain");
    home.write_rc(
        &[
            MANAGER,
            "cd() { builtin cd \"$@\" && _mise_hook; }\n_mise_hook\nPROMPT_COMMAND=_mise_hook\n",
        ]
        .concat(),
    );
    home.write("one/.tool-versions", "18\n");
    home.write("two/.tool-versions", "22\n");
    home.write("denied/untrusted", "");
    for directory in ["none", "denied/.git"] {
        std::fs::create_dir(home.path(directory)).unwrap();
    }
    let cache = home.cache(0);
    let run_in = async |directory: &str, script: &str| {
        let spec = in_session_at(&home, directory, script);
        run(&cache, &spec).await.out
    };
    let show = "echo ${VERSION-unset} ${PWD##*/}";
    assert_eq!(run_in("none", show).await, "unset none\n");
    assert_eq!(run_in("", "export VERSION=own; echo").await, "\n");
    assert_eq!(run_in("one", show).await, "18 one\n");
    assert_eq!(run_in("denied", show).await, "18 denied\n");
    assert_eq!(run_in("two", "mise shell").await, "");
    assert_eq!(run_in("one", show).await, "18 one\n");
    assert_eq!(run_in("", "cd ../none").await, "");
    assert_eq!(run_in("", show).await, "own none\n");
    assert_eq!(run_in("one", "cd ../denied").await, "");
    assert_eq!(run_in("", show).await, "18 denied\n");
    assert_eq!(run_in("two", show).await, "22 two\n");
    assert_eq!(run_in("", "exit 3").await, "");
    assert_eq!(run_in("one", show).await, "18 one\n", "in another shell");
    assert_eq!(run_in("none", show).await, "own none\n");
}

/// The function of a manager like direnv, which only the prompt calls. Leaving a project restores
/// the variables that the project has replaced.
const PROMPT_MANAGER: &str = "_direnv_hook() {
        if [[ ${DIRENV_DIR-} && $DIRENV_DIR != \"$PWD\" ]]; then
            PATH=$DIRENV_PATH
            unset PROJECT
            [[ ! $DIRENV_FORMER ]] || export PROJECT=$DIRENV_FORMER
            unset DIRENV_DIR DIRENV_PATH DIRENV_FORMER
        fi
        if [[ -e .envrc && ! ${DIRENV_DIR-} ]]; then
            export DIRENV_DIR=$PWD DIRENV_PATH=$PATH DIRENV_FORMER=${PROJECT-}
            . ./.envrc
        fi
    }
    PROMPT_COMMAND=_direnv_hook\n";

/// Variables that the session has set return after a project that sets them, also if another shell
/// has entered the project.
#[tokio::test(flavor = "multi_thread")]
async fn session_calls_the_hook_of_the_prompt_in_the_project_that_it_enters() {
    let home = Home::with("plain");
    let other = "_other() { export OTHER=${PWD##*/}; }\nPROMPT_COMMAND+=';_other'\nexport TOOL=1\n";
    home.write_rc(&[PROMPT_MANAGER, other].concat());
    for name in ["one", "two"] {
        let text = format!("export PROJECT={name} PATH=/{name}:$PATH\n");
        home.write(&format!("{name}/.envrc"), &text);
    }
    std::fs::create_dir(home.path("none")).unwrap();
    let cache = home.cache(0);
    let run_in = async |directory: &str, script: &str| {
        let spec = in_session_at(&home, directory, script);
        run(&cache, &spec).await.out
    };
    let show = "echo ${PROJECT-unset} ${PATH%%:*} $OTHER";
    assert_eq!(run_in("one", show).await, "one /one one\n");
    assert_eq!(run_in("none", show).await, "unset /usr/local/bin none\n");
    assert_eq!(run_in("", "export PROJECT=own").await, "");
    assert_eq!(run_in("one", show).await, "one /one one\n");
    assert_eq!(run_in("two", show).await, "two /two two\n");
    assert_eq!(run_in("none", show).await, "own /usr/local/bin none\n");
    assert_eq!(run_in("one", "exit 3").await, "");
    assert_eq!(
        run_in("one", show).await,
        "one /one one\n",
        "in the second shell"
    );
    assert_eq!(run_in("none", show).await, "own /usr/local/bin none\n");
    assert_eq!(run_in("", "cd ../two").await, "");
    assert_eq!(run_in("", "exit 3").await, "");
    assert_eq!(
        run_in("", show).await,
        "two /two two\n",
        "in the third shell"
    );
    assert_eq!(run_in("none", show).await, "own /usr/local/bin none\n");
    let tool = "echo ${TOOL-unset}";
    assert_eq!(run_in("", "unset TOOL").await, "");
    assert_eq!(run_in("", "exit 3").await, "");
    assert_eq!(run_in("", tool).await, "unset\n");
    home.write_rc("export TOOL=2\n");
    assert_eq!(run_in("", "exit 3").await, "");
    assert_eq!(run_in("", tool).await, "2\n", "of the new configuration");
}

/// If both `cd` and the prompt choose versions, the order of these choices is a terminal's: a
/// prompt also follows each script that has changed the directory.
#[tokio::test(flavor = "multi_thread")]
async fn session_calls_the_hook_of_the_prompt_where_a_script_has_ended() {
    let home = Home::with("plain");
    for directory in ["one/.git", "one/inner", "two/.git", "three/.git"] {
        std::fs::create_dir_all(home.path(directory)).unwrap();
    }
    let prompt = "_mise_hook() { LOG+=\" ${PWD##*/}\"; }\nPROMPT_COMMAND=_mise_hook\n";
    let cd = "cd() { builtin cd \"$@\" && LOG+=\" cd:${PWD##*/}\"; }\n";
    let calls = [
        ("one", "LOG=", "", ""),
        ("one", "cd ../two", "", ""),
        (
            "three", "echo $LOG", "cd:two two cd:three three\n", "three\n",
        ),
        (
            "three", "echo $LOG; LOG=", "cd:two two cd:three three\n", "three\n",
        ),
        ("", "cd ../one", "", ""),
        ("", "echo $LOG; LOG=; cd inner", "cd:one one\n", "one\n"),
        ("", "echo $LOG", "cd:inner inner\n", "\n"),
        ("", "echo $LOG", "cd:inner inner\n", "\n"),
    ];
    for replaces_cd in [true, false] {
        home.write_rc(&[prompt, if replaces_cd { cd } else { "" }].concat());
        let cache = home.cache(0);
        for (directory, script, with_cd, without_cd) in calls {
            let spec = in_session_at(&home, directory, script);
            let want = if replaces_cd { with_cd } else { without_cd };
            assert_eq!(run(&cache, &spec).await.out, want, "{directory}: {script}");
        }
    }
}

/// As in a terminal, a version that a command has chosen lasts until the directory changes.
#[tokio::test(flavor = "multi_thread")]
async fn session_calls_the_replaced_cd_in_a_directory_that_a_call_names() {
    let home = Home::with("plain");
    home.write_rc("cd() { builtin cd \"$@\" && export VERSION=${PWD##*/}; }\n");
    for directory in ["one", "two"] {
        std::fs::create_dir_all(home.path(directory)).unwrap();
    }
    let cache = home.cache(0);
    for (directory, script, want) in [
        ("one", "echo ${VERSION-unset}", "unset\n"),
        ("two", "echo $VERSION", "two\n"),
        ("two", "VERSION=own", ""),
        ("two", "echo $VERSION", "own\n"),
        ("one", "cd ../two; VERSION=own", ""),
        ("two", "echo $VERSION", "own\n"),
        ("two", "exit 3", ""),
        ("one", "echo $VERSION", "one\n"),
    ] {
        let spec = in_session_at(&home, directory, script);
        assert_eq!(run(&cache, &spec).await.out, want, "{directory}: {script}");
    }
}

/// `mise activate --no-hook-env` defines the hook, but no prompt calls it.
#[tokio::test(flavor = "multi_thread")]
async fn session_does_not_call_the_hook_of_a_manager_that_no_prompt_calls() {
    let home = Home::with("plain");
    home.write_rc(MANAGER);
    home.write("one/.tool-versions", "18\n");
    let cache = home.cache(0);
    for directory in ["", "one"] {
        let mut spec = in_session(&home, "echo ${VERSION-unset}");
        spec.cwd = home.path(directory);
        spec.enter_cwd = true;
        assert_eq!(run(&cache, &spec).await.out, "unset\n", "{directory}");
    }
}

/// If a tool replaces `cd`, each `cd` of a script chooses the version of the entered directory, and
/// is otherwise bash's `cd`.
#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_cd_chooses_the_version_of_each_entered_directory() {
    let home = Home::with("hook");
    home.write("one/.tool-versions", "18\n");
    home.write("two/.tool-versions", "22\n");
    let hook = std::fs::read_to_string(home.rc()).unwrap();
    let function = "cd() { builtin cd \"$@\" && echo noise && cat && _hook; }\n";
    let alias =
        "chdir_hook() { \\cd \"$@\" || return; echo $unset; _hook; }\nalias cd=chdir_hook\n";
    let scripts = [
        ("cd ../two && echo $TOOL_VERSION", "22\n"),
        ("cd \"$HOME\"/two; echo $TOOL_VERSION", "22\n"),
        (
            "for d in two one; do (cd ../$d; echo $TOOL_VERSION); done; echo $TOOL_VERSION",
            "22\n18\n18\n",
        ),
        (
            "(set -euf; IFS=i; options=$-; x=$(cd ../two && pwd); cd ../two; cd ..; cd \"$OLDPWD\"
              [[ $- == \"$options\" ]] && echo \"${x##*/}\" \"${PWD##*/}\" $TOOL_VERSION)",
            "two two 22\n",
        ),
        (
            "echo a | { cd ../two; cat; }; cd ../none 2>/dev/null || echo $?",
            "a\n1\n",
        ),
    ];
    for (rc, switches) in [
        (hook.clone(), false),
        (hook.clone() + function, true),
        (hook + alias, true),
    ] {
        home.write_rc(&rc);
        let cache = home.cache(0);
        for session in [None, Some(SessionName("a".into()))] {
            for (script, want) in scripts {
                let mut spec = home.spec(script);
                spec.session.clone_from(&session);
                spec.cwd = home.path("one");
                spec.enter_cwd = true;
                let want = if switches {
                    want.to_owned()
                } else {
                    want.replace("22", "18")
                };
                assert_eq!(run(&cache, &spec).await.out, want, "{script}: {rc}");
            }
        }
    }
}

/// `pushd` and `popd` of a configuration choose versions in their own way, and the stack of
/// directories is bash's.
#[tokio::test(flavor = "multi_thread")]
async fn replaced_pushd_and_popd_are_called_as_such() {
    let home = Home::with("plain");
    std::fs::create_dir(home.path("one")).unwrap();
    let all = "pushd() { builtin pushd \"$@\" && export ENTERED=pushd; }
        popd() { builtin popd \"$@\" && export ENTERED=popd; }
        cd() { builtin cd \"$@\" && export ENTERED=cd; }\n";
    let script = "pushd .. >/dev/null; echo $ENTERED ${#DIRSTACK[@]}; cd one; echo $ENTERED
        popd >/dev/null; echo $ENTERED ${#DIRSTACK[@]} ${PWD##*/}; popd 2>/dev/null || echo $?";
    let stacks = "cd() { builtin pushd \"$@\" && export ENTERED=cd; }\n";
    for (rc, want) in [
        (all, "pushd 2\ncd\npopd 1 one\n1\n"),
        (stacks, "2\ncd\ncd 1 one\n1\n"),
    ] {
        home.write_rc(rc);
        let mut spec = home.spec(script);
        spec.cwd = home.path("one");
        assert_eq!(run(&home.cache(0), &spec).await.out, want, "{rc}");
    }
}

/// A tool whose `cd` changes a link that it has made for its shell, as fnm, does not change the
/// versions of other calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_made_for_a_shell_is_changed_by_one_call_only() {
    let home = Home::with("hook");
    home.write("18/bin/tool", "");
    home.write("22/bin/tool", "");
    std::fs::create_dir(home.path("one")).unwrap();
    let rc = "export LINK=$HOME/link-$$; ln -s ~/18 $LINK; PATH=$LINK/bin:$PATH
        cd() { builtin cd \"$@\" && [ ! -d bin ] || ln -sfn \"$PWD\" $LINK; }\n";
    home.write_rc(rc);
    let cache = home.cache(0);
    let show = "realpath ${PATH%%:*}";
    // The shell of a session has the link from the second script on.
    for (script, isolated, in_session) in [
        (show.to_owned(), "18/bin", "18/bin"),
        (format!("cd ~/22; cd ~; cd one; {show}"), "22/bin", "22/bin"),
        (format!("(cd ~/22); {show}"), "18/bin", "22/bin"),
        (format!("cd ~/18; {show}"), "18/bin", "18/bin"),
    ] {
        for (session, want) in [
            (None, isolated),
            (Some(SessionName("a".into())), in_session),
        ] {
            let mut spec = home.spec(&script);
            spec.session.clone_from(&session);
            spec.cwd = home.path("one");
            spec.enter_cwd = true;
            let want = format!("{}\n", home.path(want).display());
            assert_eq!(run(&cache, &spec).await.out, want, "{script} {session:?}");
        }
    }
}

/// The search path that a manager restores contains the link of another shell.
#[tokio::test(flavor = "multi_thread")]
async fn link_of_a_shell_stays_in_a_search_path_that_a_hook_restores() {
    let home = Home::with("plain");
    std::fs::create_dir_all(home.path("18/bin")).unwrap();
    home.write("one/.envrc", "PATH=/one:$PATH\n");
    let link = "export LINK=$HOME/link-$$; ln -s ~/18 $LINK; PATH=$LINK/bin:$PATH
        cd() { builtin cd \"$@\" && [ ! -d bin ] || ln -sfn \"$PWD\" $LINK; }\n";
    home.write_rc(&[link, PROMPT_MANAGER].concat());
    let cache = home.cache(0);
    let is_own = "[[ $LINK == *.$$ && $PATH == \"$LINK/bin:\"* ]] && echo own";
    for (directory, script, want) in [
        ("one", "echo ${PATH%%:*}", "/one\n"),
        ("18", is_own, "own\n"),
    ] {
        let spec = in_session_at(&home, directory, script);
        assert_eq!(run(&cache, &spec).await.out, want, "{directory}");
    }
}

/// With `CI`, mise trusts every project, so calls do not have it if the configuration sets up mise.
#[tokio::test(flavor = "multi_thread")]
async fn configuration_with_mise_unsets_ci() {
    for (rc, may_unset_ci, want) in [
        ("mise() { command mise \"$@\"; }", true, "none\n"),
        ("PATH=$HOME/bin:$PATH", true, "none\n"),
        ("PATH=$HOME/bin:$PATH", false, "1\n"),
        ("PATH=$HOME/empty:$PATH", true, "1\n"),
    ] {
        let home = Home::with("hook");
        home.write_rc(rc);
        home.write("bin/mise", "");
        let options = SnapshotOptions {
            may_unset_ci,
            ..home.options()
        };
        let cache = home.cache_with(options, 0);
        let mut spec = home.spec("echo ${CI-none}");
        let mut base = (*spec.env.base).clone();
        base.insert("CI".into(), "1".into());
        spec.env.base = Arc::new(base);
        assert_eq!(run(&cache, &spec).await.out, want, "{rc}");
        spec.env.changes.insert("CI".into(), Some("own".into()));
        assert_eq!(run(&cache, &spec).await.out, "own\n", "{rc}");
    }
}

//! The expected result of each configuration. Data only.

/// A configuration, and its expected effect on calls.
pub(crate) struct Case {
    /// `data/rc/<rc>.bashrc`.
    pub(crate) rc: &'static str,
    /// All functions in a call; `*` is not checked.
    pub(crate) functions: &'static str,
    /// All aliases in a call.
    pub(crate) aliases: &'static str,
    /// Scripts and their stdout.
    pub(crate) scripts: &'static [(&'static str, &'static str)],
    /// Part of the reason why there is no snapshot.
    pub(crate) skipped: Option<&'static str>,
    /// The process in which the configuration hangs.
    pub(crate) hangs_in: Option<&'static str>,
    /// The number of daemons that the configuration starts, which continue.
    pub(crate) daemons: usize,
    /// True if the configuration sets options, or `PATH`, that change the effect of scripts.
    pub(crate) options: bool,
}

/// A configuration without an effect on calls.
const fn nothing(rc: &'static str) -> Case {
    Case {
        rc,
        functions: "",
        aliases: "",
        scripts: &[],
        skipped: None,
        hangs_in: None,
        daemons: 0,
        options: false,
    }
}

/// A configuration that defines only functions.
const fn defines(
    rc: &'static str,
    functions: &'static str,
    scripts: &'static [(&'static str, &'static str)],
) -> Case {
    Case {
        functions,
        scripts,
        ..nothing(rc)
    }
}

/// A configuration without a snapshot.
const fn skipped(rc: &'static str, why: &'static str) -> Case {
    Case {
        skipped: Some(why),
        ..nothing(rc)
    }
}

/// Scripts that do the same with a snapshot and in a bare shell.
pub(crate) const LIKE_BARE: &[&str] = &[
    "echo out; echo err >&2; (exit 3)",
    "echo \"$0 $# $- $_\"; echo \"$BASH_EXECUTION_STRING\" | wc -c; pwd; cd /usr; pwd; echo \"${OLDPWD-}\"",
    "env | grep -v -e ^SHLVL= -e ^_= | sort",
    "compgen -v | grep -v -e ^BASH -e ^PIPESTATUS -e ^_ -e ^FUNCNAME | sort",
    "compgen -v | grep ^__ab",
    "shopt -u expand_aliases; shopt; set -o",
    "trap",
    "trap 'echo bye' EXIT; exit 4",
    "f() { return 3; }; f",
    "echo one\necho )",
    "no-such-command",
    "set -eu; echo $nothing",
    "kill -TERM $$",
    "for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 42 43 60 99 255; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; true",
    "cat; read x; echo $?",
    "ls -d /; grep -c x </dev/null; echo a | sed s/a/b/; rm -f /nonexistent/x",
    "shopt -s expand_aliases\nalias own='echo own'\nown",
    "exec true",
    "history; jobs; umask; ulimit -n",
];

pub(crate) const CASES: &[Case] = &[
    Case {
        functions: "quiet_one quiet_two",
        aliases: "quiet",
        // Aliases are expanded.
        options: true,
        ..nothing("quiet")
    },
    Case {
        aliases: "gs hi ..",
        options: true,
        ..defines(
            "plain",
            "greet with-dash with.dot",
            &[
                (
                    "hi; greet you; with-dash | cat; (with.dot)",
                    "hello there\nhello you\ndashed\ndotted\n",
                ),
                ("cd /usr/lib\n..; pwd", "/usr\n"),
                (
                    "shopt globstar nullglob failglob; set -o | grep pipefail",
                    "globstar       \ton\nnullglob       \ton\nfailglob       \toff\npipefail       \ton\n",
                ),
                ("false | true; echo $?", "1\n"),
                (
                    "echo \"$PATH\"; echo \"${EDITOR-}${SOMETHING-}\"",
                    "/opt/mine:/usr/local/bin:/usr/bin:/bin\nelse\n",
                ),
                (
                    "greet() { echo mine; }; greet; unalias hi; alias hi || echo gone",
                    "mine\ngone\n",
                ),
            ],
        )
    },
    nothing("empty"),
    Case {
        hangs_in: Some("bash"),
        ..skipped("hangs", "takes longer than")
    },
    Case {
        hangs_in: Some("sleep"),
        ..skipped("sleeps", "takes longer than")
    },
    Case {
        hangs_in: Some("bash"),
        ..skipped("stops", "takes longer than")
    },
    defines("exits", "early", &[("early", "early\n")]),
    skipped("kills", "(SIGKILL)"),
    defines("execs", "early", &[("early && echo early", "early\n")]),
    nothing("execs_and_stays"),
    Case {
        aliases: "st",
        options: true,
        ..defines("execs_interactive", "stayed", &[("st", "stayed\n")])
    },
    defines("builtin_exec", "early", &[("early", "early\n")]),
    Case {
        // One function needs a secret, and another calls that function.
        functions: "module z authorize",
        scripts: &[
            (
                "module gcc; echo \"${LOADED#\"$HOME\"}\"; z",
                "/cmd gcc\nz# two three x y fixed target\n",
            ),
            ("authorize", "got Authorization: none\n"),
            ("bash -c 'module icc; echo \"${LOADED##*/}\"'", "cmd icc\n"),
            ("my_fixed=mine; echo $my_fixed", "mine\n"),
            ("echo \"${my_unused-none}${MY_TOKEN-none}\"", "nonenone\n"),
            ("uses_token 2>/dev/null || echo $?", "127\n"),
        ],
        options: true,
        ..nothing("variables")
    },
    Case {
        options: true,
        ..defines(
            "limits",
            "limited",
            &[
                ("limited", "0027\n200\n"),
                ("bash -c 'umask; ulimit -n'", "0027\n200\n"),
            ],
        )
    },
    defines("hook", "_hook", &[]),
    defines("locks", "locked", &[]),
    defines("prints", "told", &[("told", "told\n")]),
    skipped("writes_there", "reported its definitions"),
    skipped("prints_its_end", "reported its definitions"),
    defines("asks", "asked", &[("asked", "asked\n")]),
    Case {
        // One daemon for each cache that reads the configuration.
        daemons: 2,
        functions: "agent",
        scripts: &[("agent", "agent\n")],
        ..nothing("daemon")
    },
    defines(
        "forks",
        "forked",
        &[("forked", "forked\n"), ("jobs; echo ${#COPROC[@]}", "0\n")],
    ),
    Case {
        options: true,
        ..defines(
            "strict",
            "before after",
            &[
                (
                    "before; after; set -o | grep -e errexit -e nounset -e pipefail | wc -l; echo $-",
                    "before\nafter\n3\nehuBc\n",
                ),
                ("echo one; false; echo two", "one\n"),
                ("echo one; echo $nothing; echo two", "one\n"),
            ],
        )
    },
    Case {
        options: true,
        ..defines(
            "unbound",
            "before after",
            &[("before; after", "before\nafter\n")],
        )
    },
    Case {
        options: true,
        ..defines(
            "extglob",
            "kind",
            &[
                ("kind 12; kind a.txt; kind b", "number\ntext\nother\n"),
                ("case ab in @(ab|c)) echo yes;; esac", "yes\n"),
            ],
        )
    },
    Case {
        functions: "kind",
        // The configuration loads, and works as in the user's own shell.
        scripts: &[
            ("kind a; kind c", "other\nother\n"),
            ("shopt -q extglob || echo off", "off\n"),
        ],
        ..nothing("extglob_off_again")
    },
    Case {
        aliases: "- ~ ..... @ * quoted lines trailing word +x !!",
        scripts: &[
            ("cd /usr; cd /etc\n-; pwd", "/usr\n/usr\n"),
            ("HOME=/h; quoted", "it's /h $x\n"),
            ("lines", "one\ntwo\n"),
            ("trailing word", "trailing yes-it-is\n"),
            ("+x; !!", "plus\nbang\n"),
            ("@; * a", "at\nstar a\n"),
        ],
        options: true,
        ..nothing("odd_aliases")
    },
    Case {
        aliases: "kept",
        scripts: &[("if true; then { [[ a ]] && ! false; kept; }; fi", "kept\n")],
        options: true,
        ..nothing("keywords")
    },
    Case {
        options: true,
        ..defines(
            "readonly",
            "fixed",
            &[(
                "fixed; fixed() { echo mine; }; fixed; IFS=,; echo \"$PATH\"",
                "fixed\nmine\n/opt/readonly:/usr/local/bin:/usr/bin:/bin\n",
            )],
        )
    },
    Case {
        options: true,
        ..defines(
            "odd_path",
            "odd",
            &[(
                "echo \"$PATH\"; odd; ls -d /",
                "/opt/it's \"quoted\" $HOME `id`:/usr/local/bin:/usr/bin:/bin:/opt/new\nline:/opt/ü\nodd\n/\n",
            )],
        )
    },
    defines(
        "no_path",
        "lost",
        &[("echo $PATH", "/usr/local/bin:/usr/bin:/bin\n")],
    ),
    Case {
        options: true,
        ..defines(
            "many",
            "*",
            &[(
                "compgen -A function | wc -l; compgen -a | wc -l; many_400 a; m_7",
                "400\n400\n400\n7\n",
            )],
        )
    },
    Case {
        aliases: "ll la l alert",
        scripts: &[(
            "alias ll; echo \"${PS1-none}${HISTSIZE-none}\"",
            "alias ll='ls -alF'\nnonenone\n",
        )],
        options: true,
        ..nothing("debian")
    },
    defines("prompt", "prompted", &[]),
    Case {
        aliases: "open",
        options: true,
        ..defines(
            "secrets",
            "plain",
            &[(
                "echo \"${GITHUB_TOKEN-}${DATABASE_URL-}${SECRET_IN_A_VARIABLE-}\"",
                "\n",
            )],
        )
    },
    defines(
        "secret_path",
        "pathed",
        &[("echo $PATH", "/usr/local/bin:/usr/bin:/bin\n")],
    ),
    Case {
        aliases: "lsr",
        options: true,
        ..defines(
            "shadows",
            "__ab_cd __ab_entered cd lsd",
            &[(
                "lsr; echo hi; cd /; pwd; ls -d /; type -t rm grep cd builtin",
                "/\nhi\n/\n/\nfile\nfile\nfunction\nbuiltin\n",
            )],
        )
    },
    Case {
        aliases: "bef",
        options: true,
        ..defines("syntax_error", "before", &[("bef", "before\n")])
    },
    Case {
        options: true,
        ..defines(
            "traps",
            "trapped",
            &[(
                "trapped; trap; echo \"${PROMPT_COMMAND-}${PS4-}\"",
                "trapped\n+ \n",
            )],
        )
    },
    defines("debug_trap", "trapped", &[]),
    Case {
        options: true,
        ..defines(
            "exported_options",
            "shared",
            &[(
                "shared; echo *; env | grep -e OPTS -e FUNC; bash -c 'echo \"$-\"'",
                "shared\n*\nBASH_FUNC_shared%%=() {  echo shared\nhBc\n",
            )],
        )
    },
    defines("noexec", "early late", &[("early; late", "early\nlate\n")]),
    defines(
        "onecmd",
        "early late",
        &[("early; late; echo $-", "early\nlate\nhBc\n")],
    ),
    Case {
        options: true,
        ..defines(
            "tracing",
            "traced",
            &[("traced; case $- in *x*) echo x;; esac", "traced\nx\n")],
        )
    },
    Case {
        aliases: "gl",
        options: true,
        ..defines(
            "globs",
            "globs",
            &[(
                "gl; echo *; echo {a,b}; set -o | grep -c -e 'posix.*on' -e 'noclobber.*on' -e 'keyword.*on'; shopt nocasematch dotglob extdebug | grep -c on",
                "globs\n*\n{a,b}\n3\n3\n",
            )],
        )
    },
    Case {
        aliases: "hi",
        scripts: &[("hi || echo no", "no\n")],
        ..nothing("no_alias_expansion")
    },
    defines("restricted", "early", &[]),
    defines("closes", "early", &[]),
    skipped("huge", "more than 4 MiB"),
    defines(
        "heredoc",
        "usage",
        &[("usage a", "usage: it's a \"x\" $y\nraw $1 }\nhere a\n")],
    ),
    Case {
        functions: "before hard 12 subshell",
        scripts: &[(
            "x=v; hard x; subshell; 12",
            "first\nSECOND\n0\n1\na\tb'c $x 'v'\nsub\nsub\nnumber\n",
        )],
        // Aliases are expanded.
        options: true,
        ..nothing("unreadable")
    },
    defines("binary", "early late", &[("early", "early\n")]),
    Case {
        options: true,
        ..defines(
            "terminal",
            "first size last",
            &[(
                "first; echo ${OF_TERMINAL-unset} $ANSWER; [ -t 0 ] || echo none",
                "first\nunset []\nnone\n",
            )],
        )
    },
    defines("no_newline", "last", &[("last", "last\n")]),
    // Bash cannot read it either.
    nothing("crlf"),
    defines("bom", "kept \u{feff}bom", &[]),
];

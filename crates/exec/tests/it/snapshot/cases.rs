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

const NOTHING: Case = Case {
    rc: "",
    functions: "",
    aliases: "",
    scripts: &[],
    skipped: None,
    hangs_in: None,
    daemons: 0,
    options: false,
};

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
        rc: "quiet",
        functions: "quiet_one quiet_two",
        aliases: "quiet",
        // Aliases are expanded.
        options: true,
        ..NOTHING
    },
    Case {
        rc: "plain",
        functions: "greet with-dash with.dot",
        aliases: "gs hi ..",
        scripts: &[
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
        options: true,
        ..NOTHING
    },
    Case {
        rc: "empty",
        ..NOTHING
    },
    Case {
        rc: "hangs",
        skipped: Some("takes longer than"),
        hangs_in: Some("bash"),
        ..NOTHING
    },
    Case {
        rc: "sleeps",
        skipped: Some("takes longer than"),
        hangs_in: Some("sleep"),
        ..NOTHING
    },
    Case {
        rc: "stops",
        skipped: Some("takes longer than"),
        hangs_in: Some("bash"),
        ..NOTHING
    },
    Case {
        rc: "exits",
        functions: "early",
        scripts: &[("early", "early\n")],
        ..NOTHING
    },
    Case {
        rc: "kills",
        skipped: Some("(SIGKILL)"),
        ..NOTHING
    },
    Case {
        rc: "execs",
        functions: "early",
        scripts: &[("early && echo early", "early\n")],
        ..NOTHING
    },
    Case {
        rc: "execs_and_stays",
        ..NOTHING
    },
    Case {
        rc: "execs_interactive",
        functions: "stayed",
        aliases: "st",
        scripts: &[("st", "stayed\n")],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "builtin_exec",
        functions: "early",
        scripts: &[("early", "early\n")],
        ..NOTHING
    },
    Case {
        rc: "variables",
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
        ..NOTHING
    },
    Case {
        rc: "limits",
        functions: "limited",
        scripts: &[
            ("limited", "0027\n200\n"),
            ("bash -c 'umask; ulimit -n'", "0027\n200\n"),
        ],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "hook",
        functions: "_hook",
        ..NOTHING
    },
    Case {
        rc: "locks",
        functions: "locked",
        ..NOTHING
    },
    Case {
        rc: "prints",
        functions: "told",
        scripts: &[("told", "told\n")],
        ..NOTHING
    },
    Case {
        rc: "writes_there",
        skipped: Some("reported its definitions"),
        ..NOTHING
    },
    Case {
        rc: "prints_its_end",
        skipped: Some("reported its definitions"),
        ..NOTHING
    },
    Case {
        rc: "asks",
        functions: "asked",
        scripts: &[("asked", "asked\n")],
        ..NOTHING
    },
    Case {
        rc: "daemon",
        // One daemon for each cache that reads the configuration.
        daemons: 2,
        functions: "agent",
        scripts: &[("agent", "agent\n")],
        ..NOTHING
    },
    Case {
        rc: "forks",
        functions: "forked",
        scripts: &[("forked", "forked\n"), ("jobs; echo ${#COPROC[@]}", "0\n")],
        ..NOTHING
    },
    Case {
        rc: "strict",
        functions: "before after",
        scripts: &[
            (
                "before; after; set -o | grep -e errexit -e nounset -e pipefail | wc -l; echo $-",
                "before\nafter\n3\nehuBc\n",
            ),
            ("echo one; false; echo two", "one\n"),
            ("echo one; echo $nothing; echo two", "one\n"),
        ],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "unbound",
        functions: "before after",
        scripts: &[("before; after", "before\nafter\n")],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "extglob",
        functions: "kind",
        scripts: &[
            ("kind 12; kind a.txt; kind b", "number\ntext\nother\n"),
            ("case ab in @(ab|c)) echo yes;; esac", "yes\n"),
        ],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "extglob_off_again",
        functions: "kind",
        // The configuration loads, and works as in the user's own shell.
        scripts: &[
            ("kind a; kind c", "other\nother\n"),
            ("shopt -q extglob || echo off", "off\n"),
        ],
        ..NOTHING
    },
    Case {
        rc: "odd_aliases",
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
        ..NOTHING
    },
    Case {
        rc: "keywords",
        aliases: "kept",
        scripts: &[("if true; then { [[ a ]] && ! false; kept; }; fi", "kept\n")],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "readonly",
        functions: "fixed",
        scripts: &[(
            "fixed; fixed() { echo mine; }; fixed; IFS=,; echo \"$PATH\"",
            "fixed\nmine\n/opt/readonly:/usr/local/bin:/usr/bin:/bin\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "odd_path",
        functions: "odd",
        scripts: &[(
            "echo \"$PATH\"; odd; ls -d /",
            "/opt/it's \"quoted\" $HOME `id`:/usr/local/bin:/usr/bin:/bin:/opt/new\nline:/opt/ü\nodd\n/\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "no_path",
        functions: "lost",
        scripts: &[("echo $PATH", "/usr/local/bin:/usr/bin:/bin\n")],
        ..NOTHING
    },
    Case {
        rc: "many",
        functions: "*",
        scripts: &[(
            "compgen -A function | wc -l; compgen -a | wc -l; many_400 a; m_7",
            "400\n400\n400\n7\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "debian",
        aliases: "ll la l alert",
        scripts: &[(
            "alias ll; echo \"${PS1-none}${HISTSIZE-none}\"",
            "alias ll='ls -alF'\nnonenone\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "prompt",
        functions: "prompted",
        ..NOTHING
    },
    Case {
        rc: "secrets",
        functions: "plain",
        aliases: "open",
        scripts: &[(
            "echo \"${GITHUB_TOKEN-}${DATABASE_URL-}${SECRET_IN_A_VARIABLE-}\"",
            "\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "secret_path",
        functions: "pathed",
        scripts: &[("echo $PATH", "/usr/local/bin:/usr/bin:/bin\n")],
        ..NOTHING
    },
    Case {
        rc: "shadows",
        functions: "__ab_cd __ab_entered cd lsd",
        aliases: "lsr",
        scripts: &[(
            "lsr; echo hi; cd /; pwd; ls -d /; type -t rm grep cd builtin",
            "/\nhi\n/\n/\nfile\nfile\nfunction\nbuiltin\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "syntax_error",
        functions: "before",
        aliases: "bef",
        scripts: &[("bef", "before\n")],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "traps",
        functions: "trapped",
        scripts: &[(
            "trapped; trap; echo \"${PROMPT_COMMAND-}${PS4-}\"",
            "trapped\n+ \n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "debug_trap",
        functions: "trapped",
        ..NOTHING
    },
    Case {
        rc: "exported_options",
        functions: "shared",
        scripts: &[(
            "shared; echo *; env | grep -e OPTS -e FUNC; bash -c 'echo \"$-\"'",
            "shared\n*\nBASH_FUNC_shared%%=() {  echo shared\nhBc\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "noexec",
        functions: "early late",
        scripts: &[("early; late", "early\nlate\n")],
        ..NOTHING
    },
    Case {
        rc: "onecmd",
        functions: "early late",
        scripts: &[("early; late; echo $-", "early\nlate\nhBc\n")],
        ..NOTHING
    },
    Case {
        rc: "tracing",
        functions: "traced",
        scripts: &[("traced; case $- in *x*) echo x;; esac", "traced\nx\n")],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "globs",
        functions: "globs",
        aliases: "gl",
        scripts: &[(
            "gl; echo *; echo {a,b}; set -o | grep -c -e 'posix.*on' -e 'noclobber.*on' -e 'keyword.*on'; shopt nocasematch dotglob extdebug | grep -c on",
            "globs\n*\n{a,b}\n3\n3\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "no_alias_expansion",
        aliases: "hi",
        scripts: &[("hi || echo no", "no\n")],
        ..NOTHING
    },
    Case {
        rc: "restricted",
        functions: "early",
        ..NOTHING
    },
    Case {
        rc: "closes",
        functions: "early",
        ..NOTHING
    },
    Case {
        rc: "huge",
        skipped: Some("more than 4 MiB"),
        ..NOTHING
    },
    Case {
        rc: "heredoc",
        functions: "usage",
        scripts: &[("usage a", "usage: it's a \"x\" $y\nraw $1 }\nhere a\n")],
        ..NOTHING
    },
    Case {
        rc: "unreadable",
        functions: "before hard 12 subshell",
        scripts: &[(
            "x=v; hard x; subshell; 12",
            "first\nSECOND\n0\n1\na\tb'c $x 'v'\nsub\nsub\nnumber\n",
        )],
        // Aliases are expanded.
        options: true,
        ..NOTHING
    },
    Case {
        rc: "binary",
        functions: "early late",
        scripts: &[("early", "early\n")],
        ..NOTHING
    },
    Case {
        rc: "terminal",
        functions: "first size last",
        scripts: &[(
            "first; echo ${OF_TERMINAL-unset} $ANSWER; [ -t 0 ] || echo none",
            "first\nunset []\nnone\n",
        )],
        options: true,
        ..NOTHING
    },
    Case {
        rc: "no_newline",
        functions: "last",
        scripts: &[("last", "last\n")],
        ..NOTHING
    },
    // Bash cannot read it either.
    Case {
        rc: "crlf",
        ..NOTHING
    },
    Case {
        rc: "bom",
        functions: "kept \u{feff}bom",
        ..NOTHING
    },
];

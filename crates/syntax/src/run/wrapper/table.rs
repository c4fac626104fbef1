//! The programs that run their arguments, with the options from their manuals.

/// The words after a wrapper's options and operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Rest {
    /// A command and its arguments.
    Argv,
    /// Words that are joined and passed to a shell.
    Script,
    /// The wrapper has too many options to list: the command begins at the first word that names a
    /// relevant program.
    Search,
    /// No words are a command; commands are only in the text options.
    Nothing,
}

/// How to parse a wrapper's command line.
#[derive(Debug)]
pub(in super::super) struct Wrapper {
    /// The wrapper's names.
    pub(super) names: &'static [&'static str],
    /// Letters of short options that take a value.
    pub(super) short: &'static str,
    /// Long options (without dashes) with a separate value.
    pub(super) long: &'static [&'static str],
    /// Number of operands before the command.
    pub(super) operands: usize,
    /// True if `NAME=value` may precede the command.
    pub(in super::super) assigns: bool,
    /// Options that name the command's directory: letter and long name.
    pub(super) chdir: (&'static str, &'static str),
    /// Short options whose value is a script (long forms in `long_text`).
    pub(super) text: &'static str,
    pub(super) long_text: &'static [&'static str],
    /// Letters with which nothing is run.
    pub(super) quits: &'static str,
    /// The remaining words.
    pub(in super::super) rest: Rest,
}

const PLAIN_WRAPPER: Wrapper = Wrapper {
    names: &[],
    short: "",
    long: &[],
    operands: 0,
    assigns: false,
    chdir: ("", ""),
    text: "",
    long_text: &[],
    quits: "",
    rest: Rest::Argv,
};

/// A program whose command follows its options and this many operands.
const fn row(
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        names,
        short,
        long,
        operands,
        ..PLAIN_WRAPPER
    }
}

/// Programs whose options are too numerous to list.
const fn searched(names: &'static [&'static str]) -> Wrapper {
    Wrapper {
        names,
        text: "c",
        long_text: &["command", "run", "exec", "eval"],
        rest: Rest::Search,
        ..PLAIN_WRAPPER
    }
}

/// Programs that run the text of `-c`.
const fn running_text(names: &'static [&'static str], short: &'static str, rest: Rest) -> Wrapper {
    Wrapper {
        names,
        short,
        text: "c",
        long_text: &["command", "session-command"],
        rest,
        ..PLAIN_WRAPPER
    }
}

pub(super) static WRAPPERS: &[Wrapper] = &[
    Wrapper {
        assigns: true,
        chdir: ("D", "chdir"),
        quits: "le",
        ..row(
            &["sudo", "sudo-rs"],
            "ughpCrtTUDRa",
            &[
                "user", "group", "host", "prompt", "close-from", "role", "type", "chdir", "chroot",
            ],
            0,
        )
    },
    Wrapper {
        assigns: true,
        chdir: ("C", "chdir"),
        text: "S",
        long_text: &["split-string"],
        ..row(&["env", "genv"], "uCa", &["unset", "chdir", "argv0"], 0)
    },
    Wrapper {
        quits: "vV",
        ..row(&["command"], "", &[], 0)
    },
    row(&["doas"], "uCa", &[], 0),
    row(&["exec"], "a", &[], 0),
    row(
        &[
            "builtin", "nohup", "busybox", "toybox", "setsid", "unbuffer", "chronic", "noglob",
            "nocorrect", "-", "fakeroot", "caffeinate", "setpriv",
        ],
        "",
        &[],
        0,
    ),
    row(&["pkexec"], "", &["user"], 0),
    row(&["nice", "gnice"], "n", &["adjustment"], 0),
    row(&["ionice"], "cnpPu", &["class", "classdata"], 0),
    row(&["time", "gtime"], "fo", &["format", "output"], 0),
    row(&["timeout", "gtimeout"], "ks", &["signal", "kill-after"], 1),
    row(
        &["stdbuf", "gstdbuf"],
        "ioe",
        &["input", "output", "error"],
        0,
    ),
    row(
        &["strace", "ltrace"],
        "aAbDeEFIlnoOpPsSuUX",
        &["output", "trace", "user"],
        0,
    ),
    row(&["ssh-agent"], "aEOPt", &[], 0),
    row(&["prlimit"], "op", &["output", "pid"], 0),
    row(&["chroot"], "", &["userspec", "groups"], 1),
    row(&["taskset", "chrt"], "TPD", &[], 1),
    Wrapper {
        text: "c",
        long_text: &["command"],
        ..row(
            &["flock"],
            "wE",
            &["timeout", "wait", "conflict-exit-code"],
            1,
        )
    },
    Wrapper {
        rest: Rest::Script,
        ..row(&["watch", "viddy"], "nqs", &["interval", "equexit"], 0)
    },
    Wrapper {
        rest: Rest::Script,
        ..row(&["ssh"], "bcDEeFIiJLlmOopQRSWwB", &[], 1)
    },
    Wrapper {
        operands: 1,
        ..running_text(&["sg", "newgrp"], "", Rest::Script)
    },
    running_text(&["script"], "OIBTmEo", Rest::Nothing),
    running_text(&["su"], "gGsTw", Rest::Nothing),
    running_text(&["runuser"], "gGsTw", Rest::Search),
    searched(&[
        "unshare", "nsenter", "bwrap", "systemd-run", "systemd-inhibit", "xvfb-run", "valgrind",
        "perf", "gdb", "hyperfine", "concurrently", "entr", "watchexec", "nodemon", "direnv",
        "mise", "asdf", "rbenv", "pyenv", "conda", "mamba", "poetry", "pipenv", "uv", "rye",
        "hatch", "pdm", "bundle", "nvm", "op", "aws-vault", "sops", "doppler", "dotenv",
        "nix-shell", "nix", "npx", "bunx", "pnpm", "yarn", "npm", "tmux", "screen", "expect", "at",
        "batch", "just", "ip", "gosu", "su-exec", "tini", "dumb-init", "firejail", "faketime",
        "sshpass", "autossh", "mosh", "start-stop-daemon", "proxychains", "proxychains4",
        "torsocks",
    ]),
];

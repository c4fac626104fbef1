//! The programs that run their arguments, with the options from their manuals.

/// What follows a wrapper's options and operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Rest {
    /// A command and its arguments.
    Argv,
    /// Words that are joined and passed to a shell.
    Script,
    /// Its options are too numerous to list: the command begins at the first word that names a relevant program.
    Search,
    /// Nothing; commands are only in the text options.
    Nothing,
}

/// How to parse a wrapper's command line.
#[derive(Debug)]
pub(in super::super) struct Wrapper {
    /// Its names.
    pub(super) names: &'static [&'static str],
    /// Letters of short options that take a value.
    pub(super) short: &'static str,
    /// Long options (without dashes) with a separate value.
    pub(super) long: &'static [&'static str],
    /// Number of operands before the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub(in super::super) assigns: bool,
    /// Options that name the command's directory: letter and long name.
    pub(super) chdir: (&'static str, &'static str),
    /// Short options whose value is a script (long forms in `long_text`).
    pub(super) text: &'static str,
    pub(super) long_text: &'static [&'static str],
    /// Letters with which nothing is run.
    pub(super) quits: &'static str,
    /// If not empty, the first operand must be one of these; it is not counted in `operands`.
    pub(super) subcommands: &'static [&'static str],
    /// What follows.
    pub(in super::super) rest: Rest,
}

const PLAIN: Wrapper = Wrapper {
    names: &[],
    short: "",
    long: &[],
    operands: 0,
    assigns: false,
    chdir: ("", ""),
    text: "",
    long_text: &[],
    quits: "",
    subcommands: &[],
    rest: Rest::Argv,
};

pub(super) static WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo", "sudo-rs"],
        short: "ughpCrtTUDRa",
        long: &[
            "user", "group", "host", "prompt", "close-from", "role", "type", "command-timeout",
            "other-user", "chdir", "chroot",
        ],
        assigns: true,
        chdir: ("D", "chdir"),
        quits: "le",
        ..PLAIN
    },
    Wrapper {
        names: &["doas"],
        short: "uCa",
        ..PLAIN
    },
    Wrapper {
        names: &["env", "genv"],
        short: "uCa",
        long: &[
            "unset", "chdir", "argv0", "block-signal", "default-signal", "ignore-signal",
        ],
        assigns: true,
        chdir: ("C", "chdir"),
        text: "S",
        long_text: &["split-string"],
        ..PLAIN
    },
    // zsh's `repeat 3 command`, and its builtins and functions that run their arguments.
    Wrapper {
        names: &["repeat", "sched"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["zargs", "zpty"],
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &["command"],
        quits: "vV",
        ..PLAIN
    },
    Wrapper {
        names: &["exec"],
        short: "a",
        ..PLAIN
    },
    Wrapper {
        names: &[
            "builtin", "nohup", "busybox", "toybox", "setsid", "unbuffer", "eatmydata", "nocache",
            "chronic", "noglob", "nocorrect", "-", "torsocks", "torify", "fakeroot", "caffeinate",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["pkexec"],
        long: &["user"],
        ..PLAIN
    },
    Wrapper {
        names: &[
            "catchsegv", "linux32", "linux64", "i386", "x86_64", "proxychains", "proxychains4",
            "tsocks", "rlwrap", "winpty", "tini", "dumb-init", "dbus-run-session", "vblank_mode",
            "optirun", "primusrun", "ifne", "errno", "pipetty", "trickle", "firejail", "setarch",
            "arch", "uname26", "gosu", "su-exec",
        ],
        short: "sldrh",
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &["nice", "gnice"],
        short: "n",
        long: &["adjustment"],
        ..PLAIN
    },
    Wrapper {
        names: &["ionice"],
        short: "cnpPu",
        long: &["class", "classdata", "pid", "pgid", "uid"],
        ..PLAIN
    },
    Wrapper {
        names: &["time", "gtime"],
        short: "fo",
        long: &["format", "output"],
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        short: "ks",
        long: &["signal", "kill-after"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["stdbuf", "gstdbuf"],
        short: "ioe",
        long: &["input", "output", "error"],
        ..PLAIN
    },
    Wrapper {
        names: &["chroot"],
        long: &["userspec", "groups"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["taskset"],
        operands: 1,
        quits: "p",
        ..PLAIN
    },
    Wrapper {
        names: &["chrt"],
        short: "TPD",
        long: &["sched-runtime", "sched-period", "sched-deadline"],
        operands: 1,
        quits: "pm",
        ..PLAIN
    },
    Wrapper {
        names: &["flock"],
        short: "wE",
        long: &["timeout", "wait", "conflict-exit-code"],
        operands: 1,
        text: "c",
        long_text: &["command"],
        ..PLAIN
    },
    Wrapper {
        names: &["watch", "viddy", "hwatch"],
        short: "nqs",
        long: &["interval", "equexit"],
        rest: Rest::Script,
        ..PLAIN
    },
    Wrapper {
        names: &["strace", "ltrace"],
        short: "aAbDeEFIlnoOpPsSuUX",
        long: &[
            "output", "trace", "expr", "env", "user", "string-limit", "attach",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["script"],
        short: "OIBTmEo",
        long: &[
            "log-out", "log-in", "log-io", "log-timing", "logging-format", "echo", "output-limit",
        ],
        text: "c",
        long_text: &["command"],
        rest: Rest::Nothing,
        ..PLAIN
    },
    Wrapper {
        names: &["su"],
        short: "gGsTw",
        long: &["group", "supp-group", "shell", "whitelist-environment"],
        text: "c",
        long_text: &["command", "session-command"],
        rest: Rest::Nothing,
        ..PLAIN
    },
    Wrapper {
        names: &["runuser"],
        short: "gGsTw",
        long: &["group", "supp-group", "shell", "whitelist-environment"],
        text: "c",
        long_text: &["command", "session-command"],
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &["sg", "newgrp"],
        operands: 1,
        text: "c",
        rest: Rest::Script,
        ..PLAIN
    },
    Wrapper {
        names: &["ssh-agent"],
        short: "aEOPt",
        ..PLAIN
    },
    Wrapper {
        names: &["ssh"],
        short: "bcDEeFIiJLlmOopQRSWwB",
        operands: 1,
        rest: Rest::Script,
        ..PLAIN
    },
    Wrapper {
        names: &["setpriv"],
        long: &[
            "reuid", "regid", "groups", "ruid", "euid", "rgid", "egid", "securebits", "pdeathsig",
            "selinux-label", "apparmor-profile", "inh-caps", "bounding-set", "ambient-caps",
            "ptracer", "landlock-access", "landlock-rule", "seccomp-filter",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["prlimit"],
        long: &["output", "pid"],
        short: "op",
        ..PLAIN
    },
    Wrapper {
        names: &["numactl"],
        short: "NCmipPl",
        long: &[
            "cpunodebind", "physcpubind", "membind", "interleave", "preferred",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["choom"],
        short: "n",
        long: &["adjust"],
        quits: "p",
        ..PLAIN
    },
    Wrapper {
        names: &["runcon"],
        short: "trul",
        long: &["type", "role", "user", "range"],
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &[
            "chpst", "softlimit", "setuidgid", "envuidgid", "envdir", "setlock", "pgrphack",
        ],
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &[
            "unshare", "nsenter", "bwrap", "proot", "fakechroot", "systemd-run", "systemd-inhibit",
            "xvfb-run", "valgrind", "perf", "gdb", "lldb", "rr", "cgexec", "cset", "machinectl",
            "capsh", "minijail0", "nsjail", "hyperfine", "concurrently", "entr", "watchexec",
            "nodemon", "reflex", "direnv", "mise", "asdf", "rbenv", "pyenv", "conda", "mamba",
            "micromamba", "poetry", "pipenv", "uv", "rye", "hatch", "pdm", "bundle", "volta",
            "fnm", "nvm", "op", "aws-vault", "chamber", "sops", "doppler", "dotenv", "nix-shell",
            "nix", "npx", "bunx", "pnpm", "yarn", "npm", "uclampset", "ld.so",
            "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1", "daemonize",
            "start-stop-daemon", "s6-setsid", "execlineb", "coreutils", "tmux", "screen", "dtach",
            "abduco", "expect", "cpulimit", "moreutils", "sem", "pexec", "xdotool", "gtk-launch",
            "xterm", "konsole", "gnome-terminal", "alacritty", "kitty", "foot", "at", "batch",
            "cargo-watch", "just", "crun", "ip", "s6-setuidgid", "run0", "please", "catatonit",
            "faketime", "wsl", "sshpass", "autossh", "mosh", "pdsh", "ansible", "rust-parallel",
        ],
        text: "c",
        long_text: &["command", "run", "exec", "eval"],
        rest: Rest::Search,
        ..PLAIN
    },
];

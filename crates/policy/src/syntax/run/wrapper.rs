//! Programs whose job is to run their arguments, as data: which options take a value, how many
//! operands stand in front of the command, which options hold a script.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Field;

/// What follows the options and operands of a wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// A command and its arguments.
    Argv,
    /// Words that are joined and given to a shell.
    Script,
    /// The options are too many to know: the command is the first word that names a program in
    /// question, wherever it stands.
    Search,
    /// Only what the text options hold.
    Nothing,
}

/// How a wrapper's command line is read.
#[derive(Debug)]
pub(super) struct Wrapper {
    /// Its names.
    names: &'static [&'static str],
    /// Letters of short options that take a value.
    short: &'static str,
    /// Long options (without dashes) that take a value as the next word.
    long: &'static [&'static str],
    /// Operands in front of the command.
    operands: usize,
    /// Whether `NAME=value` may stand in front of the command.
    pub(super) assigns: bool,
    /// Options that name the directory the command runs in: the letter, and the long name.
    chdir: (&'static str, &'static str),
    /// Short options that hold a script in their value (their long forms in `long_text`).
    text: &'static str,
    long_text: &'static [&'static str],
    /// Letters with which nothing is run.
    quits: &'static str,
    /// The first operand must be one of these, if any are given; it is not counted in `operands`.
    subcommands: &'static [&'static str],
    /// What follows.
    pub(super) rest: Rest,
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

static WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo", "sudo-rs"],
        short: "ughpCrtTUDRa",
        long: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "chdir",
            "chroot",
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
            "unset",
            "chdir",
            "argv0",
            "block-signal",
            "default-signal",
            "ignore-signal",
        ],
        assigns: true,
        chdir: ("C", "chdir"),
        text: "S",
        long_text: &["split-string"],
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
            "builtin",
            "nohup",
            "busybox",
            "toybox",
            "catchsegv",
            "linux32",
            "linux64",
            "i386",
            "x86_64",
            "unbuffer",
            "setsid",
            "pkexec",
            "torsocks",
            "torify",
            "proxychains",
            "proxychains4",
            "tsocks",
            "rlwrap",
            "winpty",
            "tini",
            "dumb-init",
            "dbus-run-session",
            "vblank_mode",
            "optirun",
            "primusrun",
            "fakeroot",
            "chronic",
            "ifne",
            "errno",
            "pipetty",
            "eatmydata",
            "nocache",
            "trickle",
            "firejail",
            "caffeinate",
            "noglob",
            "nocorrect",
            "setarch",
            "arch",
            "uname26",
            "gosu",
            "su-exec",
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
            "output",
            "trace",
            "expr",
            "env",
            "user",
            "string-limit",
            "attach",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &["script"],
        short: "OIBTmEo",
        long: &[
            "log-out",
            "log-in",
            "log-io",
            "log-timing",
            "logging-format",
            "echo",
            "output-limit",
        ],
        text: "c",
        long_text: &["command"],
        rest: Rest::Nothing,
        ..PLAIN
    },
    Wrapper {
        names: &["su", "runuser"],
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
            "reuid",
            "regid",
            "groups",
            "ruid",
            "euid",
            "rgid",
            "egid",
            "securebits",
            "pdeathsig",
            "selinux-label",
            "apparmor-profile",
            "inh-caps",
            "bounding-set",
            "ambient-caps",
            "ptracer",
            "landlock-access",
            "landlock-rule",
            "seccomp-filter",
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
            "cpunodebind",
            "physcpubind",
            "membind",
            "interleave",
            "preferred",
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
            "chpst",
            "softlimit",
            "setuidgid",
            "envuidgid",
            "envdir",
            "setlock",
            "pgrphack",
        ],
        rest: Rest::Search,
        ..PLAIN
    },
    Wrapper {
        names: &[
            "unshare",
            "nsenter",
            "bwrap",
            "proot",
            "fakechroot",
            "systemd-run",
            "systemd-inhibit",
            "xvfb-run",
            "valgrind",
            "perf",
            "gdb",
            "lldb",
            "rr",
            "cgexec",
            "cset",
            "machinectl",
            "capsh",
            "minijail0",
            "nsjail",
            "hyperfine",
            "entr",
            "watchexec",
            "nodemon",
            "reflex",
            "direnv",
            "mise",
            "asdf",
            "rbenv",
            "pyenv",
            "conda",
            "mamba",
            "micromamba",
            "poetry",
            "pipenv",
            "uv",
            "rye",
            "hatch",
            "pdm",
            "bundle",
            "volta",
            "fnm",
            "nvm",
            "op",
            "aws-vault",
            "chamber",
            "sops",
            "doppler",
            "dotenv",
            "nix-shell",
            "nix",
            "npx",
            "bunx",
            "pnpm",
            "yarn",
            "npm",
            "uclampset",
            "ld.so",
            "ld-linux-x86-64.so.2",
            "ld-linux.so.2",
            "ld-linux-aarch64.so.1",
            "daemonize",
            "start-stop-daemon",
            "s6-setsid",
            "execlineb",
            "coreutils",
            "tmux",
            "screen",
            "dtach",
            "abduco",
            "expect",
            "cpulimit",
            "moreutils",
            "sem",
            "pexec",
            "xdotool",
            "gtk-launch",
            "xterm",
            "konsole",
            "gnome-terminal",
            "alacritty",
            "kitty",
            "foot",
            "at",
            "batch",
            "cargo-watch",
            "just",
            "crun",
        ],
        text: "c",
        long_text: &["command", "run", "exec", "eval"],
        rest: Rest::Search,
        ..PLAIN
    },
];

/// The wrappers by name.
static BY_NAME: LazyLock<HashMap<&'static str, &'static Wrapper>> = LazyLock::new(|| {
    WRAPPERS
        .iter()
        .flat_map(|wrapper| wrapper.names.iter().map(move |name| (*name, wrapper)))
        .collect()
});

/// The entry for a program.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    BY_NAME.get(name).copied()
}

/// A wrapper's command line taken apart.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Where the command begins, if one follows.
    pub(super) command: Option<usize>,
    /// Words that hold scripts, and how much of each belongs to the option in front.
    pub(super) scripts: Vec<(usize, usize)>,
    /// The word that names a directory to change to, and how much of it belongs to the option in front.
    pub(super) directory: Option<(usize, usize)>,
}

impl Wrapper {
    /// Takes a command line apart.
    pub(super) fn take(&self, words: &[Field]) -> Taken {
        let mut taken = Taken::default();
        let mut operands = self.operands + usize::from(!self.subcommands.is_empty());
        let mut at = 1;
        let mut options = true;
        while let Some(field) = words.get(at) {
            let text = field.value.prefix();
            if options && text == "--" {
                options = false;
            } else if options && text.starts_with("--") {
                let (name, value) = match text[2..].split_once('=') {
                    Some((name, _)) => (name, Some(name.len() + 3)),
                    None => (&text[2..], None),
                };
                if abbreviates(name, self.long_text) {
                    if let Some(skip) = value {
                        taken.scripts.push((at, skip));
                    } else {
                        at += 1;
                        taken.scripts.push((at, 0));
                    }
                } else if abbreviates(name, self.long) {
                    at += usize::from(value.is_none());
                    if name.len() > 1 && self.chdir.1.starts_with(name) {
                        taken.directory = Some((at, value.unwrap_or(0)));
                    }
                }
            } else if options && text.len() > 1 && text.starts_with('-') {
                for (index, letter) in text.char_indices().skip(1) {
                    let last =
                        index + letter.len_utf8() == text.len() && field.value.literal().is_some();
                    if self.quits.contains(letter) {
                        return taken;
                    }
                    if self.text.contains(letter) {
                        if last {
                            at += 1;
                            taken.scripts.push((at, 0));
                        } else {
                            taken.scripts.push((at, index + letter.len_utf8()));
                        }
                        break;
                    }
                    if self.short.contains(letter) {
                        at += usize::from(last);
                        if self.chdir.0.contains(letter) {
                            let skip = if last { 0 } else { index + letter.len_utf8() };
                            taken.directory = Some((at, skip));
                        }
                        break;
                    }
                }
            } else if options && text.is_empty() && field.value.may_split() {
                // `$OPTIONS`: whatever it holds, the command comes later.
            } else if self.assigns && is_assignment(text) {
                options = false;
            } else if operands > 0 {
                operands -= 1;
            } else {
                taken.command = Some(at);
                return taken;
            }
            at += 1;
        }
        taken
    }
}

/// Whether `name` is one of the options or short for one (GNU takes unambiguous beginnings).
fn abbreviates(name: &str, options: &[&str]) -> bool {
    options.contains(&name)
        || (name.len() > 1 && options.iter().any(|option| option.starts_with(name)))
}

/// `NAME=…`
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

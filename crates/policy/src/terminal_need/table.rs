//! The programs that need a terminal, as data.

/// The way a program uses the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalUse {
    /// The program draws on the screen and reads keys, unless its output is redirected.
    Screen,
    /// The program reads lines from its input, unless the input is redirected.
    Lines,
    /// The program reads lines, and is often in a loop or a function with redirected input. Not
    /// counted if any command of the script has redirected input.
    Answer,
    /// The program is a filter that reads lines, and is often in a function at the end of a pipe.
    /// Not counted if any command of the script has redirected input or is in `>( … )`.
    Text,
    /// The program opens the terminal itself, even if input and output are redirected.
    Terminal,
}

/// A form in which programs need a terminal. All conditions have to be met.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProgramForm {
    pub(super) names: &'static [&'static str],
    /// The first operand, or git's subcommand, is one of these words; empty for any.
    pub(super) verbs: &'static [&'static str],
    /// One of these options must be present; empty for any.
    pub(super) with: &'static [&'static str],
    /// These options must be absent.
    pub(super) without: &'static [&'static str],
    /// Letters of options whose value is the next word.
    pub(super) valued: &'static str,
    /// The maximum number of operands, including the verb. For git, the verb is not counted.
    pub(super) operands: usize,
    pub(super) wants: TerminalUse,
}

/// The row of a program that always draws.
const SCREEN_ROW: ProgramForm = ProgramForm {
    names: &[],
    verbs: &[],
    with: &[],
    without: &[],
    valued: "",
    operands: usize::MAX,
    wants: TerminalUse::Screen,
};

/// The row of an interpreter without a script.
const LINES_ROW: ProgramForm = ProgramForm {
    operands: 0,
    wants: TerminalUse::Lines,
    ..SCREEN_ROW
};

/// The row of a program that always asks.
const ASKS_ROW: ProgramForm = ProgramForm {
    wants: TerminalUse::Terminal,
    ..SCREEN_ROW
};

const GIT: &[&str] = &["git"];

pub(super) const ROWS: &[ProgramForm] = &[
    // Editors.
    ProgramForm {
        names: &["vim", "vi", "nvim", "view", "vimdiff", "rvim", "vim.tiny"],
        without: &["-e", "-E", "--headless"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["emacs", "emacsclient"],
        without: &["--batch", "-batch", "--script", "--daemon", "-e", "--eval"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &[
            "nano", "pico", "micro", "joe", "jed", "mg", "ne", "kak", "hx", "helix", "mcedit",
            "vipe", "visudo", "visudo-rs", "vipw", "vigr", "sudoedit", "sudoedit-rs",
        ],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["crontab"],
        with: &["-e"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["systemctl", "kubectl"],
        verbs: &["edit"],
        ..SCREEN_ROW
    },
    // Pagers and browsers.
    ProgramForm {
        names: &["less", "more", "most", "info", "w3m", "elinks", "links"],
        without: &["-dump"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["man"],
        without: &["-k", "-f", "-w", "--where", "--path"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["lynx"],
        without: &["-dump", "-source"],
        ..SCREEN_ROW
    },
    // Monitors.
    ProgramForm {
        names: &["top", "iotop", "atop"],
        without: &["-b", "-n"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &[
            "htop", "btop", "bpytop", "bashtop", "gotop", "glances", "nmon", "nethogs", "bmon",
            "iftop", "nload", "nvtop", "watch", "k9s", "lazydocker", "ctop", "cmatrix", "mtr",
        ],
        without: &["-r", "--report", "-t"],
        ..SCREEN_ROW
    },
    // Files, mail, chats, menus.
    ProgramForm {
        names: &[
            "mc", "ranger", "nnn", "lf", "vifm", "yazi", "ncdu", "tig", "lazygit", "gitui", "mutt",
            "neomutt", "alpine", "irssi", "weechat", "newsboat", "cfdisk", "aptitude", "dialog",
            "whiptail", "nmtui", "alsamixer",
        ],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["fzf", "sk", "gum"],
        without: &["-f", "--filter"],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["make"],
        verbs: &["menuconfig", "nconfig"],
        ..SCREEN_ROW
    },
    // Terminals in the terminal.
    ProgramForm {
        names: &["tmux", "screen"],
        operands: 0,
        without: &["-d", "-D", "-X", "-V", "-ls", "-list"],
        valued: "Lf",
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["tmux"],
        verbs: &["attach", "attach-session", "a", "at", "new", "new-session"],
        without: &["-d"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["script", "asciinema"],
        operands: 1,
        without: &["-c"],
        ..ASKS_ROW
    },
    // git, where it opens an editor or asks.
    ProgramForm {
        names: GIT,
        verbs: &["commit"],
        without: &[
            "-m", "-F", "-C", "--message", "--file", "--reuse-message", "--no-edit", "--fixup",
            "--dry-run", "--porcelain", "--short",
        ],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["rebase"],
        with: &["-i", "--interactive", "--continue", "--edit-todo"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["merge", "cherry-pick", "revert"],
        with: &["-e", "--edit", "--continue"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["revert"],
        without: &[
            "--no-edit", "-n", "--no-commit", "--abort", "--quit", "--skip",
        ],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["tag"],
        with: &["-a", "-s", "--annotate", "--sign"],
        without: &["-m", "-F", "--message", "--file"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["config"],
        with: &["-e", "--edit"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["branch"],
        with: &["--edit-description"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["add"],
        with: &["-e", "--edit"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["difftool", "mergetool"],
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["add", "checkout", "restore", "reset", "stash"],
        with: &["-p", "-i", "--patch", "--interactive"],
        wants: TerminalUse::Lines,
        ..SCREEN_ROW
    },
    ProgramForm {
        names: GIT,
        verbs: &["clean"],
        with: &["-i", "--interactive"],
        wants: TerminalUse::Lines,
        ..SCREEN_ROW
    },
    // Interpreters without a script.
    ProgramForm {
        names: &[
            "python", "python2", "python3", "ipython", "bpython", "pypy", "pypy3",
        ],
        without: &["-c", "-m", "-V"],
        ..LINES_ROW
    },
    ProgramForm {
        names: &["python", "python2", "python3"],
        with: &["-i"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["python", "python2", "python3"],
        verbs: &["pdb", "ipdb", "code", "asyncio", "IPython"],
        with: &["-m"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["node", "bun", "deno"],
        without: &["-e", "-p", "-v", "-c", "--eval", "--print"],
        ..LINES_ROW
    },
    ProgramForm {
        names: &["deno"],
        verbs: &["repl"],
        operands: 1,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["php"],
        with: &["-a", "--interactive"],
        ..LINES_ROW
    },
    ProgramForm {
        names: &[
            "irb", "pry", "ghci", "lua", "luajit", "R", "julia", "scala", "erl", "iex", "ocaml",
            "utop", "sbcl", "clisp", "guile", "racket", "swipl", "jshell", "groovysh", "tclsh",
            "octave", "maxima", "gp", "bc", "dc", "gnuplot", "ftp", "telnet",
        ],
        without: &["-e", "-E", "-f", "-v"],
        ..LINES_ROW
    },
    ProgramForm {
        names: &["bash", "sh", "zsh", "dash", "fish", "ksh", "nu", "pwsh"],
        without: &["-c", "-s"],
        ..LINES_ROW
    },
    ProgramForm {
        names: &["psql"],
        without: &["-c", "-f", "-l", "-V", "--command", "--file", "--list"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["mysql", "mariadb"],
        without: &["-e", "--execute", "-V"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["sqlite3", "duckdb"],
        without: &["-c"],
        operands: 1,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["redis-cli"],
        valued: "hpanu",
        ..LINES_ROW
    },
    ProgramForm {
        names: &["mongosh", "cqlsh"],
        without: &["--eval", "-e", "-f"],
        operands: 1,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["sftp", "lftp"],
        without: &["-b", "-c", "-e"],
        operands: 1,
        valued: "PpiFo",
        ..LINES_ROW
    },
    ProgramForm {
        names: &["gdb", "lldb"],
        without: &["--batch", "-batch", "-b"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    ProgramForm {
        names: &["fdisk", "parted", "gdisk"],
        without: &["-l", "-s", "--script", "--list"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    // `read -p` asks a question. Without a terminal, the shell prints no prompt and reads the end
    // of the input.
    ProgramForm {
        names: &["read"],
        with: &["-p"],
        operands: usize::MAX,
        ..LINES_ROW
    },
    // `read -u` reads from another descriptor.
    ProgramForm {
        names: &["read"],
        without: &["-p", "-u"],
        operands: usize::MAX,
        wants: TerminalUse::Answer,
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["rm", "cp", "mv", "ln"],
        with: &["-i"],
        wants: TerminalUse::Answer,
        ..SCREEN_ROW
    },
    // Filters without a file: a user writes a few lines with `cat > notes`.
    ProgramForm {
        names: &[
            "cat", "tac", "rev", "nl", "sort", "wc", "base64", "md5sum", "sha1sum", "sha256sum",
        ],
        operands: 0,
        wants: TerminalUse::Text,
        ..SCREEN_ROW
    },
    ProgramForm {
        names: &["tee"],
        wants: TerminalUse::Text,
        ..SCREEN_ROW
    },
    // Other machines and containers.
    ProgramForm {
        names: &["ssh"],
        without: &["-N", "-f", "-T", "-W", "-Q", "-G", "-V", "-O"],
        valued: "BbcDEeFIiJLlmOopQRSWw",
        operands: 1,
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["ssh"],
        with: &["-t"],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["mosh"],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["docker", "podman", "kubectl", "nerdctl"],
        verbs: &["run", "exec", "attach", "compose"],
        with: &["-t", "--tty"],
        ..ASKS_ROW
    },
    // Passwords and questions.
    ProgramForm {
        names: &["sudo", "sudo-rs", "doas"],
        without: &[
            "-n", "-S", "-A", "-k", "-K", "-V", "--non-interactive", "--stdin",
        ],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &[
            "su", "su-rs", "passwd", "pkexec", "login", "chsh", "chfn", "adduser", "ssh-copy-id",
        ],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["ssh-keygen"],
        without: &["-N", "-y", "-l", "-R", "-F", "-A"],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["npm", "pnpm", "yarn"],
        verbs: &["init", "login", "create"],
        without: &["-y", "--yes"],
        ..ASKS_ROW
    },
    ProgramForm {
        names: &["gh"],
        verbs: &["auth"],
        operands: 2,
        without: &["--with-token"],
        ..ASKS_ROW
    },
];

//! The programs that need a terminal, as data.

/// The way a program uses the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wants {
    /// The program draws on the screen and reads keys, unless its output is redirected.
    Screen,
    /// The program reads lines from its input, unless that is redirected.
    Lines,
    /// The program reads lines, and is often in a loop or a function that gets its input
    /// redirected. Not counted if anything in the script has redirected input.
    Answer,
    /// The program is a filter that reads lines, and is often in a function at the end of a pipe.
    /// Not counted if anything in the script is piped to.
    Text,
    /// The program opens the terminal itself, even if input and output are redirected.
    Terminal,
}

/// A form in which programs need a terminal. All conditions have to be met.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) names: &'static [&'static str],
    /// The first operand is one of these; of git, the subcommand.
    pub(super) verbs: &'static [&'static str],
    /// One of these options is given.
    pub(super) with: &'static [&'static str],
    /// None of these options is.
    pub(super) without: &'static [&'static str],
    /// Letters of options whose value is the next word.
    pub(super) valued: &'static str,
    /// At most so many operands, a verb among them; not for git.
    pub(super) operands: usize,
    pub(super) wants: Wants,
}

/// A program that draws, in any form.
const SCREEN: Row = Row {
    names: &[],
    verbs: &[],
    with: &[],
    without: &[],
    valued: "",
    operands: usize::MAX,
    wants: Wants::Screen,
};

/// An interpreter without a script.
const LINES: Row = Row {
    operands: 0,
    wants: Wants::Lines,
    ..SCREEN
};

/// A program that asks, in any form.
const ASKS: Row = Row {
    wants: Wants::Terminal,
    ..SCREEN
};

const GIT: &[&str] = &["git"];

pub(super) const ROWS: &[Row] = &[
    // Editors.
    Row {
        names: &["vim", "vi", "nvim", "view", "vimdiff", "rvim", "vim.tiny"],
        without: &["-e", "-E", "--headless"],
        ..SCREEN
    },
    Row {
        names: &["emacs", "emacsclient"],
        without: &["--batch", "-batch", "--script", "--daemon", "-e", "--eval"],
        ..SCREEN
    },
    Row {
        names: &[
            "nano", "pico", "micro", "joe", "jed", "mg", "ne", "kak", "hx", "helix", "mcedit",
            "vipe", "visudo", "vipw", "vigr", "sudoedit",
        ],
        ..SCREEN
    },
    Row {
        names: &["crontab"],
        with: &["-e"],
        ..SCREEN
    },
    Row {
        names: &["systemctl", "kubectl"],
        verbs: &["edit"],
        ..SCREEN
    },
    // Pagers and browsers.
    Row {
        names: &["less", "more", "most", "info", "w3m", "elinks", "links"],
        without: &["-dump"],
        ..SCREEN
    },
    Row {
        names: &["man"],
        without: &["-k", "-f", "-w", "--where", "--path"],
        ..SCREEN
    },
    Row {
        names: &["lynx"],
        without: &["-dump", "-source"],
        ..SCREEN
    },
    // Monitors.
    Row {
        names: &["top", "iotop", "atop"],
        without: &["-b", "-n"],
        ..SCREEN
    },
    Row {
        names: &[
            "htop", "btop", "bpytop", "bashtop", "gotop", "glances", "nmon", "nethogs", "bmon",
            "iftop", "nload", "nvtop", "watch", "k9s", "lazydocker", "ctop", "cmatrix", "mtr",
        ],
        without: &["-r", "--report", "-t"],
        ..SCREEN
    },
    // Files, mail, chats, menus.
    Row {
        names: &[
            "mc", "ranger", "nnn", "lf", "vifm", "yazi", "ncdu", "tig", "lazygit", "gitui", "mutt",
            "neomutt", "alpine", "irssi", "weechat", "newsboat", "cfdisk", "aptitude", "dialog",
            "whiptail", "nmtui", "alsamixer",
        ],
        ..SCREEN
    },
    Row {
        names: &["fzf", "sk", "gum"],
        without: &["-f", "--filter"],
        ..ASKS
    },
    Row {
        names: &["make"],
        verbs: &["menuconfig", "nconfig"],
        ..SCREEN
    },
    // Terminals in the terminal.
    Row {
        names: &["tmux", "screen"],
        operands: 0,
        without: &["-d", "-D", "-X", "-V", "-ls", "-list"],
        valued: "Lf",
        ..SCREEN
    },
    Row {
        names: &["tmux"],
        verbs: &["attach", "attach-session", "a", "at", "new", "new-session"],
        without: &["-d"],
        ..SCREEN
    },
    Row {
        names: &["script", "asciinema"],
        operands: 1,
        without: &["-c"],
        ..ASKS
    },
    // git, where it opens an editor or asks.
    Row {
        names: GIT,
        verbs: &["commit"],
        without: &[
            "-m", "-F", "-C", "--message", "--file", "--reuse-message", "--no-edit", "--fixup",
            "--dry-run", "--porcelain", "--short",
        ],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["rebase"],
        with: &["-i", "--interactive", "--continue", "--edit-todo"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["merge", "cherry-pick", "revert"],
        with: &["-e", "--edit", "--continue"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["revert"],
        without: &[
            "--no-edit", "-n", "--no-commit", "--abort", "--quit", "--skip",
        ],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["tag"],
        with: &["-a", "-s", "--annotate", "--sign"],
        without: &["-m", "-F", "--message", "--file"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["config"],
        with: &["-e", "--edit"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["branch"],
        with: &["--edit-description"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["add"],
        with: &["-e", "--edit"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["difftool", "mergetool"],
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["add", "checkout", "restore", "reset", "stash"],
        with: &["-p", "-i", "--patch", "--interactive"],
        wants: Wants::Lines,
        ..SCREEN
    },
    Row {
        names: GIT,
        verbs: &["clean"],
        with: &["-i", "--interactive"],
        wants: Wants::Lines,
        ..SCREEN
    },
    // Interpreters without a script.
    Row {
        names: &[
            "python", "python2", "python3", "ipython", "bpython", "pypy", "pypy3",
        ],
        without: &["-c", "-m", "-V"],
        ..LINES
    },
    Row {
        names: &["python", "python2", "python3"],
        with: &["-i"],
        operands: usize::MAX,
        ..LINES
    },
    Row {
        names: &["python", "python2", "python3"],
        verbs: &["pdb", "ipdb", "code", "asyncio", "IPython"],
        with: &["-m"],
        operands: usize::MAX,
        ..LINES
    },
    Row {
        names: &["node", "bun", "deno"],
        without: &["-e", "-p", "-v", "-c", "--eval", "--print"],
        ..LINES
    },
    Row {
        names: &["deno"],
        verbs: &["repl"],
        operands: 1,
        ..LINES
    },
    Row {
        names: &["php"],
        with: &["-a", "--interactive"],
        ..LINES
    },
    Row {
        names: &[
            "irb", "pry", "ghci", "lua", "luajit", "R", "julia", "scala", "erl", "iex", "ocaml",
            "utop", "sbcl", "clisp", "guile", "racket", "swipl", "jshell", "groovysh", "tclsh",
            "octave", "maxima", "gp", "bc", "dc", "gnuplot", "ftp", "telnet",
        ],
        without: &["-e", "-E", "-f", "-v"],
        ..LINES
    },
    Row {
        names: &["bash", "sh", "zsh", "dash", "fish", "ksh", "nu", "pwsh"],
        without: &["-c", "-s"],
        ..LINES
    },
    Row {
        names: &["psql"],
        without: &["-c", "-f", "-l", "-V", "--command", "--file", "--list"],
        operands: usize::MAX,
        ..LINES
    },
    Row {
        names: &["mysql", "mariadb"],
        without: &["-e", "--execute", "-V"],
        operands: usize::MAX,
        ..LINES
    },
    Row {
        names: &["sqlite3", "duckdb"],
        without: &["-c"],
        operands: 1,
        ..LINES
    },
    Row {
        names: &["redis-cli"],
        valued: "hpanu",
        ..LINES
    },
    Row {
        names: &["mongosh", "cqlsh"],
        without: &["--eval", "-e", "-f"],
        operands: 1,
        ..LINES
    },
    Row {
        names: &["sftp", "lftp"],
        without: &["-b", "-c", "-e"],
        operands: 1,
        valued: "PpiFo",
        ..LINES
    },
    Row {
        names: &["gdb", "lldb"],
        without: &["--batch", "-batch", "-b"],
        operands: usize::MAX,
        ..LINES
    },
    Row {
        names: &["fdisk", "parted", "gdisk"],
        without: &["-l", "-s", "--script", "--list"],
        operands: usize::MAX,
        ..LINES
    },
    // A shell that asks: without a terminal it shows no question, and reads an end.
    Row {
        names: &["read"],
        with: &["-p"],
        operands: usize::MAX,
        ..LINES
    },
    // Not from another descriptor.
    Row {
        names: &["read"],
        without: &["-p", "-u"],
        operands: usize::MAX,
        wants: Wants::Answer,
        ..SCREEN
    },
    Row {
        names: &["rm", "cp", "mv", "ln"],
        with: &["-i"],
        wants: Wants::Answer,
        ..SCREEN
    },
    // Filters without a file: `cat > notes` is how a few lines are written down.
    Row {
        names: &[
            "cat", "tac", "rev", "nl", "sort", "wc", "base64", "md5sum", "sha1sum", "sha256sum",
        ],
        operands: 0,
        wants: Wants::Text,
        ..SCREEN
    },
    Row {
        names: &["tee"],
        wants: Wants::Text,
        ..SCREEN
    },
    // Other machines and containers.
    Row {
        names: &["ssh"],
        without: &["-N", "-f", "-T", "-W", "-Q", "-G", "-V", "-O"],
        valued: "BbcDEeFIiJLlmOopQRSWw",
        operands: 1,
        ..ASKS
    },
    Row {
        names: &["ssh"],
        with: &["-t"],
        ..ASKS
    },
    Row {
        names: &["mosh"],
        ..ASKS
    },
    Row {
        names: &["docker", "podman", "kubectl", "nerdctl"],
        verbs: &["run", "exec", "attach", "compose"],
        with: &["-t", "--tty"],
        ..ASKS
    },
    // Passwords and questions.
    Row {
        names: &["sudo", "doas"],
        without: &[
            "-n", "-S", "-A", "-k", "-K", "-V", "--non-interactive", "--stdin",
        ],
        ..ASKS
    },
    Row {
        names: &[
            "su", "passwd", "pkexec", "login", "chsh", "chfn", "adduser", "ssh-copy-id",
        ],
        ..ASKS
    },
    Row {
        names: &["ssh-keygen"],
        without: &["-N", "-y", "-l", "-R", "-F", "-A"],
        ..ASKS
    },
    Row {
        names: &["npm", "pnpm", "yarn"],
        verbs: &["init", "login", "create"],
        without: &["-y", "--yes"],
        ..ASKS
    },
    Row {
        names: &["gh"],
        verbs: &["auth"],
        operands: 2,
        without: &["--with-token"],
        ..ASKS
    },
];

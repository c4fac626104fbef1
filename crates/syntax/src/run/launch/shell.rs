//! The command line of a shell.

use super::super::Field;

/// The options of a shell's command line that decide which script the shell runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ShellInvocation {
    /// True with `-c`: the first operand is the script.
    pub command: bool,
    /// True with `-s`: the script comes from stdin, even if operands follow.
    pub stdin: bool,
    /// True with `-n`: the shell only reads the script.
    pub only_reads: bool,
    /// Index of the file that an interactive bash runs first (`--rcfile`, `--init-file`).
    pub start_file: Option<usize>,
    /// Index of the first operand.
    pub operands: usize,
}

impl ShellInvocation {
    /// Parses the words of a command that is a shell, starting with its name.
    pub fn read(words: &[Field]) -> Self {
        let mut out = ShellInvocation {
            operands: 1,
            ..ShellInvocation::default()
        };
        let name = words.first().map_or("", |field| field.value.prefix());
        // `nu -n` ignores its settings.
        let is_nushell = matches!(name.rsplit('/').next(), Some("nu" | "nushell"));
        while let Some(field) = words.get(out.operands) {
            let text = field.value.prefix();
            if text == "--" || text == "-" {
                out.operands += 1;
                break;
            } else if let Some(name) = long_name(text) {
                if matches!(name, "rcfile" | "init-file") {
                    out.operands += 1;
                    out.start_file = Some(out.operands);
                }
                out.command |= name == "command";
            } else if text.len() > 1 && text.starts_with(['-', '+']) {
                out.command |= text.contains('c');
                out.stdin |= text.contains('s');
                if text.contains('n') && !is_nushell {
                    out.only_reads = text.starts_with('-');
                }
                out.operands += usize::from(text.ends_with(['o', 'O']));
            } else if text.is_empty() && field.value.may_split() && out.operands + 1 < words.len() {
                // `$OPTIONS`
            } else {
                break;
            }
            out.operands += 1;
        }
        out
    }
}

/// Long options that bash and Elvish accept with one dash, too.
const LONG_OPTIONS: [&str; 10] = [
    "debugger", "init-file", "login", "noediting", "noprofile", "norc", "posix", "rcfile",
    "restricted", "verbose",
];

fn long_name(text: &str) -> Option<&str> {
    let single = || {
        let name = text.strip_prefix('-');
        name.filter(|name| LONG_OPTIONS.contains(name))
    };
    text.strip_prefix("--").or_else(single)
}

//! Detects from the output of a command without a terminal whether the command needs a terminal, or
//! asks a question.

use agent_bash_render::OutputText;

/// Output of full-screen programs, and of programs that found no terminal, in lower case: the
/// switch to the alternate screen, and messages of the system and of common programs.
const TERMINAL_SIGNS: [&[u8]; 21] = [
    b"\x1b[?1049h",
    b"\x1b[?1047h",
    b"\x1b[?47h",
    // stty, fzf, mc, Python's termios, `bash -i`
    b"inappropriate ioctl for device",
    // A shell, cat, ssh; then gpg, Node, Python
    b"/dev/tty: ",
    b"/dev/tty'",
    // tmux, ssh -t, less; vim; screen; sudo
    b"not a terminal",
    b"not from a terminal",
    b"not to a terminal",
    b"connected to a terminal",
    b"a terminal is required",
    // tty, docker run -it, ncdu, zip -e; docker login
    b"not a tty",
    b"non tty",
    // top, reset, Python's getpass
    b"failed tty get",
    b"terminal attributes: no such device",
    b"can not control echo",
    // Python: input(), and curses (`nocbreak`, too)
    b"eoferror: eof when reading a line",
    b"cbreak() returned err",
    // A breakpoint in a Python script
    b"bdb.bdbquit",
    // Installers
    b"must be run interactively",
    // git that would ask for a name or a password
    b"terminal prompts disabled",
];

/// Maximum length of a question in characters.
const MAX_QUESTION_CHARS: usize = 200;

/// Endings that make an unfinished line a question: offered answers, and the ends of prompts.
const QUESTION_ENDINGS: [&str; 5] = ["[y/n]", "(y/n)", "[yes/no]", "(yes/no)", "[y/n/a]"];
const PROMPT_ENDINGS: [&str; 3] = ["? ", ": ", "> "];

/// Searches output for [`TERMINAL_SIGNS`]. Holds the end of the output so far, because a sign may
/// arrive in two pieces.
#[derive(Debug, Default)]
pub(crate) struct InputDetector {
    tail: Vec<u8>,
    found: bool,
}

/// Returns true if an unfinished line is a question to which the user types an answer: `Overwrite?
/// `, `Continue [y/N]`, `Name: `.
fn is_question(line: &str) -> bool {
    let has_words = line.chars().any(char::is_alphabetic);
    let lower = line.trim_end().to_lowercase();
    let lower = lower.trim_end_matches([':', '?']).trim_end();
    let offers = QUESTION_ENDINGS
        .iter()
        .any(|answers| lower.ends_with(answers));
    // Other characters before the ending, as in `10% => `, expect no answer.
    let is_prompt = PROMPT_ENDINGS.iter().any(|prompt| {
        let before = line
            .strip_suffix(prompt)
            .and_then(|before| before.chars().next_back());
        before.is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '\'' | '"'))
    });
    has_words && (offers || is_prompt || is_debugger_prompt(line))
}

/// Returns true for the prompt of a debugger: `(gdb) `.
fn is_debugger_prompt(line: &str) -> bool {
    let inner = line
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(") "));
    inner.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric()))
}

impl InputDetector {
    /// Examines output. Returns true if the command has shown so far that it needs a terminal.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        if self.found {
            return true;
        }
        self.tail.extend(bytes.iter().map(u8::to_ascii_lowercase));
        let has = |sign: &&[u8]| self.tail.windows(sign.len()).any(|part| part == *sign);
        self.found = TERMINAL_SIGNS.iter().any(has);
        let longest = TERMINAL_SIGNS
            .iter()
            .map(|sign| sign.len())
            .max()
            .unwrap_or(0);
        let old = self.tail.len().saturating_sub(longest);
        self.tail.drain(..old);
        self.found
    }

    /// Returns true if the output ends with a question.
    pub(crate) fn ends_with_question(output: &OutputText) -> bool {
        let last = output.open_line();
        let length = last.chars().count();
        length <= MAX_QUESTION_CHARS && is_question(&last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_render::OutputLimits;

    #[test]
    fn open_question_is_distinguished_from_other_output() {
        for (output, wanted) in [
            ("rm: remove regular empty file 'a'? ", true),
            ("cp: overwrite 'b'? ", true),
            ("one\nContinue? [y/N] ", true),
            ("Continue [Y/n]", true),
            ("Proceed (y/n)? ", true),
            ("Are you sure (yes/no): ", true),
            ("\u{1b}[1mName: \u{1b}[0m", true),
            ("Password for 'u': ", true),
            ("ftp> ", true),
            ("Your choice (1-3): ", true),
            ("10%\rContinue? ", true),
            ("(Pdb) ", true),
            ("(see below) ", false),
            // Answered, or not a question.
            ("Continue? [y/N] y\n", false),
            ("Continue? \n", false),
            ("Total: 3", false),
            ("Is it done?", false),
            ("a: b: c", false),
            ("{\"a\": 1}", false),
            ("<p>", false),
            ("x => ", false),
            ("# ", false),
            ("> ", false),
            ("--- : ", false),
            ("downloading... ", false),
            ("[100%] ", false),
            ("", false),
        ] {
            let output_text = OutputText::of(OutputLimits::CARD, output);
            assert_eq!(
                InputDetector::ends_with_question(&output_text),
                wanted,
                "{output:?}"
            );
        }
        let long = format!("{}: ", "word ".repeat(100));
        let long = OutputText::of(OutputLimits::CARD, &long);
        assert!(!InputDetector::ends_with_question(&long));
    }

    #[test]
    fn sign_is_found_in_pieces_and_other_output_is_ignored() {
        for (output, wanted) in [
            ("a\x1b[?1049hb", true),
            ("bash: /dev/tty: No such device or address\n", true),
            (
                "stty: 'standard input': Inappropriate ioctl for device",
                true,
            ),
            // The messages of these programs without a terminal.
            ("inappropriate ioctl for device", true),
            ("top: failed tty get", true),
            ("Must be connected to a terminal.\r\n", true),
            ("the input device is not a TTY", true),
            (
                "Error: Cannot perform an interactive login from a non TTY device",
                true,
            ),
            (
                "gpg: cannot open '/dev/tty': No such device or address",
                true,
            ),
            (
                "Error: ENXIO: no such device or address, open '/dev/tty'",
                true,
            ),
            ("Vim: Warning: Input is not from a terminal", true),
            (
                "reset: terminal attributes: No such device or address",
                true,
            ),
            (
                "GetPassWarning: Can not control echo on the terminal.",
                true,
            ),
            ("x? Traceback …\nEOFError: EOF when reading a line\n", true),
            ("_curses.error: cbreak() returned ERR", true),
            ("_curses.error: nocbreak() returned ERR", true),
            ("Error: this installer must be run interactively.", true),
            ("\x1b[?25h\x1b[31mplain", false),
            ("a tty, a terminal, /dev/ttyS0, /dev/tty1: busy", false),
            ("/dev/tty0 is there", false),
            ("", false),
        ] {
            assert_eq!(
                InputDetector::default().push(output.as_bytes()),
                wanted,
                "{output:?}"
            );
            let mut detector = InputDetector::default();
            for byte in output.as_bytes() {
                detector.push(&[*byte]);
            }
            assert_eq!(detector.push(b""), wanted, "{output:?} byte by byte");
        }
    }
}

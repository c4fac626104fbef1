//! Notices, by what a command without a terminal prints, that it asks for one, or that it asks something.

use agent_bash_render::OutputText;

/// What a program prints that draws, or that looked for a terminal and found none: the switch to the alternate screen, and
/// the words of the system and of common programs for it, in small letters. Each is what at least one of them says.
const SIGNS: [&[u8]; 21] = [
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

/// How much of an open line is looked at.
const LONGEST_QUESTION: usize = 200;

/// What an open line ends with that is a question: words that are answers, and what a prompt ends with.
const ANSWERS: [&str; 5] = ["[y/n]", "(y/n)", "[yes/no]", "(yes/no)", "[y/n/a]"];
const PROMPTS: [&str; 3] = ["? ", ": ", "> "];

/// What was printed last, as a sign may come in two pieces.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    last: Vec<u8>,
    found: bool,
}

/// Whether a line that was left open reads as a question to which an answer is typed: `Overwrite? `, `Continue [y/N]`,
/// `Name: `. Before the answer there is nothing but a line of words.
fn is_question(open: &str) -> bool {
    let has_words = open.chars().any(char::is_alphabetic);
    let small = open.trim_end().to_lowercase();
    let small = small.trim_end_matches([':', '?']).trim_end();
    let offers = ANSWERS.iter().any(|answers| small.ends_with(answers));
    // Of a number or a part of a sentence, as in `1: ` or `10% => `, no answer is expected.
    let is_prompt = PROMPTS.iter().any(|prompt| {
        let before = open
            .strip_suffix(prompt)
            .and_then(|it| it.chars().next_back());
        before.is_some_and(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '\'' | '"'))
    });
    has_words && (offers || is_prompt || is_debuggers(open))
}

/// Whether a debugger asks what to do: `(gdb) `.
fn is_debuggers(open: &str) -> bool {
    let inner = open
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(") "));
    inner.is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric()))
}

impl Asks {
    /// Takes output; returns whether it has asked for a terminal so far.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        if self.found {
            return true;
        }
        self.last.extend(bytes.iter().map(u8::to_ascii_lowercase));
        let has = |sign: &&[u8]| self.last.windows(sign.len()).any(|part| part == *sign);
        self.found = SIGNS.iter().any(has);
        let longest = SIGNS.iter().map(|sign| sign.len()).max().unwrap_or(0);
        let old = self.last.len().saturating_sub(longest);
        self.last.drain(..old);
        self.found
    }

    /// Whether what was printed last is a question, and nothing came behind it.
    pub(crate) fn is_left_asking(output: &OutputText) -> bool {
        let last = output.open_line();
        let length = last.chars().count();
        length <= LONGEST_QUESTION && is_question(&last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_bash_render::OutputLimits;

    #[test]
    fn an_open_question_is_told_from_other_output() {
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
            // Answered, or no question.
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
            assert_eq!(Asks::is_left_asking(&output_text), wanted, "{output:?}");
        }
        let long = format!("{}: ", "word ".repeat(100));
        let long = OutputText::of(OutputLimits::CARD, &long);
        assert!(!Asks::is_left_asking(&long));
    }

    #[test]
    fn a_sign_is_found_in_pieces_and_nothing_else_is() {
        for (output, wanted) in [
            ("a\x1b[?1049hb", true),
            ("bash: /dev/tty: No such device or address\n", true),
            (
                "stty: 'standard input': Inappropriate ioctl for device",
                true,
            ),
            // As these programs say it where there is no terminal.
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
                Asks::default().push(output.as_bytes()),
                wanted,
                "{output:?}"
            );
            let mut asks = Asks::default();
            for byte in output.as_bytes() {
                asks.push(&[*byte]);
            }
            assert_eq!(asks.push(b""), wanted, "{output:?} byte by byte");
        }
    }
}

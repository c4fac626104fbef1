//! Notices, by what a command without a terminal prints, that it asks for one.

/// What a program prints that draws, or that looked for a terminal and found none: the switch to the alternate screen, and
/// the words of the system and of common programs for it, in small letters. Each is what at least one of them says.
const SIGNS: [&[u8]; 16] = [
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
];

/// What was printed last, as a sign may come in two pieces.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    last: Vec<u8>,
    found: bool,
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
}

#[cfg(test)]
mod tests {
    use super::*;

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

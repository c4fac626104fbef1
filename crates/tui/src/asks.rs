//! Notices, by what a command without a terminal prints, that it asks for one.

/// What a program prints that draws, or that looked for a terminal and found none: the switch to the alternate screen, and
/// the words of the system and of common programs for it.
const SIGNS: [&[u8]; 9] = [
    b"\x1b[?1049h",
    b"\x1b[?1047h",
    b"\x1b[?47h",
    b"Inappropriate ioctl for device",
    b"/dev/tty: ",
    b"not a terminal",
    b"not to a terminal",
    b"not a tty",
    b"a terminal is required",
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
        self.last.extend_from_slice(bytes);
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
            ("\x1b[?25h\x1b[31mplain", false),
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

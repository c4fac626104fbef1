//! The character sets of a terminal. The emulator knows only ASCII. In a locale without UTF-8,
//! programs draw boxes with DEC Special Graphics, which becomes Unicode here.

/// DEC Special Graphics, from the byte [`FIRST_GRAPHIC`] on.
const GRAPHICS: &str = " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

/// The byte of the first character in [`GRAPHICS`].
const FIRST_GRAPHIC: u8 = b'_';

/// The final byte that designates DEC Special Graphics.
const GRAPHICS_SET: u8 = b'0';

/// The designated sets G0 and G1, and which of them is in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CharacterSets {
    /// True if the sets G0 and G1 are graphics.
    is_graphics: [bool; 2],
    /// True if G1 is in use.
    is_shifted: bool,
}

impl CharacterSets {
    /// Applies `ESC ( final` (G0) or `ESC ) final` (G1).
    pub(crate) fn designate(&mut self, intermediate: u8, last: u8) {
        let is_graphics = last == GRAPHICS_SET;
        match intermediate {
            b'(' => self.is_graphics[0] = is_graphics,
            b')' => self.is_graphics[1] = is_graphics,
            _ => {}
        }
    }

    /// Applies the control characters SO (0x0e) and SI (0x0f).
    pub(crate) fn control(&mut self, byte: u8) {
        match byte {
            0x0e => self.is_shifted = true,
            0x0f => self.is_shifted = false,
            _ => {}
        }
    }

    /// Returns the graphic character of a byte; `None` if the byte is plain text.
    pub(crate) fn graphic(self, byte: u8) -> Option<char> {
        if !self.is_graphics[usize::from(self.is_shifted)] {
            return None;
        }
        let number = byte.checked_sub(FIRST_GRAPHIC)?;
        GRAPHICS.chars().nth(number.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphic_maps_only_bytes_of_the_graphics_set_in_use() {
        let mut sets = CharacterSets::default();
        assert_eq!(sets.graphic(b'q'), None);
        sets.designate(b')', b'0');
        assert_eq!(sets.graphic(b'q'), None);
        sets.control(0x0e);
        for (byte, character) in [
            (b'_', Some(' ')),
            (b'`', Some('◆')),
            (b'j', Some('┘')),
            (b'q', Some('─')),
            (b'x', Some('│')),
            (b'~', Some('·')),
            (b'A', None),
            (0x7f, None),
            (0xc3, None),
        ] {
            assert_eq!(sets.graphic(byte), character, "{byte:#x}");
        }
        sets.control(0x0f);
        assert_eq!(sets.graphic(b'q'), None);
        sets.designate(b'(', b'0');
        assert_eq!(sets.graphic(b'q'), Some('─'));
        sets.designate(b'(', b'B');
        assert_eq!(sets.graphic(b'q'), None);
    }
}

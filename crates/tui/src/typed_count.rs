//! A number that is typed before a key, in the pager and in a diff: `50G` goes to line 50, `5j`
//! five lines on.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The digits typed so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TypedCount(Option<u64>);

impl TypedCount {
    /// Adds a digit to the number. Returns true if the key is a digit of the number: a zero does
    /// not begin one.
    pub(crate) fn push_digit(&mut self, key: KeyEvent) -> bool {
        let digit = match (key.code, key.modifiers) {
            (KeyCode::Char(c), KeyModifiers::NONE) => c.to_digit(10).map(u64::from),
            _ => None,
        };
        match (self.0, digit) {
            (None, Some(0)) | (_, None) => false,
            (before, Some(digit)) => {
                let before = before.unwrap_or(0).saturating_mul(10);
                self.0 = Some(before.saturating_add(digit));
                true
            }
        }
    }

    /// Returns the number and clears it: it counts for one key.
    pub(crate) fn take(&mut self) -> Option<u64> {
        self.0.take()
    }

    /// The number as it is shown while it is typed.
    pub(crate) fn typed(self) -> Option<u64> {
        self.0
    }
}

/// The number of lines; 1 if no number was typed.
pub(crate) fn lines(count: Option<u64>) -> i64 {
    i64::try_from(count.unwrap_or(1)).unwrap_or(i64::MAX)
}

/// Maximum number of files that one key moves by.
const MAX_TIMES: i64 = 1000;

/// The number of files; 1 if no number was typed.
pub(crate) fn times(count: Option<u64>) -> i64 {
    lines(count).min(MAX_TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_number_for_one_key() {
        let mut count = TypedCount::default();
        let mut typed = |keys: &str| {
            let key = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            let taken = keys.chars().map(|c| count.push_digit(key(c))).last();
            (taken, count.typed(), count.take())
        };
        assert_eq!(typed("50"), (Some(true), Some(50), Some(50)));
        assert_eq!(typed("0"), (Some(false), None, None));
        assert_eq!(typed("7G"), (Some(false), Some(7), Some(7)));
        let many = "9".repeat(30);
        assert_eq!(typed(&many).1, Some(u64::MAX));
        assert_eq!((lines(None), lines(Some(u64::MAX))), (1, i64::MAX));
    }
}

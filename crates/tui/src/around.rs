//! Where a search goes on from, and how it goes on beyond the ends, in the pager and in a diff.

use agent_bash_render::PagerPosition;

/// The line from which the next match is sought: beside the last one while that is on the screen, and otherwise from what is,
/// as whoever has moved means what they see.
pub(crate) fn origin(
    found: Option<u64>,
    position: &PagerPosition,
    rows: u16,
    forward: bool,
) -> u64 {
    let first = position.first_line;
    let shown = first..first + u64::from(rows.max(1));
    match (found.filter(|line| shown.contains(line)), forward) {
        (Some(line), true) => line + 1,
        (Some(line), false) => line.saturating_sub(1),
        (None, true) => first,
        (None, false) => shown.end - 1,
    }
}

/// Which of some lines, in order, is the next from a line on, or the last up to it; and whether it is beyond the end there,
/// and was found from the other one.
pub(crate) fn next(lines: &[u64], from: u64, forward: bool) -> Option<(usize, bool)> {
    let last = lines.len().checked_sub(1)?;
    let found = if forward {
        lines.iter().position(|line| *line >= from)
    } else {
        lines.iter().rposition(|line| *line <= from)
    };
    let other = if forward { 0 } else { last };
    Some((found.unwrap_or(other), found.is_none()))
}

/// What is said of a match that was found from the other end.
pub(crate) fn said(is_around: bool, forward: bool) -> Option<String> {
    let said = if forward {
        "from the top"
    } else {
        "from the end"
    };
    is_around.then(|| said.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_goes_on_beside_the_match_unless_that_is_not_shown() {
        let position = PagerPosition {
            first_line: 11,
            column: 0,
        };
        for (found, forward, wanted) in [
            (None, true, 11),
            (None, false, 20),
            (Some(15), true, 16),
            (Some(15), false, 14),
            (Some(20), true, 21),
            (Some(21), true, 11),
            (Some(10), false, 20),
        ] {
            let from = origin(found, &position, 10, forward);
            assert_eq!(from, wanted, "{found:?} {forward}");
        }
        // Nothing is before the first line.
        assert_eq!(origin(Some(1), &PagerPosition::first(), 0, false), 0);
    }

    #[test]
    fn what_is_not_there_is_sought_from_the_other_end() {
        let lines = [3, 5];
        for (from, forward, wanted) in [
            (4, true, (1, false)),
            (6, true, (0, true)),
            (4, false, (0, false)),
            (2, false, (1, true)),
        ] {
            assert_eq!(
                next(&lines, from, forward),
                Some(wanted),
                "{from} {forward}"
            );
        }
        assert_eq!(next(&[], 1, true), None);
    }
}

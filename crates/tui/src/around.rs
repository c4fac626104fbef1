//! Where a search goes on from, and how it goes on beyond the ends, in the pager and in a diff.

use agent_bash_render::{PagerMove, PagerPosition};

/// The line from which the next match is sought: beside the last one while that is on the screen, and otherwise from what is,
/// as whoever has moved means what they see.
///
/// Where a line was gone to, that is what is meant, and back from it what is before.
pub(crate) fn origin(
    found: Option<u64>,
    gone_to: Option<u64>,
    position: &PagerPosition,
    rows: u16,
    forward: bool,
) -> u64 {
    match (gone_to, forward) {
        (Some(line), true) => return line,
        (Some(line), false) => return line.saturating_sub(1),
        (None, _) => {}
    }
    let first = position.first_line;
    let shown = first..first + u64::from(rows.max(1));
    match (found.filter(|line| shown.contains(line)), forward) {
        (Some(line), true) => line + 1,
        (Some(line), false) => line.saturating_sub(1),
        (None, true) => first,
        (None, false) => shown.end - 1,
    }
}

/// The line that a new pattern is sought from, for [`origin`]: one that was gone to, or the match of the last one while that is on the
/// screen.
pub(crate) fn anew(
    gone_to: Option<u64>,
    found: Option<u64>,
    position: &PagerPosition,
    rows: u16,
) -> Option<u64> {
    let first = position.first_line;
    let shown = first..first + u64::from(rows.max(1));
    gone_to.or(found.filter(|line| shown.contains(line)))
}

/// The line that a movement goes to, for [`origin`].
pub(crate) fn gone_to(to: PagerMove, total: u64) -> Option<u64> {
    match to {
        PagerMove::First => Some(1),
        PagerMove::Line(line) => Some(line.min(total).max(1)),
        _ => None,
    }
}

/// Which of some lines, in order, is the next from a line on, or the last up to it, and so many further; and whether it is beyond
/// the end there, and was found from the other one.
pub(crate) fn next(lines: &[u64], from: u64, forward: bool, times: u64) -> Option<(usize, bool)> {
    let is_before = |line: &u64| *line < from || !forward && *line == from;
    let before = lines.partition_point(is_before) as u64;
    let (at, is_around) = further(before, lines.len() as u64, forward, times)?;
    Some((usize::try_from(at).ok()?, is_around))
}

/// The same among so many, of which so many are before the line, or up to it.
pub(crate) fn further(before: u64, all: u64, forward: bool, times: u64) -> Option<(u64, bool)> {
    let last = all.checked_sub(1)?;
    let steps = times.saturating_sub(1);
    // From the end that the search goes away from.
    let first = if forward { before } else { all - before };
    let is_around = steps > last.saturating_sub(first) || first > last;
    let at = (first % all + steps % all) % all;
    Some((if forward { at } else { last - at }, is_around))
}

/// What is said of a match that was found from the other end.
pub(crate) fn wrapped_text(is_around: bool, forward: bool) -> Option<String> {
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
            let from = origin(found, None, &position, 10, forward);
            assert_eq!(from, wanted, "{found:?} {forward}");
        }
        // A new pattern is sought from there as well.
        for (gone_to, found, wanted) in [
            (None, None, None),
            (None, Some(15), Some(15)),
            (None, Some(21), None),
            (Some(3), Some(15), Some(3)),
        ] {
            assert_eq!(anew(gone_to, found, &position, 10), wanted);
        }
        // Nothing is before the first line.
        let first = PagerPosition::first();
        assert_eq!(origin(Some(1), None, &first, 0, false), 0);
        // A line that was gone to may be further down.
        for (forward, wanted) in [(true, 15), (false, 14)] {
            assert_eq!(origin(None, Some(15), &position, 10, forward), wanted);
        }
    }

    #[test]
    fn what_is_not_there_is_sought_from_the_other_end() {
        let lines = [3, 5];
        for (from, forward, times, wanted) in [
            (4, true, 1, (1, false)),
            (6, true, 1, (0, true)),
            (4, false, 1, (0, false)),
            (2, false, 1, (1, true)),
            (5, false, 1, (1, false)),
            (3, true, 2, (1, false)),
            (3, true, 3, (0, true)),
            (6, true, 2, (1, true)),
            (5, false, 3, (1, true)),
        ] {
            let next = next(&lines, from, forward, times);
            assert_eq!(next, Some(wanted), "{from} {forward} {times}");
        }
        assert_eq!(next(&[], 1, true, 1), None);
    }
}

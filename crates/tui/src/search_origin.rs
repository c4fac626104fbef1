//! The line at which a search continues, and how it wraps around, in the pager and in a diff.

use agent_bash_render::{PagerMove, PagerPosition};

/// Returns the line from which the next match is searched.
///
/// Directly after a jump to a line, the search starts at that line; a backward search starts at the
/// line before it. Otherwise it starts next to the last match, if that match is on the screen, or
/// else at the edge of the screen.
pub(crate) fn origin(
    found: Option<u64>,
    jump_line: Option<u64>,
    position: &PagerPosition,
    rows: u16,
    forward: bool,
) -> u64 {
    match (jump_line, forward) {
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

/// Returns the line from which a new pattern is searched, for [`origin`]: the line of a jump, or
/// the last match while it is on the screen.
pub(crate) fn pattern_origin(
    jump_line: Option<u64>,
    found: Option<u64>,
    position: &PagerPosition,
    rows: u16,
) -> Option<u64> {
    let first = position.first_line;
    let shown = first..first + u64::from(rows.max(1));
    jump_line.or(found.filter(|line| shown.contains(line)))
}

/// The line that a movement jumps to, for [`origin`].
pub(crate) fn jump_line(to: PagerMove, total: u64) -> Option<u64> {
    match to {
        PagerMove::First => Some(1),
        PagerMove::Line(line) => Some(line.min(total).max(1)),
        _ => None,
    }
}

/// Finds the `times`-th of the sorted `lines` at or after the line `from`; a backward search, at or
/// before that line. Returns its index, and true if the search wrapped around.
pub(crate) fn next_match(
    lines: &[u64],
    from: u64,
    forward: bool,
    times: u64,
) -> Option<(usize, bool)> {
    let is_before = |line: &u64| *line < from || !forward && *line == from;
    let before = lines.partition_point(is_before) as u64;
    let (at, has_wrapped) = nth_match(before, lines.len() as u64, forward, times)?;
    Some((usize::try_from(at).ok()?, has_wrapped))
}

/// Returns the index of the `times`-th match, and true if the search wrapped around. `before` of
/// the `all` matches precede the origin.
pub(crate) fn nth_match(before: u64, all: u64, forward: bool, times: u64) -> Option<(u64, bool)> {
    let last = all.checked_sub(1)?;
    let steps = times.saturating_sub(1);
    // Counted from the end that the search moves away from.
    let first = if forward { before } else { all - before };
    let has_wrapped = steps > last.saturating_sub(first) || first > last;
    let at = (first % all + steps % all) % all;
    Some((if forward { at } else { last - at }, has_wrapped))
}

/// The message for a match that was found after wrapping around.
pub(crate) fn wrapped_text(has_wrapped: bool, forward: bool) -> Option<String> {
    let text = if forward {
        "from the top"
    } else {
        "from the end"
    };
    has_wrapped.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_continues_next_to_a_shown_match_and_else_at_the_edge() {
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
        // A new pattern is searched from the same line.
        for (jump_line, found, wanted) in [
            (None, None, None),
            (None, Some(15), Some(15)),
            (None, Some(21), None),
            (Some(3), Some(15), Some(3)),
        ] {
            assert_eq!(pattern_origin(jump_line, found, &position, 10), wanted);
        }
        // No line precedes the first one.
        let first = PagerPosition::first();
        assert_eq!(origin(Some(1), None, &first, 0, false), 0);
        // The line of a jump may be further down.
        for (forward, wanted) in [(true, 15), (false, 14)] {
            assert_eq!(origin(None, Some(15), &position, 10, forward), wanted);
        }
    }

    #[test]
    fn search_wraps_around_at_both_ends() {
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
            let next = next_match(&lines, from, forward, times);
            assert_eq!(next, Some(wanted), "{from} {forward} {times}");
        }
        assert_eq!(next_match(&[], 1, true, 1), None);
    }
}

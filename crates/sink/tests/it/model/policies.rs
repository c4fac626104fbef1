//! A reference model of the truncation policies, over a whole clean text.

use agent_bash_core::Truncation;

/// Returns the lines of a text, each with its LF.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Applies `head`, then `tail`.
pub(crate) fn head_tail(text: &str, head: Option<u64>, tail: Option<u64>) -> String {
    let mut lines = lines(text);
    if let Some(head) = head {
        lines.truncate(head as usize);
    }
    if let Some(tail) = tail {
        lines.drain(..lines.len().saturating_sub(tail as usize));
    }
    lines.concat()
}

/// Returns the pieces that a policy shows: one or two.
pub(crate) fn shown(text: &str, policy: Truncation) -> Vec<String> {
    match policy {
        Truncation::Tail { bytes } => vec![last(text, bytes)],
        Truncation::Head { bytes, whole_lines } => {
            let shown = first(text, bytes);
            let end = shown
                .rfind('\n')
                .filter(|_| whole_lines && shown.len() < text.len());
            vec![end.map_or(shown, |end| &shown[..=end]).to_owned()]
        }
        Truncation::Middle { max, .. } if text.len() <= max => vec![text.to_owned()],
        Truncation::Middle { ends, .. } => {
            vec![
                first(text, ends).to_owned(),
                last_bytes(text, ends).to_owned(),
            ]
        }
        Truncation::HeadTail {
            max_bytes,
            max_lines,
            head_lines,
            tail_lines,
        } => {
            let lines = lines(text);
            if text.len() <= max_bytes && lines.len() <= max_lines {
                return vec![text.to_owned()];
            }
            both_ends(text, &lines, max_bytes, head_lines, tail_lines)
        }
    }
}

/// Returns the last `max` bytes, from a line start on if possible.
pub(crate) fn last(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut kept = String::new();
    for line in lines(text).iter().rev() {
        if kept.len() + line.len() > max {
            break;
        }
        kept.insert_str(0, line);
    }
    if kept.is_empty() {
        last_bytes(text, max).to_owned()
    } else {
        kept
    }
}

fn last_bytes(text: &str, max: usize) -> &str {
    let mut from = text.len().saturating_sub(max);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

fn first(text: &str, max: usize) -> &str {
    let mut to = text.len().min(max);
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[..to]
}

/// Returns the first and last lines, trimmed from the inside: one line at a time from the longer
/// piece, until both pieces fit.
fn both_ends(
    text: &str,
    lines: &[&str],
    max: usize,
    head_lines: usize,
    tail_lines: usize,
) -> Vec<String> {
    let head: String = lines[..head_lines.min(lines.len())].concat();
    let tail: String = lines[lines.len().saturating_sub(tail_lines)..].concat();
    let half = max / 2;
    let (head_max, tail_max) = if head.len() <= half {
        (head.len(), max - head.len())
    } else if tail.len() <= half {
        (max - tail.len(), tail.len())
    } else {
        (half, half)
    };
    let mut shown_head: String = String::new();
    for line in self::lines(&head) {
        if shown_head.len() + line.len() > head_max {
            break;
        }
        shown_head.push_str(line);
    }
    if shown_head.is_empty() {
        shown_head = first(text, head_max).to_owned();
    }
    vec![shown_head, last(&tail, tail_max)]
}

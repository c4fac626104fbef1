//! Properties that hold for every stream, every split into chunks and every limit.

use super::clean::{Cleaned, cleaned, is_edited};
use super::fixtures::{MemoryStore, options, policy, run, split, stream, text_stream, whole};
use super::policies::{self, head_tail};
use agent_bash_core::TruncatedBy;
use agent_bash_sink::{CarriageReturn, CleanPiece, ShownOutput, SinkOptions, SinkReport};
use proptest::prelude::*;

/// Returns the configuration with the number of cases per property. `AGENT_BASH_FUZZ_CASES` sets a
/// larger number for a fuzz test.
pub(crate) fn config() -> ProptestConfig {
    let cases = fuzz_cases()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(128);
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a switch of the test, not of the product"
)]
fn fuzz_cases() -> Option<String> {
    std::env::var("AGENT_BASH_FUZZ_CASES").ok()
}

fn text_of(report: &SinkReport) -> String {
    report
        .shown
        .pieces()
        .map(|piece| piece.text.as_str())
        .collect()
}

/// Returns the model's result for these options.
fn model(bytes: &[u8], options: &SinkOptions) -> Cleaned {
    cleaned(bytes, options.carriage_return, options.head.is_none())
}

fn is_clean(text: &str) -> bool {
    text.chars()
        .all(|c| !c.is_control() || c == '\n' || c == '\t')
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_split_gives_the_same_report(
        bytes in prop_oneof![stream(), text_stream(), prop::collection::vec(any::<u8>(), 0..600)],
        cuts in prop::collection::vec(any::<usize>(), 0..40),
        options in options(),
    ) {
        let at_once = run(options, [bytes.as_slice()]);
        prop_assert_eq!(&run(options, split(&bytes, &cuts)), &at_once);
        prop_assert_eq!(&run(options, bytes.chunks(1)), &at_once);
    }

    #[test]
    fn cleaning_equals_the_model(
        bytes in text_stream(),
        cuts in prop::collection::vec(any::<usize>(), 0..9),
        cr in prop_oneof![Just(CarriageReturn::Overwrite), Just(CarriageReturn::Newline)],
    ) {
        let (report, kept) = run(whole(cr), split(&bytes, &cuts));
        let text = text_of(&report);
        prop_assert!(is_clean(&text));
        let model = model(&bytes, &whole(cr));
        prop_assert_eq!(&text, &model.text);
        prop_assert_eq!(report.summary.dropped_bytes, 0);
        prop_assert!(!report.summary.truncated);
        prop_assert_eq!(report.overwritten, !model.overwritten.is_empty());
        prop_assert_eq!(kept.len(), usize::from(report.overwritten));
        let newlines = bytes.split(|&byte| byte == b'\n').count() - 1;
        if cr == CarriageReturn::Overwrite && newlines > 0 {
            prop_assert_eq!(text.matches('\n').count(), newlines, "line numbers are those of the artifact");
        }
    }

    #[test]
    fn policies_equal_the_model(bytes in text_stream(), policy in policy()) {
        let mut options = whole(CarriageReturn::Overwrite);
        options.limits.truncation = policy;
        let (report, kept) = run(options, bytes.chunks(77));
        let text = model(&bytes, &options).text;
        let want = policies::shown(&text, policy);
        let got: Vec<String> = report.shown.pieces().map(|piece| piece.text.clone()).collect();
        prop_assert_eq!(got, want);
        counts_add_up(&options, &report, &kept, &bytes, &text)?;
    }

    #[test]
    fn limits_apply_to_the_whole_stream(bytes in text_stream(), options in options()) {
        let options = SinkOptions { limits: whole(CarriageReturn::Overwrite).limits, ..options };
        let (report, kept) = run(options, bytes.chunks(100));
        let text = model(&bytes, &options).text;
        let want = head_tail(&text, options.head.map(Into::into), options.tail.map(Into::into));
        prop_assert_eq!(text_of(&report), &want[..]);
        prop_assert_eq!(report.summary.truncated, want != text);
        if want != text {
            prop_assert_eq!(report.summary.truncated_by, Some(TruncatedBy::HeadTail));
        }
        counts_add_up(&options, &report, &kept, &bytes, &text)?;
    }

    #[test]
    fn shown_text_is_clean_bounded_and_counted(
        bytes in prop_oneof![stream(), text_stream(), prop::collection::vec(any::<u8>(), 0..600)],
        options in options(),
    ) {
        let (report, kept) = run(options, bytes.chunks(13));
        prop_assert!(is_clean(&text_of(&report)));
        let text = model(&bytes, &options).text;
        counts_add_up(&options, &report, &kept, &bytes, &text)?;
    }
}

fn counts_add_up(
    options: &SinkOptions,
    report: &SinkReport,
    kept: &[Vec<u8>],
    bytes: &[u8],
    text: &str,
) -> Result<(), TestCaseError> {
    let summary = &report.summary;
    // Clamp marks inside the text were not printed.
    let unmarked = options.limits.max_line_chars.is_none();
    prop_assert_eq!(summary.total_bytes, bytes.len() as u64);
    // Lines beyond `head` are only counted, so what edits them changes nothing.
    let is_edited = is_edited(bytes);
    let all_is_kept = options.head.is_none() || !is_edited;
    if all_is_kept {
        prop_assert_eq!(summary.total_lines, policies::lines(text).len() as u64);
    }
    prop_assert_eq!(summary.shown_bytes, text_of(report).len() as u64);
    prop_assert_eq!(
        summary.shown_lines + summary.dropped_lines,
        summary.total_lines
    );
    let in_ranges: u64 = summary
        .shown_ranges
        .iter()
        .map(|[from, to]| to - from + 1)
        .sum();
    prop_assert_eq!(in_ranges, summary.shown_lines);
    prop_assert!(summary.dropped_bytes <= summary.total_bytes);
    if unmarked && bytes == text.as_bytes() && !summary.binary {
        prop_assert_eq!(
            summary.shown_bytes + summary.dropped_bytes,
            summary.total_bytes
        );
    }
    if unmarked && !summary.binary && !is_edited {
        prop_assert_eq!(
            summary.dropped_bytes,
            dropped(options, report, bytes),
            "raw bytes"
        );
    }
    prop_assert_eq!(
        summary.truncated,
        summary.truncated_by.is_some() || summary.binary
    );
    prop_assert_eq!(
        summary.truncated || summary.dropped_bytes == 0,
        true,
        "{:?}",
        summary
    );
    if unmarked && !summary.binary {
        let shown = |line: &usize| options.head.is_none_or(|head| (*line as u64) < head.get());
        let overwritten = model(bytes, options).overwritten.iter().any(shown);
        prop_assert_eq!(report.overwritten, overwritten);
    }
    // Lines cut by `head` and `tail` of a successful command are not stored.
    let cut = summary.truncated && summary.truncated_by != Some(TruncatedBy::HeadTail);
    let needed = cut || report.overwritten;
    let want: Vec<Vec<u8>> = if needed { vec![bytes.to_vec()] } else { vec![] };
    prop_assert_eq!(
        kept,
        &want[..],
        "an artifact exactly when something is not shown that was wanted"
    );
    prop_assert_eq!(report.artifact.is_some(), needed);
    for piece in report.shown.pieces() {
        prop_assert_eq!(
            piece.line_count(),
            policies::lines(&piece.text).len() as u64
        );
        if unmarked && let Some([first, last]) = piece.lines {
            let named = policies::lines(text)[first as usize - 1..last as usize].concat();
            prop_assert!(
                named.contains(&piece.text),
                "lines {first}-{last} are {named:?}, not {:?}",
                piece.text
            );
        }
    }
    Ok(())
}

/// Returns the number of raw bytes that the pieces do not account for.
fn dropped(options: &SinkOptions, report: &SinkReport, bytes: &[u8]) -> u64 {
    let Cleaned {
        text,
        raw_ends: ends,
        ..
    } = model(bytes, options);
    let before = |at: usize| at.checked_sub(1).map_or(0, |last| ends[last]);
    let all = match options.head {
        Some(head) => head_tail(&text, Some(head.get()), None).len(),
        None => text.len(),
    };
    // Bytes that are removed after the last text belong to it.
    let end = |at: usize| {
        if at == text.len() {
            bytes.len()
        } else {
            before(at)
        }
    };
    let tail = |piece: &CleanPiece| match piece.text.len() {
        // Nothing is shown, so nothing is accounted for.
        0 => 0,
        len => end(all) - before(all - len),
    };
    let shown = match &report.shown {
        ShownOutput::Whole(piece) | ShownOutput::Head(piece) => end(piece.text.len()),
        ShownOutput::Tail(piece) => tail(piece),
        ShownOutput::Ends { head, tail: last } => before(head.text.len()) + tail(last),
        ShownOutput::Binary => 0,
    };
    (bytes.len() - shown) as u64
}

#[test]
fn memory_store_keeps_only_truncated_output() {
    // Control: output that is cut is kept, other output is not.
    let mut options = whole(CarriageReturn::Overwrite);
    assert_eq!(run(options, [&b"abc"[..]]).1, Vec::<Vec<u8>>::new());
    options.limits.truncation = agent_bash_core::Truncation::Tail { bytes: 2 };
    let (report, kept) = run(options, [&b"abc"[..]]);
    assert_eq!(kept, [b"abc"]);
    assert!(
        matches!(report.shown, ShownOutput::Tail(piece) if piece.text == "bc" && piece.missing_before == 1)
    );
    assert!(MemoryStore::default().stored.lock().unwrap().is_empty());
}

//! Pages, tails, byte ranges and searches of stored outputs.

use super::fixtures::{keep, session};
use agent_bash_sink::{FileView, MAX_PAGE_BYTES, NextPage, Page, Search};
use std::fmt::Write as _;
use std::fs;

fn view(bytes: &[u8]) -> (tempfile::TempDir, FileView) {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    fs::write(&path, bytes).unwrap();
    (root, FileView::open(&path).unwrap())
}

fn numbered(lines: u64) -> String {
    (1..=lines).fold(String::new(), |mut text, n| {
        writeln!(text, "line {n}").unwrap();
        text
    })
}

#[test]
fn pages_cover_the_file_in_order() {
    let text = numbered(100_000);
    let root = tempfile::tempdir().unwrap();
    let dir = session(root.path());
    let kept = keep(&dir, text.as_bytes()).unwrap();
    for view in [
        dir.open(kept.id).unwrap(),
        FileView::open(kept.path.as_ref()).unwrap(),
    ] {
        let mut read = String::new();
        let mut next = NextPage::Line(1);
        while let NextPage::Line(line) = next {
            let page = view.lines(line, Some(7_777)).unwrap();
            assert!(page.piece.text.len() <= MAX_PAGE_BYTES);
            assert_eq!(page.piece.lines.unwrap()[0], line);
            assert_eq!(page.total_lines, 100_000);
            read += &page.piece.text;
            next = page.next;
        }
        assert_eq!(next, NextPage::End);
        assert_eq!(read, text);
    }
}

#[test]
fn lines_returns_the_requested_line_numbers() {
    type Case = (
        &'static [u8],
        u64,
        u64,
        &'static str,
        Option<[u64; 2]>,
        NextPage,
    );
    let cases: [Case; 12] = [
        (
            b"a\nb\nc\n",
            1,
            2,
            "a\nb\n",
            Some([1, 2]),
            NextPage::Line(3),
        ),
        (b"a\nb\nc\n", 3, 2, "c\n", Some([3, 3]), NextPage::End),
        (b"a\nb\nc\n", 4, 2, "", None, NextPage::End),
        (b"a\nb\nc", 3, 2, "c", Some([3, 3]), NextPage::End),
        (b"a\nb\nc", 2, 1, "b\n", Some([2, 2]), NextPage::Line(3)),
        (b"a\nb\nc", 0, 9, "a\nb\nc", Some([1, 3]), NextPage::End),
        (b"", 1, 9, "", None, NextPage::End),
        (b"\n\n\n", 2, 1, "\n", Some([2, 2]), NextPage::Line(3)),
        (
            b"10%\r2%\nb\n",
            1,
            1,
            "10%␍2%\n",
            Some([1, 1]),
            NextPage::Line(2),
        ),
        (
            b"\x1b[31ma\x1b[0m\r\nb\n",
            1,
            9,
            "a\nb\n",
            Some([1, 2]),
            NextPage::End,
        ),
        (
            b"a\n\xff\n",
            2,
            1,
            "\u{fffd}\n",
            Some([2, 2]),
            NextPage::End,
        ),
        // The last line is nothing but an escape sequence: there is one more line than is visible.
        (b"a\n\x1b[0m", 1, 9, "a\n", Some([1, 1]), NextPage::Line(2)),
    ];
    for (bytes, offset, limit, text, lines, next) in cases {
        let (_root, view) = view(bytes);
        let page = view.lines(offset, Some(limit)).unwrap();
        let got = (page.piece.text.as_str(), page.piece.lines);
        assert_eq!(got, (text, lines), "{bytes:?} {offset} {limit}");
        assert_eq!(page.next, next, "{bytes:?} {offset} {limit}");
    }
}

#[test]
fn line_longer_than_a_page_continues_by_bytes() {
    let long = "é".repeat(MAX_PAGE_BYTES);
    let text = format!("one\n{long}\nend\n");
    let (_root, view) = view(text.as_bytes());
    let first = view.lines(1, None).unwrap();
    assert_eq!(
        (first.piece.text.as_str(), first.next),
        ("one\n", NextPage::Line(2))
    );
    let mut page = view.lines(2, None).unwrap();
    let mut read = page.piece.text.clone();
    while let NextPage::Byte(at) = page.next {
        page = view.bytes(at, u64::MAX).unwrap();
        assert!(page.piece.text.len() <= MAX_PAGE_BYTES);
        read += &page.piece.text;
    }
    assert_eq!(read, format!("{long}\nend\n"));
}

#[test]
fn bytes_never_split_a_character() {
    let text = "aé中🙂\n".repeat(50);
    let (_root, view) = view(text.as_bytes());
    for step in [4, 5, 6, 7, 100] {
        let mut read = String::new();
        let mut at = 0;
        loop {
            let page = view.bytes(at, step).unwrap();
            read += &page.piece.text;
            match page.next {
                NextPage::Byte(next) => at = next,
                _ => break,
            }
        }
        assert_eq!(read, text, "{step}");
    }
}

#[test]
fn tails() {
    let text = numbered(50_000);
    let (_root, view) = view(text.as_bytes());
    let page = view.tail(2).unwrap();
    assert_eq!(page.piece.text, "line 49999\nline 50000\n");
    assert_eq!(page.piece.lines, Some([49_999, 50_000]));
    let page = view.tail(u64::MAX).unwrap();
    assert!(text.ends_with(&page.piece.text) && page.piece.text.len() > MAX_PAGE_BYTES - 20);
    assert_eq!(page.piece.lines.unwrap()[1], 50_000);
}

#[test]
fn hints_name_the_next_position() {
    let (_root, view) = view(numbered(3000).as_bytes());
    let hint = |page: &Page| page.hint().unwrap_or_default();
    assert_eq!(
        hint(&view.lines(1, None).unwrap()),
        "[Showing lines 1-2000 of 3000. Use offset=2001 to go on.]"
    );
    assert_eq!(
        hint(&view.lines(2001, None).unwrap()),
        "[Showing lines 2001-3000 of 3000.]"
    );
    assert_eq!(hint(&view.lines(1, Some(3000)).unwrap()), "");
    assert_eq!(
        hint(&view.lines(9999, None).unwrap()),
        "[Nothing to show: 3000 lines in all.]"
    );
}

fn search(pattern: &str) -> Search {
    Search {
        pattern: pattern.to_owned(),
        before: 0,
        after: 0,
        from_line: 1,
        max_matches: 100,
    }
}

#[test]
fn search_output_equals_the_format_of_grep() {
    let (_root, view) = view(b"a\nb\n\x1b[31mer\x1b[0mror one\nc\nd\ne\nf\nerror two\ng");
    let found = view
        .search(&Search {
            before: 1,
            after: 1,
            ..search("^error")
        })
        .unwrap();
    assert_eq!(
        found.text(),
        "2-b\n3:error one\n4-c\n--\n7-f\n8:error two\n9-g\n"
    );
    assert_eq!((found.total_matches, found.hint()), (2, None));
    let none = view.search(&search("nothing")).unwrap();
    assert_eq!((none.text().as_str(), none.total_matches), ("", 0));
    let error = view.search(&search("(")).unwrap_err().to_string();
    assert!(error.starts_with("invalid pattern: "), "{error}");
}

#[test]
fn search_is_bounded_and_can_be_continued() {
    let (_root, view) = view(numbered(10_000).as_bytes());
    let found = view
        .search(&Search {
            max_matches: 3,
            ..search("7$")
        })
        .unwrap();
    let numbers: Vec<u64> = found.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, [7, 17, 27]);
    assert_eq!((found.total_matches, found.next_line), (1000, Some(37)));
    assert_eq!(
        found.hint().unwrap(),
        "[Showing 3 of 1000 matches. Use offset=37 to go on.]"
    );
    let more = view
        .search(&Search {
            from_line: 37,
            max_matches: 1,
            ..search("7$")
        })
        .unwrap();
    let [line] = &more.lines[..] else {
        panic!("{more:?}");
    };
    assert_eq!((line.number, line.text.as_str()), (37, "line 37"));
    assert!(line.is_match);
    let all = view
        .search(&Search {
            max_matches: usize::MAX,
            ..search("line")
        })
        .unwrap();
    assert!(all.text().len() < MAX_PAGE_BYTES + 100, "a page at most");
}

#[test]
fn long_line_is_searched_completely_and_shown_around_the_match() {
    // Beyond the part that is stored at once, surrounded by two-byte characters.
    let far = 5 << 20;
    let text = format!(
        "{}needle{}last\nneedle\n",
        "é".repeat(far / 2),
        "y".repeat(3 << 20)
    );
    let (_root, view) = view(text.as_bytes());
    let found = view.search(&search("needle")).unwrap();
    assert_eq!(found.total_matches, 2);
    let shown = &found.lines[0].text;
    let (position, excerpt) = shown
        .strip_prefix("[from byte ")
        .and_then(|rest| rest.split_once("] …"))
        .unwrap();
    assert!(excerpt.contains("éneedley"), "{excerpt}");
    assert!(excerpt.ends_with(" characters omitted]"), "{excerpt}");
    assert!(shown.chars().count() < 1000);
    // The position in the mark points to the match.
    let page = view.bytes(position.parse().unwrap(), 1000).unwrap();
    let beginning: String = excerpt.chars().take(100).collect();
    assert!(page.piece.text.starts_with(&beginning));
    assert_eq!(
        (found.lines[1].number, found.lines[1].text.as_str()),
        (2, "needle")
    );
    // Anchors mean the beginning and end of the line, regardless of segment boundaries.
    for (pattern, matches) in [
        ("^é", 1),
        ("^y", 0),
        ("y$", 0),
        ("last$", 1),
        ("^needle$", 1),
        (r"\bneedle", 1),
        ("needley{9}", 1),
        ("absent", 0),
    ] {
        let found = view.search(&search(pattern)).unwrap();
        assert_eq!(found.total_matches, matches, "{pattern}");
    }
}

#[test]
fn text_omitted_from_a_result_can_be_read() {
    // Text overwritten by a carriage return is shown with its mark, and found.
    let (_root, written_over) = view(b"FATAL: disk full\rok\nnext\0\n");
    assert_eq!(
        written_over.lines(1, None).unwrap().piece.text,
        "FATAL: disk full\u{240d}ok\nnext\u{2400}\n"
    );
    let found = written_over.search(&search("disk")).unwrap();
    assert_eq!(found.total_matches, 1);
    // A file with CR line ends has lines.
    let (_root, old_mac) = view(b"one\rtwo\rthree");
    let page = old_mac.lines(2, Some(1)).unwrap();
    assert_eq!((page.piece.text.as_str(), page.total_lines), ("two\n", 3));
    assert_eq!(page.next, NextPage::Line(3));
    assert_eq!(old_mac.tail(1).unwrap().piece.text, "three");
    assert_eq!(old_mac.search(&search("^t")).unwrap().total_matches, 2);
    // CRLF is one line end.
    let (_root, dos) = view(b"one\r\ntwo\r\n");
    assert_eq!(dos.lines(1, None).unwrap().piece.text, "one\ntwo\n");
}

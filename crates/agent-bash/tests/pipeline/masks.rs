//! Masked secrets in everything that leaves a call, with counts of the printed output.

use crate::scripted::{Memory, SECRET as VALUE, Scripted, Stopped, builder, outcome};
use agent_bash::core::{
    ArtifactStore, Cancel, ConsumerFlow, NoticeKind, OutputConsumer, ScriptEnding, StreamId,
    Survivor,
};
use agent_bash::sink::{
    FileView, LiveKind, LiveOptions, LiveUpdate, LiveUpdates, NextPage, Search,
};
use agent_bash::{BashTool, CallOptions, MaskLevel, profiles};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// A call that prints `text` in chunks of `size` bytes.
fn printing(text: &str, size: usize) -> Arc<Scripted> {
    let chunks = text.as_bytes().chunks(size);
    let chunks = chunks.map(|chunk| (StreamId::Merged, chunk.to_vec()));
    let ended = outcome(ScriptEnding::Exited { code: 0 });
    Scripted::new(chunks.collect(), Ok(ended))
}

fn tool(executor: &Arc<Scripted>, level: MaskLevel) -> (BashTool, Arc<Memory>) {
    let memory = Arc::new(Memory::default());
    let tool = builder(&profiles::STANDARD, executor, Path::new("/"))
        .mask_secrets(level)
        .artifacts(Arc::clone(&memory) as Arc<dyn ArtifactStore>)
        .build();
    (tool, memory)
}

#[tokio::test]
async fn survivors_and_values_of_notices_have_masks() {
    for level in [MaskLevel::Off, MaskLevel::Known] {
        let mut ended = outcome(ScriptEnding::Exited { code: 0 });
        let command = format!("serve --token {VALUE}");
        ended.survivors = vec![Survivor::new(7, command, false)];
        let executor = Scripted::new(Vec::new(), Ok(ended));
        let (tool, _) = tool(&executor, level);
        let result = tool.execute(json!("x"), &Cancel::new()).await;
        let shown = if level == MaskLevel::Off {
            VALUE
        } else {
            "‹GH_TOKEN›"
        };
        let command = format!("serve --token {shown}");
        assert_eq!(result.survivors[0].command, command);
        let kind = &result.notices[0].kind;
        let NoticeKind::Survivors { survivors } = kind else {
            panic!("{kind:?}");
        };
        assert_eq!(survivors[0].command, command);
        assert!(result.notices[0].text.contains(&command));
        assert!(result.text.contains(&command));
    }
}

#[tokio::test]
async fn text_has_masks_and_counts_are_those_of_the_output() {
    let text = format!("a {VALUE} b\n");
    for size in [1, 3, 1000] {
        let executor = printing(&text, size);
        let (tool, _) = tool(&executor, MaskLevel::Known);
        let result = tool.execute(json!("x"), &Cancel::new()).await;
        assert!(
            result.text.starts_with("a ‹GH_TOKEN› b\n"),
            "{}",
            result.text
        );
        assert!(!result.text.contains(VALUE));
        assert_eq!(result.output.total_bytes, text.len() as u64);
        assert_eq!(result.output.total_lines, 1);
        let masked = NoticeKind::SecretsMasked {
            count: 1,
            artifact: None,
        };
        assert_eq!(result.notices[0].kind, masked);
    }
    let executor = printing(&text, 3);
    let (tool, _) = tool(&executor, MaskLevel::Off);
    let result = tool.execute(json!("x"), &Cancel::new()).await;
    assert_eq!((result.text, result.notices.len()), (text, 0));
}

#[tokio::test]
async fn truncated_output_has_no_part_of_a_value_and_its_artifact_has_the_value() {
    // Wherever the border of the shown end falls, it falls into a value.
    for shift in 0..VALUE.len() {
        let text = format!("{}{}", "x".repeat(shift), format!("{VALUE}\n").repeat(9000));
        let executor = printing(&text, 4096);
        let (tool, memory) = tool(&executor, MaskLevel::Known);
        let result = tool.execute(json!("x"), &Cancel::new()).await;
        assert!(result.output.truncated);
        for from in 0..VALUE.len() - 6 {
            let part = &VALUE[from..from + 6];
            assert!(!result.text.contains(part), "{shift}: {part}");
        }
        assert_eq!(result.output.total_bytes, text.len() as u64);
        assert_eq!(*memory.files.lock().unwrap(), [text.into_bytes()]);
        assert!(result.notices.iter().any(|notice| matches!(
            &notice.kind,
            NoticeKind::SecretsMasked {
                count: 9000,
                artifact: Some(_)
            }
        )));
    }
}

#[tokio::test]
async fn updates_have_masks_for_any_chunks_and_the_printed_total() {
    let text = format!("one {VALUE}\ntwo {VALUE} three");
    for size in [1, 2, 7, 100] {
        for kind in [LiveKind::Snapshot, LiveKind::Delta, LiveKind::Raw] {
            let executor = printing(&text, size);
            let (tool, _) = tool(&executor, MaskLevel::Known);
            let live = LiveUpdates::new(LiveOptions::new(kind, 1000));
            tool.execute_watched(json!("x"), &live, &Cancel::new())
                .await;
            let (mut shown, mut total) = (String::new(), 0);
            while let Some(update) = live.next(&Stopped).await {
                match update {
                    LiveUpdate::Snapshot { text, total_bytes } => {
                        shown = text;
                        total = total_bytes;
                    }
                    LiveUpdate::Delta {
                        text, total_bytes, ..
                    } => {
                        shown.push_str(&text);
                        total = total_bytes;
                    }
                    LiveUpdate::Raw {
                        bytes, total_bytes, ..
                    } => {
                        shown.push_str(&String::from_utf8(bytes).unwrap());
                        total = total_bytes;
                    }
                    _ => {}
                }
            }
            assert_eq!(
                shown, "one ‹GH_TOKEN›\ntwo ‹GH_TOKEN› three",
                "{kind:?} {size}"
            );
            assert_eq!(total, text.len() as u64);
        }
    }
}

#[test]
fn update_before_the_end_has_no_beginning_of_a_value() {
    let mask = MaskedTool::known();
    let live = LiveUpdates::new(LiveOptions::new(LiveKind::Snapshot, 1000));
    live.mask_with(&**mask.0.output_mask().unwrap());
    live.push(format!("x {}", &VALUE[..7]).as_bytes());
    let waker = std::task::Waker::noop();
    let update = live.take(waker);
    let expected = LiveUpdate::Snapshot {
        text: "x ".to_owned(),
        total_bytes: 9,
    };
    assert_eq!(update, Some(expected));
}

/// A tool that masks known values.
struct MaskedTool(BashTool);

impl MaskedTool {
    fn known() -> Self {
        Self(tool(&Scripted::exits(0, b""), MaskLevel::Known).0)
    }
}

/// Collects the chunks that a caller's consumer receives.
#[derive(Default)]
struct Chunks(Vec<u8>);

impl OutputConsumer for Chunks {
    fn chunk(&mut self, _: StreamId, bytes: &[u8]) -> ConsumerFlow {
        self.0.extend_from_slice(bytes);
        ConsumerFlow::Continue
    }
}

#[tokio::test]
async fn consumer_of_the_caller_receives_masked_chunks() {
    let text = format!("a {VALUE} b {}", &VALUE[..8]);
    let executor = printing(&text, 5);
    let (tool, _) = tool(&executor, MaskLevel::Known);
    let mut chunks = Chunks::default();
    let options = CallOptions {
        live: Some(&mut chunks),
        ..CallOptions::default()
    };
    tool.execute_with(json!("x"), options, &Cancel::new()).await;
    let shown = String::from_utf8(chunks.0).unwrap();
    assert_eq!(shown, format!("a ‹GH_TOKEN› b {}", &VALUE[..8]));
}

#[test]
fn pages_of_a_file_have_masks_and_offsets_of_the_file() {
    let tool = MaskedTool::known();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let line = format!("line {VALUE} end\n");
    file.write_all(line.repeat(3).as_bytes()).unwrap();
    let mask = tool.0.output_mask().cloned();
    let view = || FileView::open(file.path()).unwrap().masked(mask.clone());
    let shown = "line ‹GH_TOKEN› end\n";
    let page = view().lines(2, Some(1)).unwrap();
    assert_eq!(
        (page.piece.text.as_str(), page.next),
        (shown, NextPage::Line(3))
    );
    assert_eq!(page.total_bytes, 3 * line.len() as u64);
    assert_eq!(view().tail(1).unwrap().piece.text, shown);
    // A page that begins or ends inside the value.
    for from in 6..5 + VALUE.len() {
        let page = view().bytes(from as u64, 200).unwrap();
        assert!(
            page.piece.text.starts_with("‹GH_TOKEN› end\n"),
            "{:?}",
            page.piece.text
        );
        let page = view().bytes(0, from as u64).unwrap();
        assert_eq!(page.piece.text, "line ‹GH_TOKEN›");
        assert_eq!(page.next, NextPage::Byte(from as u64));
    }
    let search = |pattern: &str| {
        let search = Search {
            pattern: pattern.to_owned(),
            before: 0,
            after: 0,
            from_line: 1,
            max_matches: 1,
        };
        view().search(&search).unwrap()
    };
    assert_eq!(search("end").text(), format!("1:{shown}"));
    // A search does not tell whether the output has a value.
    assert_eq!(search(VALUE).total_matches, 0);
}

#[test]
fn private_key_that_began_before_a_page_is_masked_on_it() {
    let tool = tool(&Scripted::exits(0, b""), MaskLevel::Forms).0;
    let data = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2g";
    let key = format!(
        "-----BEGIN OPENSSH PRIVATE KEY-----\n{}-----END OPENSSH PRIVATE KEY-----\n",
        format!("{data}\n").repeat(30)
    );
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{}{key}", "before\n".repeat(10_000)).unwrap();
    let mask = tool.output_mask().cloned();
    let view = FileView::open(file.path()).unwrap().masked(mask);
    let page = view.lines(10_020, Some(2)).unwrap();
    assert_eq!(page.piece.text, "‹private key›\n‹private key›\n");
    let tail = view.tail(2).unwrap();
    assert_eq!(
        tail.piece.text,
        "‹private key›\n-----END OPENSSH PRIVATE KEY-----\n"
    );
}

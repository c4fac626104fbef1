//! The page as a whole: a session's output never becomes markup, in the markup itself and in a
//! browser.

mod chromium;
mod reading;
mod rows;

use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_core::{
    Caller, JobId, NoticeKind, ProfileName, SessionName, Status, Survivor, Timestamp, ToolResult,
};
use agent_bash_journal::{JournalContents, JournalEntry, PrintedOutput, RefusalEntry};
use agent_bash_report::{Diff, JobLine, Page};
use chromium::{in_chromium, with_script};
use html5ever::TokenizerResult;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::RefCell;

/// Texts that would run, load or break out, if they were markup.
const ATTACKS: [&str; 12] = [
    "<script>document.title='owned'</script>",
    "\"><img src=x onerror=\"document.title='owned'\">",
    "'><svg onload=\"document.title='owned'\">",
    "</pre></div></details></li></ol><h1 id=owned>owned</h1>",
    "</script><script>document.title='owned'</script>",
    "</style><style>body{display:none}</style>",
    "</title><script>document.title='owned'</script>",
    "<!-- ",
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
    "<a href=\"javascript:document.title='owned'\">click</a>",
    "&lt;b&gt; &amp; \u{202e}gnp.exe \u{0}\u{1b}[31m",
    "<base href=//127.0.0.1:9/><link rel=stylesheet href=x>",
];

/// A session in which every text is `text`.
fn page(text: &str) -> String {
    let text = || text.to_owned();
    let started = Timestamp(1_700_000_000_000);
    let name = FileName::new(text());
    let mut changes = Changes::new(ChangesId(1), ChangesState::Done, ChangesBy::Trace, text());
    changes = changes.with_files([
        FileChange::new(name.clone(), Change::Created),
        FileChange::new(name.clone(), Change::Renamed).renamed_from(name),
    ]);
    changes.outside.insert(text(), 3);
    let blocked = Status::Blocked {
        rule: text(),
        suggested_tool: Some(text()),
    };
    let background = Status::MovedToBackground {
        job: JobId(text()),
        pid: 1,
        pgid: 1,
        output: text(),
    };
    let statuses = [
        Status::Exited { code: 0 },
        blocked,
        background,
        Status::lost(text()),
        Status::NotStarted { reason: text() },
        Status::Signaled {
            signal: text(),
            number: 9,
        },
    ];
    let mut recorded = JournalContents::default();
    for (by, status) in [Caller::Model, Caller::User]
        .into_iter()
        .flat_map(|by| statuses.clone().map(|status| (by, status)))
    {
        let is_blocked = matches!(status, Status::Blocked { .. });
        let mut result = ToolResult::new(status, text(), started);
        result.cwd = text();
        result.duration_ms = 4.0;
        result.output.total_bytes = 1;
        let mut survivor = Survivor::new(3, text(), false);
        survivor.job = Some(JobId(text()));
        result.survivors.push(survivor);
        result
            .notices
            .push(NoticeKind::JournalFailed { reason: text() }.into());
        let mut set = changes.clone();
        set.id = ChangesId(recorded.entries.len() as u64 % 2);
        result.changes = Some(set);
        let mut entry = JournalEntry::new(by, ProfileName::Standard, text(), result);
        entry.description = Some(text());
        entry.session = Some(SessionName(text()));
        entry.objection = is_blocked.then(|| RefusalEntry {
            message: text(),
            instead: Some(text()),
            span: Some([0, 1]),
        });
        entry.printed = Some(PrintedOutput {
            head: text(),
            omitted_bytes: 1,
            tail: text(),
        });
        recorded.entries.push(entry);
    }
    let mut page = Page::new(text(), recorded, started);
    let diff = |diff: Option<String>| {
        let from = FileName::new(text());
        let mut of = Diff::of(FileChange::new(from.clone(), Change::Changed).renamed_from(from));
        of.text = diff;
        of.note = Some(text());
        of
    };
    page.diffs
        .insert(ChangesId(1), vec![diff(Some(text())), diff(None)]);
    let mut job = JobLine::new(JobId(text()), text());
    job.output = Some(text());
    page.jobs.push(job);
    page.html()
}

/// The tags of a page, with the names of their attributes.
#[derive(Default)]
struct Tags(RefCell<Vec<String>>);

impl TokenSink for Tags {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token {
            let names: Vec<&str> = tag.attrs.iter().map(|one| &*one.name.local).collect();
            self.0
                .borrow_mut()
                .push(format!("{:?} {} {names:?}", tag.kind, tag.name));
            // As in a tree builder: the contents of these two elements are text.
            if tag.kind == TagKind::EndTag {
                return TokenSinkResult::Continue;
            }
            match &*tag.name {
                "style" => {
                    return TokenSinkResult::RawData(
                        html5ever::tokenizer::states::RawKind::Rawtext,
                    );
                }
                "script" => {
                    return TokenSinkResult::RawData(
                        html5ever::tokenizer::states::RawKind::ScriptData,
                    );
                }
                "title" => {
                    return TokenSinkResult::RawData(html5ever::tokenizer::states::RawKind::Rcdata);
                }
                _ => {}
            }
        } else if let Token::CommentToken(text) = token {
            self.0.borrow_mut().push(format!("comment {text}"));
        }
        TokenSinkResult::Continue
    }
}

fn tags(html: &str) -> Vec<String> {
    let tokenizer = Tokenizer::new(Tags::default(), TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    // The tokenizer stops after each script, for a browser to run it.
    while let TokenizerResult::Script(()) = tokenizer.feed(&input) {}
    tokenizer.end();
    tokenizer.sink.0.take()
}

/// The tags without spans for colours and marks, which depend on the texts. All others are the
/// page's own.
fn frame(html: &str) -> Vec<String> {
    let of_text = |tag: &String| tag.contains(" span ") || tag.contains(" mark ");
    tags(html).into_iter().filter(|tag| !of_text(tag)).collect()
}

#[test]
fn no_text_becomes_markup() {
    let harmless = frame(&page("plain"));
    assert!(harmless.len() > 100, "{harmless:?}");
    for attack in ATTACKS {
        assert_eq!(frame(&page(attack)), harmless, "{attack}");
    }
    // Control: the comparison detects markup.
    let with_markup = page("plain").replacen("<h1>", &format!("<h1>{}", ATTACKS[0]), 1);
    assert_ne!(frame(&with_markup), harmless);
}

#[test]
fn invisible_characters_are_marked() {
    let html = page("a\u{202e}b\u{200b}c");
    assert!(!html.contains(['\u{202e}', '\u{200b}']));
}

/// In Chromium, if it is installed: the page's script runs, and no script of the session.
#[test]
fn browser_runs_only_the_pages_script() {
    let html = page(&ATTACKS.join("\n"));
    let Some(dom) = in_chromium(&html) else {
        return;
    };
    assert!(
        dom.contains("<nav aria-label"),
        "the page's own script did not run: {dom:.2000}"
    );
    assert!(
        !dom.contains("<title>owned") && !dom.contains("<h1 id=\"owned\""),
        "{dom:.2000}"
    );
    // Control: without its policy and its escaping, the page would run the script.
    let bare = html.replacen("<body>", "<body><script>document.title='owned'</script>", 1);
    let held = in_chromium(&bare).unwrap();
    assert!(
        !held.contains("<title>owned"),
        "the policy lets a foreign script run"
    );
    let open = in_chromium(&with_script(&bare, "")).unwrap();
    assert!(open.contains("<title>owned"), "{open:.2000}");
}

/// In Chromium, if it is installed: filtered calls are invisible, and the others visible.
#[test]
fn browser_shows_only_matching_calls() {
    const FILTERED: &str = "document.querySelector('[data-kind=refused]').click();
        const seen = [...document.querySelectorAll('#calls li[id]')].map((call) => {
            const line = call.querySelector('summary');
            const there = call.getBoundingClientRect().height > 10 && line.checkVisibility({ visibilityProperty: true });
            return (call.hidden ? 'out ' : 'in ') + (there ? 'seen' : 'gone');
        });
        document.title = seen.sort().join(', ');";
    // Two of twelve calls are refused by a rule.
    let wanted = format!(
        "<title>{}{}</title>",
        "in seen, ".repeat(2),
        "out gone, ".repeat(10)
    );
    let wanted = wanted.replace(", </title>", "</title>");
    let html = page("x");
    let Some(dom) = in_chromium(&with_script(&html, FILTERED)) else {
        return;
    };
    assert!(dom.contains(&wanted), "{dom:.2000}");
    // Control: shown in spite of the attribute, they would be visible.
    let hides = "display:block;content-visibility:hidden;height:0;overflow:hidden;border:0;visibility:hidden;contain-intrinsic-size:0 0";
    let unstyled = html.replacen(hides, "display:block", 1);
    assert_ne!(unstyled, html);
    let dom = in_chromium(&with_script(&unstyled, FILTERED)).unwrap();
    assert!(dom.contains("out seen"), "{dom:.2000}");
}

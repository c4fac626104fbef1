//! Reading the page, in a browser if one is installed: with keys, in a small window, on paper.

use crate::chromium::{in_chromium, in_window, sheets, with_script};
use crate::rows::{call, page};
use agent_bash_core::Status;
use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_journal::PrintedOutput;
use agent_bash_report::Diff;

fn exited(code: i32) -> Status {
    Status::Exited { code }
}

/// The title after the script has set it; `None` without a browser.
fn title_of(dom: Option<String>) -> Option<String> {
    let dom = dom?;
    let rest = dom.split_once("<title>")?.1;
    Some(rest.split_once("</title>")?.0.to_owned())
}

/// The script that types a text into the search field.
const SEARCH: &str = "const search = (text) => {
    const field = document.getElementById('search');
    field.value = text;
    field.dispatchEvent(new Event('input'));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    return document.getElementById('count').textContent;
};";

#[test]
fn phrase_is_searched_as_a_whole_and_keys_move_between_matches() {
    let calls = ["echo exit then 127", "echo exit 127", "true", "# exit 127"];
    let calls = calls.map(|command| call(command, exited(0), 0));
    let html = page(calls.to_vec()).html();
    let script = "const key = (key) => {
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            return document.querySelector('.current').id;
        };
        const seen = [search('exit 127'), search('\"exit 127\"'), key('n'), key('n'), key('N')];
        seen.push(document.querySelectorAll('#c4 > details[open]').length, document.getElementById('fold').textContent);
        seen.push(CSS.highlights.get('found').size);
        document.title = seen.join(' | ');";
    let Some(result) = title_of(in_chromium(&with_script(
        &html,
        &format!("{SEARCH}{script}"),
    ))) else {
        return;
    };
    let wanted = "3 of 4 calls: exit 127, now at number 1 | 2 of 4 calls: \"exit 127\", now at number 1 \
                  | c4 | c2 | c4 | 1 | Close these 2 | 2";
    assert_eq!(result, wanted);
}

#[test]
fn filters_stay_visible_and_the_timeline_has_no_tab_stops() {
    let calls = (0..200).map(|n| call("true", exited(n % 2), n.unsigned_abs().into()));
    let html = page(calls.collect()).html();
    let script = "scrollTo(0, document.body.scrollHeight);
        const stops = [...document.querySelectorAll('a, button, input, summary')].filter((one) => one.tabIndex >= 0 && one.checkVisibility());
        const in_strip = stops.filter((one) => one.closest('figure')).length;
        document.title = [scrollY > 1000, document.querySelector('nav').getBoundingClientRect().top, in_strip, document.querySelectorAll('figure a').length].join(' ');";
    let Some(result) = title_of(in_chromium(&with_script(&html, script))) else {
        return;
    };
    assert_eq!(result, "true 0 0 200");
}

#[test]
fn small_window_shows_outcome_duration_and_changes() {
    let mut entry = call("make", exited(2), 0);
    let (state, by) = (ChangesState::Done, ChangesBy::Trace);
    let files = [FileChange::new(FileName::new("x"), Change::Created)];
    entry.result.changes = Some(Changes::new(ChangesId(1), state, by, "/w").with_files(files));
    let html = page(vec![entry.clone(), entry]).html();
    let script = "const seen = ['time', '.took', '.delta', '.outcome'].map((name) => {
            const one = document.querySelector('#c1 ' + name);
            const { left, right, height } = one.getBoundingClientRect();
            return one.checkVisibility() && height > 0 && left >= 0 && right <= innerWidth ? one.textContent : 'gone';
        });
        seen.push(innerWidth < 720, document.documentElement.scrollWidth <= innerWidth);
        document.title = seen.join(' | ');";
    let Some(result) = title_of(in_window(&with_script(&html, script), "520,800")) else {
        return;
    };
    assert_eq!(result, "22:13:20 | 2.0s | +1 | exit 2 | true | true");
}

#[test]
fn paper_opens_everything_and_afterwards_the_page_is_as_before() {
    let mut entry = call("make", exited(0), 0);
    let (state, by) = (ChangesState::Done, ChangesBy::Trace);
    let file = FileChange::new(FileName::new("x"), Change::Changed);
    entry.result.changes =
        Some(Changes::new(ChangesId(1), state, by, "/w").with_files([file.clone()]));
    let mut page = page(vec![entry, call("false", exited(1), 0)]);
    let mut diff = Diff::of(file);
    diff.text = Some("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".to_owned());
    let mut of_git = diff.clone();
    of_git.file.name = FileName::new(".git/x");
    page.diffs.insert(ChangesId(1), vec![diff, of_git]);
    let script = "const open = () => document.querySelectorAll('details[open]').length;
        document.querySelector('#c2 > details').open = true;
        const seen = [open()];
        dispatchEvent(new Event('beforeprint')); seen.push(open());
        dispatchEvent(new Event('afterprint')); seen.push(open());
        document.querySelector('[data-kind=failed]').click();
        dispatchEvent(new Event('beforeprint')); seen.push(open());
        seen.push(document.getElementById('count').textContent);
        document.title = seen.join(' | ');";
    let Some(result) = title_of(in_chromium(&with_script(&page.html(), script))) else {
        return;
    };
    assert_eq!(result, "1 | 3 | 1 | 1 | 1 of 2 calls: Failed");
}

#[test]
fn paper_shows_the_beginning_and_the_end_of_a_long_output() {
    let mut entry = call("seq 5000", exited(0), 0);
    let lines: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
    entry.printed = Some(PrintedOutput {
        head: lines.join("\n"),
        ..PrintedOutput::default()
    });
    entry.result.output.total_bytes = 1;
    let html = page(vec![entry]).html();
    let Some(sheets) = sheets(&html) else {
        return;
    };
    assert!((1..=2).contains(&sheets), "{sheets}");
}

#[test]
fn text_printed_as_hidden_is_visible() {
    let mut entry = call("printf …", exited(0), 0);
    entry.printed = Some(PrintedOutput {
        head: "\u{1b}[8mhidden\u{1b}[0m \u{1b}[30;40mblack\u{1b}[0m\n".to_owned(),
        ..PrintedOutput::default()
    });
    entry.result.output.total_bytes = 1;
    let script = "document.querySelector('details').open = true;
        const seen = [...document.querySelectorAll('.output span')].map((one) => {
            const { color, backgroundColor, textDecorationStyle } = getComputedStyle(one);
            const shown = one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
            return [one.textContent, shown && color !== backgroundColor, textDecorationStyle].join(' ');
        });
        document.title = seen.join(' | ');";
    let html = with_script(&page(vec![entry]).html(), script);
    let Some(result) = title_of(in_chromium(&html)) else {
        return;
    };
    assert_eq!(result, "hidden true dotted | black true solid");
}

/// The rules for paper are applied to the window, because a script cannot see paper.
#[test]
fn paper_has_light_colours_and_a_summary_instead_of_controls() {
    let html = page(vec![
        call("true", exited(0), 0),
        call("false", exited(1), 0),
    ])
    .html();
    assert!(html.contains("@media print"));
    let script = "document.querySelector('[data-kind=failed]').click();
        const shown = ['.kinds', '.find', '#count', '#c1', '#c2'].map((one) => document.querySelector(one).checkVisibility());
        document.title = [...shown, getComputedStyle(document.documentElement).colorScheme].join(' ');";
    let html = with_script(&html.replace("@media print", "@media all"), script);
    let Some(result) = title_of(in_chromium(&html)) else {
        return;
    };
    assert_eq!(result, "false false true false true light");
}

#[test]
fn text_that_does_not_fit_its_box_says_so_and_unfolds() {
    let printed = |lines: usize| {
        let mut entry = call("seq", exited(0), 0);
        let printed = PrintedOutput {
            head: "line\n".repeat(lines),
            ..PrintedOutput::default()
        };
        entry.printed = Some(printed);
        entry.result.output.total_bytes = 1;
        entry
    };
    let html = page(vec![printed(3), printed(1500)]).html();
    let script = "for (const one of document.querySelectorAll('#calls li > details')) one.open = true;
        const box = () => document.querySelector('.long');
        const cut = () => box().firstElementChild.scrollHeight > box().firstElementChild.clientHeight;
        const told = () => `${box().lastElementChild.textContent} ${cut()}`;
        // A text is measured after a frame in which it is in view. Messages let real time pass until
        // then, and no virtual time, which would end the page.
        const again = new MessageChannel();
        let tries = 0;
        const look = () => {
            if (!box() && tries++ < 1000000) return again.port2.postMessage('');
            const seen = [document.querySelectorAll('.foot').length, document.querySelectorAll('#c2 .foot').length, told()];
            box().lastElementChild.click(); seen.push(told());
            box().lastElementChild.click(); seen.push(told(), box().firstElementChild.tabIndex);
            document.title = seen.join(' | ');
        };
        again.port1.onmessage = look;
        look();";
    let Some(result) = title_of(in_chromium(&with_script(&html, script))) else {
        return;
    };
    let wanted = "1 | 1 | 1,500 lines · show all true | 1,500 lines · show less false | 1,500 lines · show all true | 0";
    assert_eq!(result, wanted);
}

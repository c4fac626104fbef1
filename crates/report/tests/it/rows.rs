//! What the rows, the head and the sections say.

use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_core::sandbox::{Network, SandboxLevel, Sandboxed};
use agent_bash_core::{
    Caller, JobId, NoticeKind, ProfileName, Stage, Status, Survivor, Timestamp, ToolResult,
};
use agent_bash_journal::{Escalation, JournalEntry, Recorded};
use agent_bash_report::{Deed, Diff, JobLine, Page};

/// 2023-11-14 22:13:20 UTC.
pub(crate) const BEGIN: u64 = 1_700_000_000_000;

/// A call that began so many milliseconds after that.
pub(crate) fn call(command: &str, status: Status, after: u64) -> JournalEntry {
    let mut result = ToolResult::new(status, "", Timestamp(BEGIN + after));
    result.cwd.push_str("/w");
    if result.status.exit_code() != 125 {
        result.duration_ms = 2000.0;
    }
    JournalEntry::new(Caller::Model, ProfileName::Standard, command, result)
}

pub(crate) fn page(entries: Vec<JournalEntry>) -> Page {
    let mut recorded = Recorded::default();
    recorded.entries = entries;
    Page::new("chat", recorded, Timestamp(BEGIN))
}

const DONE: Status = Status::Exited { code: 0 };

/// What is between the two, the first time.
fn part<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let rest = html.split_once(from).map_or("", |(_, rest)| rest);
    rest.split_once(to).map_or("", |(part, _)| part)
}

#[test]
fn the_head_tells_the_time_on_the_clock_from_the_sum() {
    let mut other = call("b", DONE, 1000);
    other.result.cwd = "/elsewhere".to_owned();
    let html = page(vec![call("a", DONE, 0), other]).html();
    let summary = part(&html, "<p class=\"summary\">", "</p>");
    let facts: Vec<&str> = summary
        .split("</span>")
        .map(|fact| fact.trim_start_matches("<span>"))
        .collect();
    let wanted = [
        "2 calls",
        "2023-11-14 22:13:20 UTC – 22:13:23 (3.0s)",
        "durations add up to 4.0s",
        "/w and 1 more directory",
        "profile standard",
        "",
    ];
    assert_eq!(facts, wanted);
}

#[test]
fn an_empty_record_says_so() {
    let html = page(Vec::new()).html();
    assert_eq!(
        part(&html, "<p class=\"summary\">", "</p>"),
        "No call was recorded of it."
    );
    assert!(!html.contains("<figure") && !html.contains("<h2"), "{html}");
}

#[test]
fn each_day_has_a_heading_and_headings_are_in_order() {
    let html = page(vec![call("a", DONE, 0), call("b", DONE, 7_200_000)]).html();
    let days: Vec<&str> = html
        .split("<h2 class=\"day\">")
        .skip(1)
        .map(|rest| &rest[..10])
        .collect();
    assert_eq!(days, ["2023-11-14", "2023-11-15"]);
    let levels: Vec<usize> = html
        .match_indices("<h")
        .filter_map(|(at, _)| html[at + 2..].chars().next()?.to_digit(10))
        .map(|level| level as usize)
        .collect();
    assert_eq!(levels, [1, 2, 3, 2, 3]);
}

#[test]
fn a_failure_that_the_exit_code_hides_is_in_the_row() {
    let mut piped = call("make | tail", DONE, 0);
    piped.result.stages = [6, 0].map(Stage::from).to_vec();
    let row = |entry: &JournalEntry| {
        let html = page(vec![entry.clone()]).html();
        part(&html, "<span class=\"outcome ", "</span>").to_owned()
    };
    assert_eq!(row(&piped), "ok\">exit 0");
    let kind = NoticeKind::FailedStage {
        stage: 1,
        code: 6,
        stages: piped.result.stages.clone(),
    };
    piped.result.notices.push(kind.into());
    assert_eq!(row(&piped), "warn\">exit 0, stages 6 0");
}

#[test]
fn an_invalid_request_is_refused_by_no_rule() {
    let reason = "`command` is empty".to_owned();
    let html = page(vec![call("", Status::NotStarted { reason }, 0)]).html();
    assert!(html.contains("(no command: the request was invalid)"));
    assert!(html.contains("data-kinds=\"failed\"") && !html.contains("data-kind=\"refused\""));
}

#[test]
fn the_row_of_a_job_says_what_has_become_of_it() {
    let status = Status::MovedToBackground {
        job: JobId("2".to_owned()),
        pid: 1,
        pgid: 1,
        output: "/state/jobs/2/output".to_owned(),
    };
    let mut page = page(vec![call("serve", status, 0)]);
    assert!(
        page.html()
            .contains("<span class=\"outcome ok\">background</span>")
    );
    let mut job = JobLine::new(JobId("2".to_owned()), "exited with code 4");
    job.failed = true;
    page.jobs.push(job);
    let html = page.html();
    let wanted = "<span class=\"outcome warn\">background, exited with code 4</span>";
    assert!(html.contains(wanted), "{html}");
    assert!(
        html.contains("its output: <code>/state/jobs/2/output</code>"),
        "{html}"
    );
}

#[test]
fn writes_outside_are_in_the_row_and_among_the_changed_files() {
    let mut entry = call("echo x > /etc/x", DONE, 0);
    let (state, by) = (ChangesState::Done, ChangesBy::Trace);
    let mut changes = Changes::new(ChangesId(1), state, by, "/w");
    changes.outside.insert("/etc".to_owned(), 1);
    entry.result.changes = Some(changes.clone());
    let html = page(vec![entry.clone()]).html();
    assert!(html.contains("data-kinds=\"files\""), "{html}");
    let told = |html: &str| {
        let delta = part(html, "<span class=\"delta\">", "<span class=\"took\">");
        let tags = delta
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap_or_default());
        tags.collect::<String>()
    };
    assert_eq!(told(&html), "1 outside");
    // With others, as in `agent-bash log`.
    let files = [FileChange::new(FileName::new("own"), Change::Changed)];
    let late = Changes::new(ChangesId(2), state, by, "/w").with_files(files);
    changes.counts.created = 1;
    entry.result.changes = Some(changes);
    let mut page = page(vec![entry]);
    page.background
        .insert(ChangesId(1), vec![late.clone(), late]);
    assert_eq!(told(&page.html()), "+1, later ~1, 1 outside");
    page.or_earlier.insert(ChangesId(2));
    let html = page.html();
    assert_eq!(told(&html), "+1, perhaps later ~1, 1 outside");
    let wanted = "this call or an earlier one left running: it is not known which";
    assert!(html.contains(wanted), "{html}");
}

#[test]
fn nothing_is_said_twice() {
    let mut entry = call("rm x", DONE, 0);
    let survivor = Survivor::new(3, "sleep 9", false);
    entry.result.survivors = vec![survivor.clone()];
    let survivors = vec![survivor];
    entry
        .result
        .notices
        .push(NoticeKind::Survivors { survivors }.into());
    let files = [FileChange::new(FileName::new("x"), Change::Deleted)];
    let (state, by) = (ChangesState::Done, ChangesBy::Overlay);
    let set = Changes::new(ChangesId(1), state, by, "/w").with_files(files);
    let line = "[Trial 1: nothing applied yet. 1 deleted: x.]".to_owned();
    let kind = NoticeKind::Changes { id: set.id, line };
    entry.result.notices.push(kind.into());
    entry.result.changes = Some(set);
    let html = page(vec![entry.clone()]).html();
    assert!(
        !html.contains("Notices") && !html.contains("nothing applied yet"),
        "{html}"
    );
    assert_eq!(html.matches("sleep 9").count(), 1, "{html}");
    // What no section has is still a notice.
    entry.result.survivors.clear();
    assert!(page(vec![entry]).html().contains("Notices"));
}

#[test]
fn a_description_is_in_the_row() {
    let mut entry = call("a", DONE, 0);
    entry.description = Some("Look around".to_owned());
    let html = page(vec![entry]).html();
    let row = part(&html, "<summary>", "</summary>");
    assert!(
        row.contains("<span class=\"about\">Look around</span>"),
        "{row}"
    );
}

#[test]
fn who_asked_to_leave_the_sandbox_why_and_what_was_answered_is_on_the_page() {
    for (allowed, answer) in [
        (Some(true), "the answer was yes"),
        (Some(false), "the answer was no: later"),
        (None, "nobody answered"),
    ] {
        let mut asked = call("make install", Status::Exited { code: 0 }, 0);
        let said = (allowed == Some(false)).then(|| "later".to_owned());
        let reason = "it writes to <b>/usr</b>".to_owned();
        asked.escalation = Some(Escalation {
            reason,
            allowed,
            answer: said,
        });
        let plain = call("ls", Status::Exited { code: 0 }, 1);
        let html = page(vec![asked, plain]).html();
        let want = format!(
            "asked to leave the sandbox: \u{201c}it writes to &lt;b&gt;/usr&lt;/b&gt;\u{201d}; {answer}"
        );
        assert!(html.contains(&want), "{html}");
        assert_eq!(html.matches("asked to leave the sandbox").count(), 1);
    }
}

/// A call with a set, in which one file was changed.
fn changing(id: u64, by: ChangesBy, state: ChangesState) -> JournalEntry {
    let files = [FileChange::new(FileName::new("own"), Change::Changed)];
    let mut entry = call("edit", DONE, 0);
    entry.result.changes = Some(Changes::new(ChangesId(id), state, by, "/w").with_files(files));
    entry
}

#[test]
fn what_a_call_left_running_has_changed_is_with_the_call() {
    let mut entry = call("loop &", DONE, 0);
    let (state, by) = (ChangesState::Done, ChangesBy::Trace);
    entry.result.changes = Some(Changes::new(ChangesId(1), state, by, "/w"));
    let mut survivor = Survivor::new(3, "loop", false);
    survivor.job = Some(JobId("7".to_owned()));
    entry.result.survivors.push(survivor);
    let mut page = page(vec![entry]);
    let files = [FileChange::new(FileName::new("tick"), Change::Created)];
    let late = Changes::new(ChangesId(2), ChangesState::Running, by, "/w").with_files(files);
    let filter = "data-kind=\"files\"";
    assert!(!page.html().contains(filter));
    page.background.insert(ChangesId(1), vec![late]);
    let mut job = JobLine::new(JobId("7".to_owned()), "running");
    job.is_running = true;
    page.jobs.push(job);
    let mut diff = Diff::of(FileChange::new(FileName::new("tick"), Change::Created));
    diff.text = Some("--- /dev/null\n+++ b/tick\n@@ -0,0 +1 @@\n+tock\n".to_owned());
    page.diffs.insert(ChangesId(2), vec![diff]);
    page.actions
        .insert(ChangesId(2), vec![Deed::new(Timestamp(BEGIN), "undone")]);
    let html = page.html();
    for wanted in [
        "data-kinds=\"files jobs\"",
        filter,
        ">later +1</span>",
        "Files, by what it left running<span class=\"note\"> · so far: it is still running",
        "<p class=\"deeds\"><span>22:13:20 undone</span></p>",
        "+tock",
    ] {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    // Nothing is running that is known to have ended, whoever else keeps the set open.
    page.jobs[0].is_running = false;
    let html = page.html();
    assert!(
        !html.contains("still running") && html.contains(" · as far as seen · /w"),
        "{html}"
    );
}

#[test]
fn what_was_done_with_changes_is_told_in_order() {
    let mut page = page(vec![changing(1, ChangesBy::Overlay, ChangesState::Done)]);
    let day = 86_400_000;
    let deeds = [(0, "committed"), (day, "undone but for <b>")];
    let deeds = deeds.map(|(after, what)| Deed::new(Timestamp(BEGIN + after), what));
    page.actions.insert(ChangesId(1), deeds.to_vec());
    let html = page.html();
    let wanted = "<p class=\"deeds\"><span>22:13:20 committed</span>\
        <span>2023-11-15 22:13:20 UTC undone but for &lt;b&gt;</span></p>";
    assert!(html.contains(wanted), "{html}");
}

#[test]
fn what_was_not_done_as_it_reads_is_marked_in_the_row() {
    let mut tried = changing(1, ChangesBy::Overlay, ChangesState::Held);
    let html = page(vec![tried.clone()]).html();
    let row = part(&html, "<summary>", "</summary>");
    assert!(row.contains("<span>trial</span>"), "{row}");
    tried.result.changes = None;
    let mut sandbox = Sandboxed::new(SandboxLevel::Off, Network::On, None);
    sandbox.escalated = true;
    tried.result.sandbox = Some(sandbox);
    tried.result.survivors = vec![Survivor::new(3, "sleep", false)];
    let html = page(vec![tried]).html();
    let row = part(&html, "<summary>", "</summary>");
    let wanted = "<span class=\"warn\">outside the sandbox</span> <span>left 1 running</span>";
    assert!(row.contains(wanted), "{row}");
}

#[test]
fn why_a_call_may_not_leave_the_sandbox_is_said_once() {
    let reason = "nobody may".to_owned();
    let status = Status::NotStarted {
        reason: reason.clone(),
    };
    let mut refused = call("curl x", status, 0);
    refused.escalation = Some(Escalation {
        reason: "it loads".to_owned(),
        allowed: Some(false),
        answer: Some(reason.clone()),
    });
    let html = page(vec![refused]).html();
    assert_eq!(html.matches(&reason).count(), 1, "{html}");
    assert!(html.contains("the answer was no<"), "{html}");
}

#[test]
fn the_output_of_survivors_is_named_once() {
    let mut entry = call("a & b &", DONE, 0);
    let mut page_jobs = Vec::new();
    for id in ["1", "2"] {
        let mut survivor = Survivor::new(3, "sleep", false);
        survivor.job = Some(JobId(id.to_owned()));
        entry.result.survivors.push(survivor);
        let mut job = JobLine::new(JobId(id.to_owned()), "running");
        job.output = Some("/state/artifacts/1".to_owned());
        page_jobs.push(job);
    }
    let mut page = page(vec![entry]);
    page.jobs = page_jobs;
    assert_eq!(page.html().matches("/state/artifacts/1").count(), 1);
}

#[test]
fn a_new_process_is_said_to_be_one() {
    let mut page = page(vec![call("a", DONE, 0), call("b", DONE, 1000)]);
    let began = "<li class=\"began\">";
    page.processes = vec![Timestamp(BEGIN)];
    assert!(!page.html().contains(began));
    page.processes.push(Timestamp(BEGIN + 1000));
    let html = page.html();
    assert_eq!(html.matches(began).count(), 1, "{html}");
    assert!(html.find(began) > html.find("id=\"c1\"") && html.find(began) < html.find("id=\"c2\""));
}

/// A job of this session with these processes alive.
fn job(id: &str, alive: &[u32]) -> JobLine {
    let mut job = JobLine::new(JobId(id.to_owned()), "running");
    job.is_running = !alive.is_empty();
    job.alive = Some(
        alive
            .iter()
            .map(|pid| (*pid, "sleep 2".to_owned()))
            .collect(),
    );
    job
}

#[test]
fn a_process_that_has_ended_does_not_run_because_its_job_does() {
    let mut entry = call("loop &", DONE, 0);
    for pid in [3, 4] {
        let mut survivor = Survivor::new(pid, "bash", false);
        survivor.job = Some(JobId("7".to_owned()));
        entry.result.survivors.push(survivor);
    }
    let mut page = page(vec![entry]);
    page.jobs = vec![job("7", &[3, 5])];
    let html = page.html();
    for wanted in [
        "Still alive afterwards<span class=\"note\"> · job 7 · still runs</span>",
        "pid 3 <code>bash</code> · runs<",
        "pid 4 <code>bash</code> · has ended<",
        "pid 5 <code>sleep 2</code> · started since, runs<",
        "<span class=\"warn\">still runs</span>",
    ] {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    // What is over is no mark like that of what runs.
    page.jobs = vec![job("7", &[])];
    let html = page.html();
    assert!(html.contains("<span>left 2, ended</span>"), "{html}");
    assert!(
        !html.contains("still runs") && !html.contains("class=\"open\""),
        "{html}"
    );
    // Nothing is known: it says what the record says.
    page.jobs.clear();
    assert!(page.html().contains("<span>left 2 running</span>"));
}

#[test]
fn what_is_not_over_is_said_first() {
    let mut left = call("loop &", DONE, 0);
    let mut survivor = Survivor::new(3, "loop", false);
    survivor.job = Some(JobId("7".to_owned()));
    left.result.survivors.push(survivor);
    let held = |id| changing(id, ChangesBy::Overlay, ChangesState::Held);
    let done = changing(4, ChangesBy::Overlay, ChangesState::Done);
    let mut page = page(vec![done, held(1), left, held(2)]);
    page.jobs = vec![job("7", &[3]), job("8", &[9])];
    let html = page.html();
    let said = part(&html, "<p class=\"open\">", "</p>");
    let wanted = "<span>1 job still runs: <a href=\"#c3\">#c3</a></span>\
        <span>2 trials wait for a decision: <a href=\"#c2\">#c2</a>, <a href=\"#c4\">#c4</a></span>";
    assert_eq!(said, wanted);
}

#[test]
fn who_saw_a_line_of_the_users_is_told_by_its_mark() {
    let mut own = call("ls", DONE, 0);
    own.by = Caller::User;
    let mut secret = own.clone();
    secret.excluded_from_context = true;
    let html = page(vec![own, secret]).html();
    assert!(html.contains("title=\"by the user\">! </span>ls"), "{html}");
    assert!(
        html.contains("title=\"by the user; no model saw it\">!! </span>ls"),
        "{html}"
    );
}

#[test]
fn what_goes_on_for_long_does_not_fill_the_page() {
    let mut entry = changing(1, ChangesBy::Trace, ChangesState::Done);
    entry.result.survivors.push(Survivor::new(3, "loop", false));
    let late = |id| {
        let files = [FileChange::new(FileName::new("tick"), Change::Changed)];
        Changes::new(ChangesId(id), ChangesState::Done, ChangesBy::Trace, "/w").with_files(files)
    };
    let mut page = page(vec![entry]);
    page.background
        .insert(ChangesId(1), (2..8).map(late).collect());
    let html = page.html();
    let (shown, folded) = html
        .split_once("and 4 more times, by what it left running")
        .unwrap();
    let title = "<h4>Files, by what it left running";
    assert_eq!(
        (shown.matches(title).count(), folded.matches(title).count()),
        (2, 4)
    );
    assert!(shown.contains(">later ~1</span>"), "{html}");
}

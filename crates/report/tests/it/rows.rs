//! The texts of the rows, the head and the sections.

use agent_bash_core::changes::{
    Change, Changes, ChangesBy, ChangesId, ChangesState, FileChange, FileName,
};
use agent_bash_core::sandbox::{Network, SandboxLevel, Sandboxed};
use agent_bash_core::{
    Caller, JobId, NoticeKind, ProfileName, Stage, Status, Survivor, Timestamp, ToolResult,
};
use agent_bash_journal::{Escalation, JournalContents, JournalEntry};
use agent_bash_report::{ChangesAction, Diff, JobLine, Page};

/// 2023-11-14 22:13:20 UTC.
pub(crate) const BEGIN: u64 = 1_700_000_000_000;

/// A call that began `after` milliseconds after `BEGIN`.
pub(crate) fn call(command: &str, status: Status, after: u64) -> JournalEntry {
    let mut result = ToolResult::new(status, "", Timestamp(BEGIN + after));
    result.cwd.push_str("/w");
    if result.status.exit_code() != 125 {
        result.duration_ms = 2000.0;
    }
    JournalEntry::new(Caller::Model, ProfileName::Standard, command, result)
}

pub(crate) fn page(entries: Vec<JournalEntry>) -> Page {
    let mut recorded = JournalContents::default();
    recorded.entries = entries;
    Page::new("chat", recorded, Timestamp(BEGIN))
}

const DONE: Status = Status::Exited { code: 0 };

/// Returns the text between the first `from` and the next `to`.
fn part<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let rest = html.split_once(from).map_or("", |(_, rest)| rest);
    rest.split_once(to).map_or("", |(part, _)| part)
}

#[test]
fn head_distinguishes_the_wall_clock_time_from_the_sum() {
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
fn empty_journal_says_so() {
    let html = page(Vec::new()).html();
    assert_eq!(
        part(&html, "<p class=\"summary\">", "</p>"),
        "No call of this session was recorded."
    );
    assert!(!html.contains("<figure") && !html.contains("<h2"), "{html}");
}

#[test]
fn each_day_has_a_heading_in_order() {
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
fn failure_that_the_exit_code_hides_is_in_the_row() {
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
fn invalid_request_is_refused_by_no_rule() {
    let reason = "`command` is empty".to_owned();
    let html = page(vec![call("", Status::NotStarted { reason }, 0)]).html();
    assert!(html.contains("(no command: the request was invalid)"));
    assert!(html.contains("data-kinds=\"failed\"") && !html.contains("data-kind=\"refused\""));
}

#[test]
fn row_of_a_job_shows_its_present_state() {
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
    let shown = |html: &str| {
        let delta = part(html, "<span class=\"delta\">", "<span class=\"took\">");
        let tags = delta
            .split('<')
            .map(|part| part.rsplit('>').next().unwrap_or_default());
        tags.collect::<String>()
    };
    assert_eq!(shown(&html), "1 outside");
    // Together with others, as in `agent-bash log`.
    let files = [FileChange::new(FileName::new("own"), Change::Changed)];
    let background = Changes::new(ChangesId(2), state, by, "/w").with_files(files);
    changes.counts.created = 1;
    entry.result.changes = Some(changes);
    let mut page = page(vec![entry]);
    page.background
        .insert(ChangesId(1), vec![background.clone(), background]);
    assert_eq!(shown(&page.html()), "+1, later ~1, 1 outside");
    page.maybe_earlier.insert(ChangesId(2));
    let html = page.html();
    assert_eq!(shown(&html), "+1, perhaps later ~1, 1 outside");
    let wanted = "by background processes of this call or an earlier one";
    assert!(html.contains(wanted), "{html}");
}

#[test]
fn no_fact_is_shown_twice() {
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
    // Without a section for survivors, the notice about them is shown.
    entry.result.survivors.clear();
    assert!(page(vec![entry]).html().contains("Notices"));
}

#[test]
fn description_is_in_the_row() {
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
fn request_to_leave_the_sandbox_is_shown_with_reason_and_answer() {
    for (allowed, answer) in [
        (Some(true), "the answer was yes"),
        (Some(false), "the answer was no: later"),
        (None, "there was no answer"),
    ] {
        let mut request = call("make install", Status::Exited { code: 0 }, 0);
        let reply = (allowed == Some(false)).then(|| "later".to_owned());
        let reason = "it writes to <b>/usr</b>".to_owned();
        request.escalation = Some(Escalation {
            reason,
            allowed,
            answer: reply,
        });
        let plain = call("ls", Status::Exited { code: 0 }, 1);
        let html = page(vec![request, plain]).html();
        let want = format!(
            "asked to leave the sandbox: \u{201c}it writes to &lt;b&gt;/usr&lt;/b&gt;\u{201d}; {answer}"
        );
        assert!(html.contains(&want), "{html}");
        assert_eq!(html.matches("asked to leave the sandbox").count(), 1);
    }
}

/// A call with a change set of one changed file.
fn changing(id: u64, by: ChangesBy, state: ChangesState) -> JournalEntry {
    let files = [FileChange::new(FileName::new("own"), Change::Changed)];
    let mut entry = call("edit", DONE, 0);
    entry.result.changes = Some(Changes::new(ChangesId(id), state, by, "/w").with_files(files));
    entry
}

#[test]
fn changes_of_background_processes_are_shown_with_their_call() {
    let mut entry = call("loop &", DONE, 0);
    let (state, by) = (ChangesState::Done, ChangesBy::Trace);
    entry.result.changes = Some(Changes::new(ChangesId(1), state, by, "/w"));
    let mut survivor = Survivor::new(3, "loop", false);
    survivor.job = Some(JobId("7".to_owned()));
    entry.result.survivors.push(survivor);
    let mut page = page(vec![entry]);
    let files = [FileChange::new(FileName::new("tick"), Change::Created)];
    let background = Changes::new(ChangesId(2), ChangesState::Running, by, "/w").with_files(files);
    let filter = "data-kind=\"files\"";
    assert!(!page.html().contains(filter));
    page.background.insert(ChangesId(1), vec![background]);
    let mut job = JobLine::new(JobId("7".to_owned()), "running");
    job.is_running = true;
    page.jobs.push(job);
    let mut diff = Diff::of(FileChange::new(FileName::new("tick"), Change::Created));
    diff.text = Some("--- /dev/null\n+++ b/tick\n@@ -0,0 +1 @@\n+tock\n".to_owned());
    page.diffs.insert(ChangesId(2), vec![diff]);
    page.actions.insert(
        ChangesId(2),
        vec![ChangesAction::new(Timestamp(BEGIN), "undone")],
    );
    let html = page.html();
    for wanted in [
        "data-kinds=\"files jobs\"",
        filter,
        ">later +1</span>",
        "Files, by its background processes<span class=\"note\"> · changes 2 · so far: it is still running",
        "<p class=\"actions\"><span>22:13:20 undone</span></p>",
        "+tock",
    ] {
        assert!(html.contains(wanted), "{wanted}: {html}");
    }
    // A job that has ended is not running, even if another process holds its change set open.
    page.jobs[0].is_running = false;
    let html = page.html();
    assert!(
        !html.contains("still running") && html.contains(" · so far as recorded · /w"),
        "{html}"
    );
}

#[test]
fn actions_on_changes_are_listed_in_order() {
    let mut page = page(vec![changing(1, ChangesBy::Overlay, ChangesState::Done)]);
    let day = 86_400_000;
    let actions = [(0, "committed"), (day, "undone but for <b>")];
    let actions = actions.map(|(after, what)| ChangesAction::new(Timestamp(BEGIN + after), what));
    page.actions.insert(ChangesId(1), actions.to_vec());
    let html = page.html();
    let wanted = "<p class=\"actions\"><span>22:13:20 committed</span>\
        <span>2023-11-15 22:13:20 UTC undone but for &lt;b&gt;</span></p>";
    assert!(html.contains(wanted), "{html}");
}

#[test]
fn call_that_did_not_run_as_it_reads_is_marked_in_its_row() {
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
fn reason_of_a_refused_escalation_is_shown_once() {
    let reason = "not allowed".to_owned();
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
fn output_of_survivors_is_named_once() {
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
fn new_process_of_the_session_is_marked() {
    let mut page = page(vec![call("a", DONE, 0), call("b", DONE, 1000)]);
    let began = "<li class=\"began\">";
    page.process_starts = vec![Timestamp(BEGIN)];
    assert!(!page.html().contains(began));
    page.process_starts.push(Timestamp(BEGIN + 1000));
    let html = page.html();
    assert_eq!(html.matches(began).count(), 1, "{html}");
    assert!(html.find(began) > html.find("id=\"c1\"") && html.find(began) < html.find("id=\"c2\""));
}

/// A job of this session with these running processes.
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
fn ended_process_is_not_shown_as_running_with_its_job() {
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
    // An ended job has another mark than a running one.
    page.jobs = vec![job("7", &[])];
    let html = page.html();
    assert!(html.contains("<span>left 2, ended</span>"), "{html}");
    assert!(
        !html.contains("still runs") && !html.contains("class=\"open\""),
        "{html}"
    );
    // Without knowledge of the present state, the page shows the recorded one.
    page.jobs.clear();
    assert!(page.html().contains("<span>left 2 running</span>"));
}

#[test]
fn unfinished_jobs_and_trials_are_shown_first() {
    let mut left = call("loop &", DONE, 0);
    let mut survivor = Survivor::new(3, "loop", false);
    survivor.job = Some(JobId("7".to_owned()));
    left.result.survivors.push(survivor);
    let held = |id| changing(id, ChangesBy::Overlay, ChangesState::Held);
    let done = changing(4, ChangesBy::Overlay, ChangesState::Done);
    let mut page = page(vec![done, held(1), left, held(2)]);
    page.jobs = vec![job("7", &[3]), job("8", &[9])];
    let html = page.html();
    let answer = part(&html, "<p class=\"open\">", "</p>");
    let wanted = "<span>1 job still runs: <a href=\"#c3\">#c3</a></span>\
        <span>2 trials wait for a decision: <a href=\"#c2\">#c2</a>, <a href=\"#c4\">#c4</a></span>";
    assert_eq!(answer, wanted);
}

#[test]
fn mark_of_a_users_command_says_if_the_model_saw_it() {
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
fn change_sets_of_a_long_running_process_are_folded() {
    let mut entry = changing(1, ChangesBy::Trace, ChangesState::Done);
    entry.result.survivors.push(Survivor::new(3, "loop", false));
    let background = |id| {
        let files = [FileChange::new(FileName::new("tick"), Change::Changed)];
        Changes::new(ChangesId(id), ChangesState::Done, ChangesBy::Trace, "/w").with_files(files)
    };
    let mut page = page(vec![entry]);
    page.background
        .insert(ChangesId(1), (2..8).map(background).collect());
    let html = page.html();
    let (shown, folded) = html
        .split_once("and 4 more times, by its background processes")
        .unwrap();
    let title = "<h4>Files, by its background processes";
    assert_eq!(
        (shown.matches(title).count(), folded.matches(title).count()),
        (2, 4)
    );
    assert!(shown.contains(">later ~1</span>"), "{html}");
}

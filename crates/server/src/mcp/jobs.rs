//! `bash_output`, `bash_input`, `bash_kill`, `bash_jobs`: background jobs, and calls with a handle.

use super::job_texts::{call_state, condition_text, ending, first_line, job_state, with_line};
use super::output_so_far::OutputSoFar;
use super::remote;
use super::tools::{InputArgs, KillArgs, OutputArgs, PART_WINDOW};
use crate::into_data::IntoData;
use crate::jobs::{DEFAULT_GRACE, duration, write_input};
use crate::stored_output;
use agent_bash::Conversation;
use agent_bash::core::{Cancel, Clock, JobId, MetCondition, ToolResult, Until, Window, lock};
use agent_bash::exec::{JobError, JobOutput, JobState, Jobs, OutputRange};
use agent_bash::tools::clean;
use agent_bash::{mask_condition, mask_job_output};
use agent_bash_protocol::data::{JobData, JobKillData, JobOutputData};
use agent_bash_running::terminal;
use agent_bash_running::until::wait_until;
use agent_bash_running::{RunningCall, RunningCalls};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::slice;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Maximum wait of `bash_output`: clients time out after 60 s.
const MAX_WAIT: Duration = Duration::from_secs(50);

#[derive(Debug)]
pub(super) struct ToolAnswer {
    pub(super) text: String,
    pub(super) data: Value,
    pub(super) is_error: bool,
}

impl ToolAnswer {
    /// Returns an answer that is no error.
    pub(super) fn new(text: String, data: Value) -> Self {
        Self {
            text,
            data,
            is_error: false,
        }
    }

    /// Returns the answer for a finished call of `bash`.
    pub(super) fn of_bash(result: ToolResult) -> Self {
        Self {
            is_error: result.is_error,
            data: json!(result),
            text: result.text,
        }
    }

    /// Returns the answer as the client gets it.
    pub(super) fn into_mcp(self, structured: bool) -> CallToolResult {
        let shown = vec![ContentBlock::text(self.text)];
        let mut result = if self.is_error {
            CallToolResult::error(shown)
        } else {
            CallToolResult::success(shown)
        };
        // Clients refuse structured content that is not an object.
        let structured = structured.then_some(self.data);
        result.structured_content = structured.filter(Value::is_object);
        result
    }
}

/// The job tools, with the position up to which the client has read each job's output.
#[derive(Debug)]
pub(super) struct JobTools {
    pub(super) session: Arc<Conversation>,
    calls: Arc<RunningCalls>,
    pub(super) clock: Arc<dyn Clock>,
    /// Per job, the offset from which `bash_output` reads next.
    next_offsets: Mutex<BTreeMap<String, u64>>,
}

impl JobTools {
    pub(super) fn new(
        session: Arc<Conversation>,
        calls: Arc<RunningCalls>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            session,
            calls,
            clock,
            next_offsets: Mutex::default(),
        }
    }

    /// Serves `bash_output`.
    pub(super) async fn output(
        &self,
        args: OutputArgs,
        window: Option<Window>,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        let window = window.map_or(PART_WINDOW, |window| PART_WINDOW.and(window));
        let wait = wait_limit(args.wait.as_ref(), &args.until)?;
        let name = args.job.text();
        let offset = args.offset.unwrap_or_else(|| self.next_offset(&name));
        let condition = (&args.until, offset);
        if let Some(call) = self.call(&name) {
            let answer = self.call_output(&name, &call, &args, wait, window, cancel);
            return answer.await;
        }
        if let Some(remote_host) = self.session.remote_host() {
            let part = match args.tail {
                Some(lines) => {
                    let lines = NonZeroU64::new(lines.min(window.lines as u64));
                    remote::OutputRange::LastLines(lines.unwrap_or(NonZeroU64::MIN))
                }
                None => remote::OutputRange::From(offset),
            };
            let mut met = None;
            if let Some(wait) = wait {
                met = remote::wait(&**remote_host, &name, condition, wait, cancel).await?;
            }
            let mut data = remote::output(&**remote_host, &name, part, cancel).await?;
            keep_text_within(&mut data, window);
            data.text = clean(data.text.as_bytes());
            return Ok(self.part_answer(name, &data, met.as_ref(), &args.until));
        }
        let jobs = self.jobs()?;
        let id = JobId(name.clone());
        let mut met = None;
        if let Some(wait) = wait {
            let waited = wait_until(jobs, &id, condition, Some(wait), cancel).await;
            met = waited.map_err(to_text)?.met;
        }
        let max_bytes = window.bytes;
        let range = match args.tail {
            Some(lines) => OutputRange::Tail {
                lines: lines.min(window.lines as u64),
                max_bytes,
            },
            // Another answer may have shown output since the wait began.
            None => OutputRange::From {
                offset: args.offset.unwrap_or_else(|| self.next_offset(&name)),
                max_bytes,
            },
        };
        let jobs = Arc::clone(jobs);
        let part = agent_bash::run_blocking(move || read_output(&jobs, &id, range));
        let mut part = part.await.map_err(to_text)?.map_err(to_text)?;
        self.jobs()?
            .find_ports(slice::from_mut(&mut part.job))
            .await;
        if args.tail.is_none() {
            keep_within(&mut part, window);
        }
        let mask = self.session.tool().output_mask();
        mask_job_output(mask.map(|mask| &**mask), &mut part);
        mask_condition(mask.map(|mask| &**mask), &mut met);
        let bytes = part.bytes.clone();
        let mut data: JobOutputData = part.into_data();
        data.text = clean(&bytes);
        Ok(self.part_answer(name, &data, met.as_ref(), &args.until))
    }

    /// Returns the answer for a part of a job's output, and marks the part as read.
    fn part_answer(
        &self,
        name: String,
        data: &JobOutputData,
        met: Option<&MetCondition>,
        until: &Until,
    ) -> ToolAnswer {
        lock(&self.next_offsets).insert(name, data.next);
        let more = if data.at_end {
            String::new()
        } else {
            format!(" More follows: call again, or with offset {}.", data.next)
        };
        let condition = condition_text(met, until);
        let not_stored = match data.job.output {
            Some(_) => "",
            None => " Its output is not stored.",
        };
        let (id, state) = (&data.job.id, job_state(&data.job));
        let line = format!("[Job {id} {state}.{condition}{not_stored}{more}]");
        let mut answer = json!(data);
        if let Some(met) = met.filter(|_| !until.is_end()) {
            answer["met"] = json!(met);
        }
        ToolAnswer::new(with_line(&data.text, &line), answer)
    }

    /// Serves `bash_output` for a call with a handle.
    async fn call_output(
        &self,
        name: &str,
        call: &RunningCall,
        args: &OutputArgs,
        wait: Option<Duration>,
        window: Window,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        let mut met = None;
        if let Some(wait) = wait {
            let from = args.offset.unwrap_or_else(|| call.unread_from());
            let (session, clock, until) = (&self.session, &*self.clock, (&args.until, from));
            met = terminal::wait_for(session, clock, call, until, Some(wait), cancel).await?;
        }
        if let Some(answer) = answer_if_ended(name, call) {
            return Ok(answer);
        }
        if call.is_on_terminal() {
            return Ok(self.screen_answer(name, call, met.as_ref(), &args.until));
        }
        let tail = args
            .tail
            .map(|lines| NonZeroU64::new(lines).unwrap_or(NonZeroU64::MIN));
        let requested_offset = tail.map(|_| 0).or(args.offset);
        let part = call.read(requested_offset);
        let so_far = OutputSoFar::of(
            &part,
            requested_offset.unwrap_or(part.unread_from),
            tail,
            window,
        );
        let next = so_far.output.total_bytes;
        let total = next + part.output.held as u64;
        let shown = so_far
            .shown_range()
            .map(|shown| format!(" Showing {shown}."))
            .unwrap_or_default();
        let condition = condition_text(met.as_ref(), &args.until);
        let line = format!("[{name} is running: {total} bytes so far.{condition}{shown}]");
        Ok(ToolAnswer::new(
            with_line(&so_far.text, &line),
            json!({
                "text": so_far.text,
                "from": so_far.from,
                "next": next,
                "at_end": true,
                "complete": false,
                "job": call_data(name, call),
            }),
        ))
    }

    /// Serves `bash_input`.
    pub(super) async fn input(
        &self,
        args: InputArgs,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        let name = args.job.text();
        let wait = wait_limit(args.wait.as_ref(), &args.until)?;
        if let Some(call) = self.call(&name) {
            if call.is_on_terminal() {
                return self
                    .terminal_input((&name, &call), &args, wait, cancel)
                    .await;
            }
            return Err(format!(
                "{name} takes no input: only background jobs with `stdin: pipe` and calls with `pty: true` do"
            ));
        }
        if !args.keys.is_empty() || args.size.is_some() || wait.is_some() {
            return Err(format!(
                "job {name} has no terminal: only a call with `pty: true` has `keys`, `size`, `wait` and `until`"
            ));
        }
        let id = JobId(name);
        let job: JobData = if let Some(remote_host) = self.session.remote_host() {
            remote::write_input(&**remote_host, &id.0, &args.text, args.close, cancel).await?
        } else {
            let fed = write_input(&self.session, &id, &args.text, args.close, cancel);
            fed.await?.into_data()
        };
        let done = match (args.text.len(), args.close) {
            (bytes, false) => format!("{bytes} bytes were written to job {id}."),
            (0, true) => format!("The input of job {id} was ended."),
            (bytes, true) => {
                format!("{bytes} bytes were written to job {id}; its input was ended.")
            }
        };
        Ok(ToolAnswer::new(done, json!({ "job": job })))
    }

    /// Serves `bash_kill`.
    pub(super) async fn kill(
        &self,
        args: &KillArgs,
        cancel: &Cancel,
    ) -> Result<ToolAnswer, String> {
        let name = args.job.text();
        if let Some(call) = self.call(&name) {
            call.cancel.cancel();
            let finished_call = call.ended().await;
            let result = finished_call.as_ref().map(|finished| &finished.result);
            let text = result.map_or("", |result| &result.text);
            return Ok(ToolAnswer::new(
                with_line(text, &format!("[{name} has ended.]")),
                json!({ "job": call_data(&name, &call), "result": result }),
            ));
        }
        let killed = if let Some(remote_host) = self.session.remote_host() {
            remote::kill(&**remote_host, &name, cancel).await?
        } else {
            let killed = self
                .jobs()?
                .kill(&JobId(name), DEFAULT_GRACE)
                .await
                .map_err(to_text)?;
            JobKillData {
                job: killed.job.into_data(),
                survivors: killed.survivors,
            }
        };
        let job = &killed.job;
        let mut text = format!("Job {} {}.", job.id, ending(&job.state));
        for survivor in &killed.survivors {
            let (pid, command) = (survivor.pid, &survivor.command);
            let _ = write!(text, "\npid {pid} is still alive: {command}");
        }
        Ok(ToolAnswer {
            text,
            is_error: !killed.survivors.is_empty(),
            data: json!({ "job": job, "survivors": killed.survivors }),
        })
    }

    /// Serves `bash_jobs`.
    pub(super) async fn list(&self, cancel: &Cancel) -> Result<ToolAnswer, String> {
        let jobs: Vec<JobData> = match (self.session.remote_host(), self.session.jobs()) {
            (Some(remote_host), _) => remote::jobs(&**remote_host, cancel).await?,
            (None, Some(jobs)) => {
                let jobs = jobs.list_with_ports(None).await.map_err(to_text)?;
                jobs.into_iter().map(IntoData::into_data).collect()
            }
            (None, None) => Vec::new(),
        };
        let calls = self.calls.list().into_iter();
        let calls: Vec<_> = calls
            .map(|(number, call)| (call_name(number), call))
            .collect();
        let mut text = String::new();
        for job in &jobs {
            let (id, pid, state) = (&job.id, job.pid, job_state(job));
            let _ = writeln!(
                text,
                "{id}  pid {pid}  {state}  {}",
                first_line(&job.command)
            );
        }
        for (name, call) in &calls {
            let state = call_state(call);
            let _ = writeln!(text, "{name}  {state}  {}", first_line(&call.command));
        }
        if text.is_empty() {
            text.push_str("There are no jobs.");
        }
        let calls: Vec<Value> = calls
            .iter()
            .map(|(name, call)| call_data(name, call))
            .collect();
        Ok(ToolAnswer::new(
            text,
            json!({ "jobs": jobs, "calls": calls }),
        ))
    }

    fn jobs(&self) -> Result<&Arc<Jobs>, String> {
        stored_output::jobs(&self.session).map_err(to_text)
    }

    fn call(&self, name: &str) -> Option<Arc<RunningCall>> {
        let number = name.strip_prefix(CALL_PREFIX)?.parse().ok()?;
        self.calls.find(number)
    }

    /// Returns the offset from which `bash_output` reads a job next.
    fn next_offset(&self, job: &str) -> u64 {
        lock(&self.next_offsets).get(job).copied().unwrap_or(0)
    }
}

/// Returns how long an answer may wait: until `until`, at most for `wait`; `None` not to wait.
fn wait_limit(wait: Option<&Value>, until: &Until) -> Result<Option<Duration>, String> {
    let wait = wait.map(|wait| duration("wait", wait)).transpose()?;
    let wait = wait.or((!until.is_end()).then_some(MAX_WAIT));
    Ok(wait.map(|wait| wait.min(MAX_WAIT)))
}

/// Job names are numbers; the prefix keeps call names distinct from them.
const CALL_PREFIX: &str = "call-";

/// Returns the name of a call with a handle.
pub(super) fn call_name(number: u64) -> String {
    format!("{CALL_PREFIX}{number}")
}

/// Returns the data of a call with a handle.
pub(super) fn call_data(name: &str, call: &RunningCall) -> Value {
    let (pid, group) = call.process().unzip();
    json!({
        "id": name,
        "kind": "call",
        "command": call.command,
        "pid": pid,
        "pgid": group,
        "total_bytes": call.total_bytes(),
        "status": call.finished_call().map(|finished_call| finished_call.result.status.clone()),
    })
}

/// Returns the result of a call as an answer; `None` if the call still runs.
pub(super) fn answer_if_ended(name: &str, call: &RunningCall) -> Option<ToolAnswer> {
    let result = terminal::result(call)?;
    Some(ToolAnswer {
        text: result.text.clone(),
        is_error: result.is_error,
        data: json!({ "job": call_data(name, call), "result": result }),
    })
}

/// Reads a part of a job's output. The output of a surviving process may not be stored. Then the
/// part is empty: the model still learns whether the process runs, and on which ports it listens.
fn read_output(jobs: &Jobs, id: &JobId, range: OutputRange) -> Result<JobOutput, JobError> {
    match jobs.output(id, range) {
        Err(JobError::NoOutput { .. }) => jobs.show(id).map(|job| JobOutput {
            bytes: Vec::new(),
            from: 0,
            next: 0,
            at_end: true,
            complete: !matches!(job.state, JobState::Running),
            job,
        }),
        part => part,
    }
}

/// Shortens a part to a window; the next read returns the remainder.
fn keep_within(part: &mut JobOutput, window: Window) {
    let keep = length_within(&part.bytes, part.at_end, window);
    if keep < part.bytes.len() {
        part.bytes.truncate(keep);
        part.next = part.from + keep as u64;
        part.at_end = false;
        part.complete = false;
    }
}

/// Shortens a part from a remote host to a window. A part with invalid UTF-8 is not shortened,
/// because the offsets after replaced bytes are unknown.
fn keep_text_within(part: &mut JobOutputData, window: Window) {
    let is_exact = part.next.checked_sub(part.from) == Some(part.text.len() as u64);
    let mut keep = length_within(part.text.as_bytes(), part.at_end, window);
    while !part.text.is_char_boundary(keep) {
        keep -= 1;
    }
    if is_exact && keep > 0 && keep < part.text.len() {
        part.text.truncate(keep);
        part.next = part.from + keep as u64;
        part.at_end = false;
        part.complete = false;
    }
}

/// Returns the length of a part that fits into a window, up to the end of a line if possible.
fn length_within(bytes: &[u8], at_end: bool, window: Window) -> usize {
    let mut keep = bytes.len();
    let ends = bytes.iter().enumerate();
    let mut ends = ends.filter(|(_, byte)| **byte == b'\n');
    if let Some((end, _)) = ends.nth(window.lines.saturating_sub(1)) {
        keep = end + 1;
    }
    // Invalid UTF-8 takes more space as text than in the file.
    while keep > 1 && clean(&bytes[..keep]).len() > window.bytes {
        keep /= 2;
    }
    // End the part at a line end if there is one.
    let continues = keep < bytes.len() || !at_end;
    if let Some(end) = bytes[..keep].iter().rposition(|byte| *byte == b'\n')
        && continues
    {
        keep = end + 1;
    }
    keep
}

pub(super) fn to_text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

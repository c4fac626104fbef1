//! The lines below a card's output: what of it the model saw, what is still running, what was denied.

use crate::styled_line::wrapped;
use crate::{Theme, result_rows, words};
use agent_bash_core::sandbox::Access;
use agent_bash_core::visible::one_line;
use agent_bash_core::{
    ArtifactRef, Notice, NoticeKind, SizeStyle, Survivor, ToolResult, TruncatedBy, size_text,
};
use ratatui::text::Line;

/// Survivors that are listed.
const SURVIVORS: usize = 3;

/// Denied accesses that are listed.
const DENIED: usize = 3;

/// A line below the output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FooterLine {
    /// The result does not hold all of the output.
    Truncated {
        /// Where the full output is, for example `artifact://3`.
        uri: Option<String>,
        /// How many bytes of its beginning that has, if it was longer than what is kept at most.
        first: Option<u64>,
        /// The `head` or `tail` that was not run, but applied to the output. The full output is what it was given.
        filter: Option<String>,
        /// Bytes in the result.
        shown: u64,
        /// Bytes printed.
        total: u64,
    },
    /// A process that was still running when its call had ended.
    Survivor {
        /// Its process id.
        pid: u32,
        /// Its command line.
        command: String,
        /// The job it became, if it was adopted.
        job: Option<String>,
        /// It is known to have ended since.
        has_ended: bool,
    },
    /// An access that the sandbox denied.
    Denied {
        /// The file.
        path: String,
        /// What was denied.
        access: Access,
    },
    /// Attempts to reach the network that the sandbox refused, in words.
    Unreached(String),
    /// A tool that is better suited.
    UseTool(String),
    /// Something that the person can do.
    Offer(String),
    /// A notice.
    Notice(String),
}

impl FooterLine {
    /// What of a call is still running.
    pub fn survivors(survivors: &[Survivor]) -> Vec<Self> {
        let named = survivors.iter().take(SURVIVORS);
        let mut remarks: Vec<Self> = named
            .map(|survivor| Self::Survivor {
                pid: survivor.pid,
                command: survivor.command.clone(),
                job: survivor.job.as_ref().map(ToString::to_string),
                has_ended: false,
            })
            .collect();
        let more = survivors.len().saturating_sub(SURVIVORS);
        if more > 0 {
            let verb = if more == 1 {
                "process was"
            } else {
                "processes were"
            };
            remarks.push(Self::Notice(format!(
                "and {more} more {verb} still running"
            )));
        }
        remarks
    }

    /// What a model is told, unless a card says it in another way, or the person has seen it come.
    pub fn from_notice(notice: &Notice) -> Option<Self> {
        let is_said = matches!(
            notice.kind,
            NoticeKind::Survivors { .. }
                | NoticeKind::SandboxDenied { .. }
                | NoticeKind::SandboxNetwork { .. }
                | NoticeKind::Changes { .. }
                | NoticeKind::Overwritten { .. }
        );
        let is_told = notice.kind.is_for_model() && !is_said;
        is_told.then(|| Self::Notice(notice.text.clone()))
    }

    pub(crate) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (text, style) = match self {
            Self::Truncated {
                uri,
                first,
                filter,
                shown,
                total,
            } => {
                // Of how much it was given a filter would print is not known.
                let seen = match filter {
                    Some(_) => size_text(*shown, SizeStyle::Spaced),
                    None => words::part(*shown, *total),
                };
                let seen = format!("the model saw {seen}");
                let text = stored_output(&seen, uri.as_deref(), *first, filter.as_deref());
                (text, theme.warning)
            }
            Self::Survivor {
                pid,
                command,
                job,
                has_ended,
            } => {
                let job = job
                    .as_ref()
                    .map(|job| format!(" as job {job}"))
                    .unwrap_or_default();
                let (state, style) = match has_ended {
                    false => (format!("↯ still running{job}"), theme.warning),
                    true => {
                        let said = format!("· went on{job} after the command, and has ended");
                        (said, theme.dim)
                    }
                };
                (format!("{state}: pid {pid} {}", one_line(command)), style)
            }
            Self::Denied { path, access } => {
                let what = match access {
                    Access::Read => "read",
                    Access::Write => "written",
                };
                (
                    format!("⊘ cannot be {what} in the sandbox: {}", one_line(path)),
                    theme.warning,
                )
            }
            Self::Unreached(text) => (format!("⊘ {text}"), theme.warning),
            Self::UseTool(tool) => (format!("→ use the `{tool}` tool instead"), theme.accent),
            Self::Offer(text) => (format!("→ {text}"), theme.accent),
            Self::Notice(text) => (format!("[{text}]"), theme.dim),
        };
        wrapped(&text, width, style)
    }
}

/// Those of a call that has ended.
pub(crate) fn remarks(result: &ToolResult) -> Vec<FooterLine> {
    let mut remarks = Vec::new();
    let artifact = result.artifacts.first();
    let first = artifact.and_then(kept_of);
    let filter = result_rows::filter(result);
    if result.output.truncated_by == Some(TruncatedBy::HeadTail) {
        // The command asked for no more. What the card shows is the model's text, which names a file that has all.
        let offer = format!("ctrl+f shows {}", what(first, filter));
        remarks.extend(artifact.map(|_| FooterLine::Offer(offer)));
    } else if result.output.truncated {
        remarks.push(FooterLine::Truncated {
            uri: artifact.map(|artifact| artifact.uri.clone()),
            first,
            filter: filter.map(str::to_owned),
            shown: result.output.shown_bytes,
            total: result.output.total_bytes,
        });
    }
    remarks.extend(FooterLine::survivors(&result.survivors));
    let denied = result.sandbox.iter().flat_map(|said| &said.denied);
    remarks.extend(
        denied
            .clone()
            .take(DENIED)
            .map(|denied| FooterLine::Denied {
                path: denied.path.clone(),
                access: denied.access,
            }),
    );
    let more = denied.count().saturating_sub(DENIED);
    if more > 0 {
        remarks.push(FooterLine::Notice(format!("and {more} more were denied")));
    }
    let notices = result.notices.iter();
    let unreached = notices.filter(|it| matches!(it.kind, NoticeKind::SandboxNetwork { .. }));
    remarks.extend(
        unreached.map(|it| FooterLine::Unreached(it.text.trim_end_matches('.').to_owned())),
    );
    remarks.extend(result.suggested_tool.clone().map(FooterLine::UseTool));
    let is_typed =
        |kind: &NoticeKind| filter.is_some() && matches!(kind, NoticeKind::HeadSatisfied { .. });
    let told = result.notices.iter().filter(|it| !is_typed(&it.kind));
    remarks.extend(told.filter_map(FooterLine::from_notice));
    remarks
}

/// How many bytes are kept of an output that was longer than what is kept at most.
fn kept_of(artifact: &ArtifactRef) -> Option<u64> {
    (!artifact.complete).then_some(artifact.bytes)
}

/// What a file has: all of an output or its beginning, which is more than the command would print if a filter was not run.
fn what(first: Option<u64>, filter: Option<&str>) -> String {
    let first = first.map(|bytes| format!("the first {}", size_text(bytes, SizeStyle::Spaced)));
    match (first, filter) {
        (None, None) => "all of it".to_owned(),
        (Some(first), None) => first,
        (None, Some(filter)) => format!("all that `{}` was given", one_line(filter)),
        (Some(first), Some(filter)) => {
            format!("{first} of what `{}` was given", one_line(filter))
        }
    }
}

/// Something about an output that is longer than what is shown, and how to see what is kept of it.
pub(crate) fn stored_output(
    about: &str,
    uri: Option<&str>,
    first: Option<u64>,
    filter: Option<&str>,
) -> String {
    match uri {
        Some(uri) => format!("[{about} · ctrl+f shows {}: {uri}]", what(first, filter)),
        None => format!("[{about} · the rest was not kept]"),
    }
}

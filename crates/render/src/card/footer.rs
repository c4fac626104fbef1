//! The lines below a card's output: the part that the model saw, running processes, denied
//! accesses.

use crate::card::result_rows;
use crate::text::styled_line::wrapped;
use crate::{Theme, call_summary};
use agent_bash_core::sandbox::Access;
use agent_bash_core::visible::one_line;
use agent_bash_core::{
    ArtifactRef, Notice, NoticeKind, SizeStyle, Survivor, ToolResult, TruncatedBy, listens_on,
    size_text,
};
use ratatui::text::Line;

/// Maximum number of survivors listed.
const MAX_SURVIVORS: usize = 3;

/// Maximum number of denied accesses listed.
const MAX_DENIED: usize = 3;

/// A line below the output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FooterLine {
    /// The result does not contain the whole output.
    Truncated {
        /// The stored full output, for example `artifact://3`.
        uri: Option<String>,
        /// Number of stored bytes from the beginning, if the output exceeded the limit of a stored
        /// output.
        first: Option<u64>,
        /// The `head` or `tail` that was applied to the output instead of being run. The stored
        /// output is its input.
        filter: Option<String>,
        /// Bytes in the result.
        shown: u64,
        /// Bytes printed.
        total: u64,
    },
    /// A process that still ran when its call had ended.
    Survivor {
        /// The process id.
        pid: u32,
        /// The command line.
        command: String,
        /// The job that adopted the process, if one did.
        job: Option<String>,
        /// True if the process is known to have ended since.
        has_ended: bool,
    },
    /// An access that the sandbox denied.
    Denied {
        /// The file.
        path: String,
        /// The denied access.
        access: Access,
    },
    /// A text about network connections that the sandbox refused.
    NetworkRefused(String),
    /// The model's tool that is better suited.
    UseTool(String),
    /// An action that the user can take.
    Offer(String),
    /// A notice.
    Notice(String),
}

impl FooterLine {
    /// The lines about running processes of a call.
    pub fn survivors(survivors: &[Survivor]) -> Vec<Self> {
        let listed = survivors.iter().take(MAX_SURVIVORS);
        let mut footer: Vec<Self> = listed
            .map(|survivor| Self::Survivor {
                pid: survivor.pid,
                command: format!("{}{}", survivor.command, listens_on(&survivor.listens_on)),
                job: survivor.job.as_ref().map(ToString::to_string),
                has_ended: false,
            })
            .collect();
        let more = survivors.len().saturating_sub(MAX_SURVIVORS);
        if more > 0 {
            let verb = if more == 1 {
                "process was"
            } else {
                "processes were"
            };
            footer.push(Self::Notice(format!(
                "and {more} more {verb} still running"
            )));
        }
        footer
    }

    /// Returns the line for a notice to the model; `None` if the card shows the same fact
    /// elsewhere, or if the user caused it.
    pub fn from_notice(notice: &Notice) -> Option<Self> {
        let is_shown_elsewhere = matches!(
            notice.kind,
            NoticeKind::Survivors { .. }
                | NoticeKind::SandboxDenied { .. }
                | NoticeKind::SandboxNetwork { .. }
                | NoticeKind::SandboxHosts { .. }
                | NoticeKind::Changes { .. }
                | NoticeKind::Overwritten { .. }
        );
        let is_listed = notice.kind.is_for_model() && !is_shown_elsewhere;
        is_listed.then(|| Self::Notice(notice.text.clone()))
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
                // The size of the filter's output for its whole input is unknown, because the
                // filter was not run.
                let size = match filter {
                    Some(_) => size_text(*shown, SizeStyle::Spaced),
                    None => call_summary::part_of(*shown, *total),
                };
                let about = format!("the model saw {size}");
                let text = stored_output(&about, uri.as_deref(), *first, filter.as_deref());
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
                        let text = format!("· ran on{job} after the command, and has ended");
                        (text, theme.dim)
                    }
                };
                (format!("{state}: pid {pid} {}", one_line(command)), style)
            }
            Self::Denied { path, access } => {
                let verb = match access {
                    Access::Read => "read",
                    Access::Write => "written",
                };
                (
                    format!("⊘ cannot be {verb} in the sandbox: {}", one_line(path)),
                    theme.warning,
                )
            }
            Self::NetworkRefused(text) => (format!("⊘ {text}"), theme.warning),
            Self::UseTool(tool) => (format!("→ use the `{tool}` tool instead"), theme.accent),
            Self::Offer(text) => (format!("→ {text}"), theme.accent),
            Self::Notice(text) => (format!("[{text}]"), theme.dim),
        };
        wrapped(&text, width, style)
    }
}

/// The lines for a call that has ended.
pub(crate) fn footer(result: &ToolResult) -> Vec<FooterLine> {
    let mut footer = Vec::new();
    let artifact = result.artifacts.first();
    let first = artifact.and_then(stored_bytes);
    let filter = result_rows::filter(result);
    if result.output.truncated_by == Some(TruncatedBy::HeadTail) {
        // The command itself asked for a part of its output. The card shows the model's text, which
        // names the file with the full output.
        let offer = format!("ctrl+f shows {}", stored_part_text(first, filter));
        footer.extend(artifact.map(|_| FooterLine::Offer(offer)));
    } else if result.output.truncated {
        footer.push(FooterLine::Truncated {
            uri: artifact.map(|artifact| artifact.uri.clone()),
            first,
            filter: filter.map(str::to_owned),
            shown: result.output.shown_bytes,
            total: result.output.total_bytes,
        });
    }
    footer.extend(FooterLine::survivors(&result.survivors));
    let denied = result.sandbox.iter().flat_map(|sandbox| &sandbox.denied);
    footer.extend(
        denied
            .clone()
            .take(MAX_DENIED)
            .map(|denied| FooterLine::Denied {
                path: denied.path.clone(),
                access: denied.access,
            }),
    );
    let more = denied.count().saturating_sub(MAX_DENIED);
    if more > 0 {
        footer.push(FooterLine::Notice(format!("and {more} more were denied")));
    }
    let notices = result.notices.iter();
    let refused = notices.filter(|notice| {
        matches!(
            notice.kind,
            NoticeKind::SandboxNetwork { .. } | NoticeKind::SandboxHosts { .. }
        )
    });
    footer
        .extend(refused.map(|notice| {
            FooterLine::NetworkRefused(notice.text.trim_end_matches('.').to_owned())
        }));
    footer.extend(result.suggested_tool.clone().map(FooterLine::UseTool));
    let is_in_size_line =
        |kind: &NoticeKind| filter.is_some() && matches!(kind, NoticeKind::HeadSatisfied { .. });
    let notices = result
        .notices
        .iter()
        .filter(|notice| !is_in_size_line(&notice.kind));
    footer.extend(notices.filter_map(FooterLine::from_notice));
    footer
}

/// Number of stored bytes of an output that exceeded the limit of a stored output.
fn stored_bytes(artifact: &ArtifactRef) -> Option<u64> {
    (!artifact.complete).then_some(artifact.bytes)
}

/// Names the stored part of an output: all of it, or its beginning. If a filter was not run, the
/// stored output is the filter's input.
fn stored_part_text(first: Option<u64>, filter: Option<&str>) -> String {
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

/// A line about an output that is longer than shown, with the way to see the stored part.
pub(crate) fn stored_output(
    about: &str,
    uri: Option<&str>,
    first: Option<u64>,
    filter: Option<&str>,
) -> String {
    match uri {
        Some(uri) => format!(
            "[{about} · ctrl+f shows {}: {uri}]",
            stored_part_text(first, filter)
        ),
        None => format!("[{about} · the rest was not stored]"),
    }
}

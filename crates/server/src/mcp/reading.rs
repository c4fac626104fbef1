//! `read_artifact` (under `paged`: `view`), and artifacts as resources.

use super::jobs::{Answer, with_line};
use super::tools::ReadArgs;
use crate::into_data::IntoData;
use crate::kept;
use agent_bash::Session;
use agent_bash::core::Window;
use agent_bash::sink::{DEFAULT_LINES, MAX_PAGE, Search};
use agent_bash_protocol::data::{FoundData, PageData};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;

/// Default number of matches shown.
const MATCHES: u64 = 200;

/// How much of a command is used to name its output.
const NAMED: usize = 80;

/// Reads a page, or the matching lines.
pub(super) fn read(
    session: &Session,
    args: &ReadArgs,
    window: Option<Window>,
) -> Result<Answer, String> {
    let mut view = kept::open(session, &args.id.text()).map_err(text)?;
    let mut most = u64::MAX;
    if let Some(window) = window {
        view = view.pages_of(window);
        most = window.lines as u64;
    }
    let offset = args.offset.unwrap_or(1).max(1);
    let Some(pattern) = &args.pattern else {
        let limit = args.limit.unwrap_or(DEFAULT_LINES);
        let page = match args.byte {
            Some(byte) => view.bytes(byte, MAX_PAGE as u64),
            None => view.lines(offset, Some(limit)),
        };
        let page: PageData = page.map_err(text)?.into_data();
        return Ok(Answer {
            text: with_hint(&page.text, page.hint.as_deref()),
            data: json!(page),
            is_error: false,
        });
    };
    // Each match comes with context lines and a separator line.
    let around = args
        .context
        .min(usize::try_from(most / 4).unwrap_or(usize::MAX));
    let matches = args.limit.unwrap_or(MATCHES);
    let matches = matches.min(most / (2 * around as u64 + 2)).max(1);
    let search = Search {
        pattern: pattern.clone(),
        before: around,
        after: around,
        from_line: offset,
        max_matches: usize::try_from(matches).unwrap_or(usize::MAX),
    };
    let found: FoundData = view.search(&search).map_err(text)?.into_data();
    let shown = if found.total_matches == 0 {
        "No line matches.".to_owned()
    } else {
        with_hint(&found.text, found.hint.as_deref())
    };
    Ok(Answer {
        text: shown,
        data: json!(found),
        is_error: false,
    })
}

/// The text of the resource `uri`: its first page, and how to continue.
pub(super) fn resource(session: &Session, uri: &str) -> Result<String, String> {
    let view = kept::open(session, uri).map_err(text)?;
    let page: PageData = view.lines(1, Some(u64::MAX)).map_err(text)?.into_data();
    Ok(with_hint(&page.text, page.hint.as_deref()))
}

/// All artifacts, oldest first.
pub(super) fn resources(session: &Session) -> Vec<Resource> {
    let kept = session.artifacts().map(|artifacts| artifacts.list());
    kept.unwrap_or_default()
        .into_iter()
        .map(|info| {
            let first = info.command.lines().next().unwrap_or_default();
            let named: String = first.chars().take(NAMED).collect();
            let artifact = info.artifact;
            Resource::new(artifact.uri, format!("artifact {}", artifact.id))
                .with_title(format!("Output of `{named}`"))
                .with_description(format!(
                    "{} lines, started {} in {}",
                    artifact.lines, info.started_at, info.cwd
                ))
                .with_mime_type("text/plain")
                .with_size(artifact.bytes)
        })
        .collect()
}

/// The URI template of the resources.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("artifact://{id}", "artifact")
        .with_description("The full output of a command that was shown only in part")
        .with_mime_type("text/plain")
}

fn with_hint(text: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => with_line(text, hint),
        None => text.to_owned(),
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

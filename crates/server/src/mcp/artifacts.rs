//! `read_artifact` (under `paged`: `view`), and artifacts as resources.

use super::job_texts::with_line;
use super::jobs::{ToolAnswer, to_text};
use super::remote::SearchLimits;
use super::tools::ReadArgs;
use super::{changes, remote};
use crate::into_data::IntoData;
use crate::stored_output;
use agent_bash::Conversation;
use agent_bash::core::{ArtifactRef, Cancel, RemoteHost, Window};
use agent_bash::sink::{DEFAULT_LINES, MAX_PAGE_BYTES, Search};
use agent_bash_protocol::data::{ArtifactData, FoundData, PageData};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::json;

/// Default number of matches shown.
const DEFAULT_MATCHES: u64 = 200;

/// Maximum number of characters of a command in the title of its output.
const MAX_COMMAND_CHARS: usize = 80;

/// Serves `read_artifact`: returns a page, or the lines that match a pattern.
pub(super) fn read(
    session: &Conversation,
    args: &ReadArgs,
    window: Option<Window>,
) -> Result<ToolAnswer, String> {
    let mut view = stored_output::open(session, &args.id.text()).map_err(to_text)?;
    if let Some(window) = window {
        view = view.limit_pages(window);
    }
    let offset = args.offset.unwrap_or(1).max(1);
    let Some(pattern) = &args.pattern else {
        let limit = args.limit.unwrap_or(DEFAULT_LINES);
        let page = match args.byte {
            Some(byte) => view.bytes(byte, MAX_PAGE_BYTES as u64),
            None => view.lines(offset, Some(limit)),
        };
        return Ok(page_answer(&page.map_err(to_text)?.into_data()));
    };
    let limits = search_limits(args, window);
    let search = Search {
        pattern: pattern.clone(),
        before: limits.context_lines,
        after: limits.context_lines,
        from_line: offset,
        max_matches: usize::try_from(limits.max_matches).unwrap_or(usize::MAX),
    };
    Ok(matches_answer(
        &view.search(&search).map_err(to_text)?.into_data(),
    ))
}

/// Serves `read_artifact` for an output on a remote host.
pub(super) async fn read_remote(
    host: &dyn RemoteHost,
    args: &ReadArgs,
    window: Option<Window>,
    cancel: &Cancel,
) -> Result<ToolAnswer, String> {
    let Some(pattern) = &args.pattern else {
        return Ok(page_answer(
            &remote::page(host, args, window, cancel).await?,
        ));
    };
    let limits = search_limits(args, window);
    let found = remote::search(host, args, pattern, limits, cancel);
    Ok(matches_answer(&found.await?))
}

/// Returns the limits of a search whose result fits the window. Each match also needs a separator
/// line.
fn search_limits(args: &ReadArgs, window: Option<Window>) -> SearchLimits {
    let max_lines = window.map_or(u64::MAX, |window| window.lines as u64);
    let context_lines = args
        .context
        .min(usize::try_from(max_lines / 4).unwrap_or(usize::MAX));
    let matches = args.limit.unwrap_or(DEFAULT_MATCHES);
    let matches = matches
        .min(max_lines / (2 * context_lines as u64 + 2))
        .max(1);
    SearchLimits {
        context_lines,
        max_matches: matches,
    }
}

fn page_answer(page: &PageData) -> ToolAnswer {
    ToolAnswer::new(with_hint(&page.text, page.hint.as_deref()), json!(page))
}

fn matches_answer(found: &FoundData) -> ToolAnswer {
    let shown = if found.total_matches == 0 {
        "No line matches.".to_owned()
    } else {
        with_hint(&found.text, found.hint.as_deref())
    };
    ToolAnswer::new(shown, json!(found))
}

/// Returns the text of the resource `uri` on a remote host.
pub(super) async fn remote_resource(host: &dyn RemoteHost, uri: String) -> Result<String, String> {
    if uri.starts_with(changes::SCHEME) {
        return Err(stored_output::NO_TARGET_CHANGES.to_owned());
    }
    let args = ReadArgs::first_page_of(uri);
    let page = remote::page(host, &args, None, &Cancel::new()).await?;
    Ok(with_hint(&page.text, page.hint.as_deref()))
}

/// Returns the text of the resource `uri`: its first page, with a hint about how to read on.
pub(super) fn resource(session: &Conversation, uri: &str) -> Result<String, String> {
    let view = stored_output::open(session, uri).map_err(to_text)?;
    let page: PageData = view.lines(1, Some(u64::MAX)).map_err(to_text)?.into_data();
    Ok(with_hint(&page.text, page.hint.as_deref()))
}

/// Returns all artifacts as resources, oldest first.
pub(super) fn resources(session: &Conversation) -> Vec<Resource> {
    let artifacts = session.artifacts().map(|artifacts| artifacts.list());
    let artifacts = artifacts.unwrap_or_default().into_iter();
    artifacts
        .map(|info| to_resource(&info.into_data()))
        .collect()
}

/// Returns the outputs of a remote host as resources.
pub(super) async fn remote_resources(host: &dyn RemoteHost) -> Result<Vec<Resource>, String> {
    let artifacts = remote::artifacts(host, &Cancel::new()).await?;
    Ok(artifacts.iter().map(to_resource).collect())
}

/// Converts an artifact to a resource. The URI is made from the artifact's number: a URI from a
/// remote host could name an artifact of this machine.
fn to_resource(data: &ArtifactData) -> Resource {
    let first = data.command.lines().next().unwrap_or_default();
    let shown_command: String = first.chars().take(MAX_COMMAND_CHARS).collect();
    let ArtifactRef {
        id, lines, bytes, ..
    } = data.artifact;
    Resource::new(id.uri(), format!("artifact {id}"))
        .with_title(format!("Output of `{shown_command}`"))
        .with_description(format!(
            "{lines} lines, started {} in {}",
            data.started_at, data.cwd
        ))
        .with_mime_type("text/plain")
        .with_size(bytes)
}

/// Returns the URI template of artifacts.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("artifact://{id}", "artifact")
        .with_description("The full output of a command that was shown only in part")
        .with_mime_type("text/plain")
}

fn with_hint(text: &str, hint: Option<&str>) -> String {
    hint.map_or_else(|| text.to_owned(), |hint| with_line(text, hint))
}

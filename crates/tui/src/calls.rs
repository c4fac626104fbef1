//! Runs commands and records how they ended.

use crate::approvals;
use crate::change_actions;
use crate::interrupt::InterruptibleCommand;
use crate::transcript::{Card, CardEntry};
use agent_bash::core::sandbox::Sandboxed;
use agent_bash::core::{Definitions, Request, SessionName, Status, ToolResult};
use agent_bash::journals::HistoryEnd;
use agent_bash::policy::marked_lines;
use agent_bash::session::{BangMessage, BangOptions};
use agent_bash::sink::LiveUpdates;
use agent_bash::{CallOptions, Conversation, ESCALATION_RULE, Escalation, Refusal};
use agent_bash_render::{
    CardChanges, CardState, FooterLine, RefusalView, StoredOutput, ToolCard, call_summary,
};
use std::sync::Arc;
use std::time::Duration;

/// Hints for a refusal, a timeout and a denial of the sandbox.
const TRIAL_HINT: &str = "f3 tries it: nothing is applied until you commit";
const RULE_HINT: &str = "`!` before the line runs it as your own";
const RULE_IN_TRIAL_HINT: &str = "`!` before the line runs it as your own, and not as a trial";
const TIMEOUT_HINT: &str = "`timeout.default` in the settings gives more time";
const DENIAL_HINT: &str = "f4 runs it again outside of the sandbox";
const SETTING_HINT: &str = "`sandbox.escalation = \"ask\"` in the settings lets f4 run it outside";

/// The card's text for a call whose escalation the user denied. The call itself gets
/// [`crate::approvals::DENIAL_REASON`].
const DENIED_ESCALATION_TEXT: &str =
    "you did not let this call leave the sandbox, so it was not run";

/// How a command ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    Tool {
        result: Box<ToolResult>,
        /// The refusal of a check, if one refused the command.
        refused: Option<RefusalView>,
    },
    Bang(Box<BangMessage>),
    /// The command did not run, for this reason.
    Refused(String),
}

/// Settings of a call that are not part of its request.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallExtras {
    /// True if the call has no time limit.
    pub(crate) unlimited: bool,
    /// Functions, aliases and options that the call starts with.
    pub(crate) definitions: Option<Arc<Definitions>>,
}

/// Passes the state of the persistent shell to a request with a shell of its own. Adds exported
/// variables to the request, and returns functions and aliases.
///
/// Without a persistent shell, a call on a terminal gets the definitions of the configuration;
/// other calls load them themselves. `replaced_shell_definitions` are the definitions of a
/// shell that was ended to run this request. A call that asks for another sandbox gets nothing of
/// a shell: an earlier call in the sandbox may have prepared it (`PATH`, private caches).
pub(crate) async fn with_shell_state(
    session: &Conversation,
    request: &mut Request,
    shell: Option<&SessionName>,
    replaced_shell_definitions: Option<Arc<Definitions>>,
) -> Option<Arc<Definitions>> {
    let mut definitions = None;
    let keeps_sandbox = request.sandbox.is_none();
    if let Some(shell) = shell.filter(|_| keeps_sandbox) {
        definitions = session.shell_definitions(shell).await;
        request.env.extend(session.shell_exports(shell).await);
    }
    definitions = definitions.or(replaced_shell_definitions.filter(|_| keeps_sandbox));
    if definitions.is_none() && request.pty == Some(true) {
        definitions = session.configured_definitions().await;
    }
    definitions
}

/// Runs a tool call to its end. Bang commands that ran meanwhile are added to the conversation
/// afterwards.
pub(crate) async fn call(
    session: &Conversation,
    request: Request,
    extras: CallExtras,
    live: &LiveUpdates,
    running: &InterruptibleCommand,
) -> CallEnd {
    session.begin_turn();
    let command = request.command.clone();
    let mut feed = running.feed(live);
    let options = CallOptions {
        live: Some(&mut feed),
        is_attended: true,
        unlimited: extras.unlimited,
        definitions: extras.definitions,
        ..CallOptions::default()
    };
    let finished_call = session
        .tool()
        .execute_with_details(request, options, &running.cancel)
        .await;
    session.end_turn();
    CallEnd::Tool {
        result: Box::new(finished_call.result),
        refused: finished_call
            .refusal
            .map(|refusal| refusal_view(&command, &refusal)),
    }
}

/// A refusal, as a card shows it.
fn refusal_view(command: &str, refusal: &Refusal) -> RefusalView {
    let is_denied_by_user =
        matches!(refusal, Refusal::Escalation(why) if why == approvals::DENIAL_REASON);
    if is_denied_by_user {
        return RefusalView::new(DENIED_ESCALATION_TEXT);
    }
    let mut refused = RefusalView::new(refusal.to_string());
    if let Refusal::Rule(rule) = refusal {
        let instead = rule.explanation.instead.as_ref();
        let is_new = |instead: &&String| !refused.text.contains(&format!("Instead: {instead}"));
        refused.alternative = instead.filter(is_new).cloned();
        refused.can_be_tried = rule.explanation.can_be_tried;
        if let Some(hint) = rule.allow_hint() {
            refused.text = format!("{}\n{hint}", refused.text);
        }
        let lines = rule
            .explanation
            .span
            .map(|span| marked_lines(command, span));
        let lines = lines.into_iter().flatten();
        refused.marked = lines.map(|line| (line.text, line.mark)).collect();
    }
    refused
}

/// Runs a bang command.
pub(crate) async fn bang(
    session: &Conversation,
    command: &str,
    excluded_from_context: bool,
    live: &LiveUpdates,
    running: &InterruptibleCommand,
) -> CallEnd {
    let mut feed = running.feed(live);
    let options = BangOptions {
        excluded_from_context,
        live: Some(&mut feed),
        ..BangOptions::default()
    };
    match session
        .execute_bash(command, options, &running.cancel)
        .await
    {
        Ok(message) => CallEnd::Bang(Box::new(message)),
        Err(error) => CallEnd::Refused(error.to_string()),
    }
}

/// The hint for a denial of the sandbox. `None` if safe mode forbids leaving the sandbox.
pub(crate) fn denial_hint(escalation: Escalation, is_safe_mode: bool) -> Option<&'static str> {
    match escalation {
        Escalation::Ask => Some(DENIAL_HINT),
        Escalation::Never => Some(SETTING_HINT).filter(|_| !is_safe_mode),
    }
}

/// Returns the hint for a call's outcome. `sandbox_hint`: the hint for a denial by the sandbox.
fn outcome_hint(
    result: &ToolResult,
    card: &ToolCard,
    is_trial: bool,
    sandbox_hint: Option<&'static str>,
) -> Option<FooterLine> {
    let was_denied = result.sandbox.as_ref().is_some_and(Sandboxed::has_denials);
    let hint = match &result.status {
        // A user who has just denied a request gets no hint to bypass the denial.
        Status::Blocked { rule, .. } if rule == ESCALATION_RULE => return None,
        Status::Blocked { .. } if is_trial => {
            card.refused.as_ref()?;
            RULE_IN_TRIAL_HINT
        }
        // The other hints would not run the command as a trial again.
        _ if is_trial => return None,
        Status::Blocked { .. } => match &card.refused {
            // A trial is safer than running the command unchecked.
            Some(refused) if refused.can_be_tried => TRIAL_HINT,
            Some(_) => RULE_HINT,
            None => return None,
        },
        Status::TimedOut { .. } => TIMEOUT_HINT,
        _ if was_denied => sandbox_hint?,
        _ => return None,
    };
    Some(FooterLine::Offer(hint.to_owned()))
}

impl CallEnd {
    /// The outcome and the duration in milliseconds, for the history.
    pub(crate) fn for_history(&self) -> (HistoryEnd, Option<u64>) {
        let whole =
            |ms: f64| u64::try_from(Duration::from_secs_f64(ms.max(0.0) / 1000.0).as_millis()).ok();
        match self {
            Self::Tool { result, .. } => ((&result.status).into(), whole(result.duration_ms)),
            Self::Bang(message) => ((&message.status).into(), whole(message.duration_ms)),
            Self::Refused(_) => (HistoryEnd::NotStarted, None),
        }
    }

    /// Shows the outcome on its card. `sandbox_hint`: the hint for a denial of the sandbox.
    pub(crate) fn show_on(self, entry: &mut CardEntry, sandbox_hint: Option<&'static str>) {
        match (self, &mut entry.card) {
            (Self::Tool { result, refused }, Card::Tool(card)) => {
                card.finish(&result, refused);
                let was_refused = matches!(
                    result.status,
                    Status::Blocked { .. } | Status::NotStarted { .. }
                );
                if was_refused {
                    // These lines say how the command runs, and it did not run.
                    card.host_lines.clear();
                }
                card.footer
                    .extend(outcome_hint(&result, card, entry.is_trial, sandbox_hint));
                let is_needless = |changes: &mut CardChanges| {
                    entry.is_trial && change_actions::is_empty_trial(&changes.set)
                };
                if card.changes.take_if(is_needless).is_some() {
                    let notice = match result.status {
                        Status::Exited { .. } => "a trial: it changes no file",
                        Status::Cancelled => {
                            "a trial: it had changed no file when it was cancelled"
                        }
                        _ => "a trial: it had changed no file by then",
                    };
                    let notice = notice.to_owned();
                    card.footer.push(FooterLine::Notice(notice));
                }
                entry.held_bytes = entry.held_bytes.max(result.text.len());
                entry.is_binary = result.output.binary;
                let artifact = result.artifacts.first();
                entry.artifact = artifact.map(|artifact| artifact.id);
                entry.file = artifact.map(|artifact| artifact.path.clone().into());
            }
            (Self::Bang(message), Card::Bang(card)) => {
                card.elapsed = call_summary::from_millis(message.duration_ms);
                card.state = CardState::Ended(message.status.clone());
                card.footer = FooterLine::survivors(&message.survivors);
                let notices = message.notices.iter().filter_map(FooterLine::from_notice);
                card.footer.extend(notices);
                card.changes =
                    CardChanges::of_ended_call(message.changes.as_ref(), &message.notices);
                entry.is_binary = message.summary.binary;
                let mark = entry.is_binary.then_some(message.output.as_str());
                card.output.show_instead(mark);
                let artifact = message.artifact.as_ref();
                let incomplete = artifact.filter(|artifact| !artifact.complete);
                card.stored = message.truncated.then(|| StoredOutput {
                    uri: artifact.map(|artifact| artifact.uri.clone()),
                    first: incomplete.map(|artifact| artifact.bytes),
                    shown: [message.summary.shown_bytes, message.summary.total_bytes],
                });
                entry.artifact = artifact.map(|artifact| artifact.id);
                entry.file = artifact.map(|artifact| artifact.path.clone().into());
            }
            (Self::Refused(reason), Card::Bang(card)) => {
                card.state = CardState::Ended(Status::NotStarted { reason });
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::EntryId;
    use agent_bash::core::changes::{Changes, ChangesBy, ChangesId, ChangesState};
    use agent_bash::core::sandbox::{Network, SandboxLevel};
    use agent_bash::core::{Profile, Timestamp};
    use agent_bash::process::SystemClock;
    use agent_bash::session::SessionParts;
    use agent_bash::sink::{LiveKind, LiveOptions};
    use agent_bash::{BashTool, HostContext, profiles};
    use agent_bash_test_kit::FaultyExecutor;
    use std::sync::Arc;

    /// Returns the hints on the card of a call with this status.
    fn offered(status: Status, is_trial: bool, changes: Option<Changes>) -> Vec<FooterLine> {
        let card = Card::Tool(Box::new(ToolCard::new("x")));
        let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
        entry.is_trial = is_trial;
        let mut result = ToolResult::new(status, "", Timestamp(0));
        result.changes = changes;
        shown(entry, result, Some(DENIAL_HINT))
    }

    fn shown(
        mut entry: CardEntry,
        result: ToolResult,
        sandbox_hint: Option<&'static str>,
    ) -> Vec<FooterLine> {
        let end = CallEnd::Tool {
            result: Box::new(result),
            refused: Some(RefusalView::new("no")),
        };
        end.show_on(&mut entry, sandbox_hint);
        match entry.card {
            Card::Tool(card) => card.footer,
            _ => Vec::new(),
        }
    }

    #[test]
    fn denial_by_the_user_is_shown_without_a_hint_to_bypass_it() {
        let card = Card::Tool(Box::new(ToolCard::new("x")));
        let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
        let aside = FooterLine::Notice("outside of the sandbox".to_owned());
        if let Card::Tool(card) = &mut entry.card {
            card.host_lines.push(aside);
        }
        let refusal = Refusal::Escalation(approvals::DENIAL_REASON.to_owned());
        let result = ToolResult::new(refusal.status(), approvals::DENIAL_REASON, Timestamp(0));
        let end = CallEnd::Tool {
            result: Box::new(result),
            refused: Some(refusal_view("x", &refusal)),
        };
        end.show_on(&mut entry, Some(DENIAL_HINT));
        let Card::Tool(card) = entry.card else {
            panic!("it has another card");
        };
        assert_eq!(card.plain(), format!("Blocked: {DENIED_ESCALATION_TEXT}\n"));
        assert_eq!((card.host_lines, card.footer), (vec![], vec![]));
        // Another approver that denied the call is named.
        let other = Refusal::Escalation("its approver did not approve".to_owned());
        assert_eq!(
            refusal_view("x", &other).text,
            "its approver did not approve"
        );
    }

    #[test]
    fn refused_network_gets_the_same_hint_as_denied_files() {
        let [ask, never, safe] = [
            denial_hint(Escalation::Ask, false),
            denial_hint(Escalation::Never, false),
            denial_hint(Escalation::Never, true),
        ];
        for (refused, sandbox_hint, offered) in [
            (Some(1), ask, Some(DENIAL_HINT)),
            (Some(1), never, Some(SETTING_HINT)),
            (Some(1), safe, None),
            (Some(0), ask, None),
            (None, ask, None),
        ] {
            let card = Card::Tool(Box::new(ToolCard::new("curl x")));
            let entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
            let mut sandboxed = Sandboxed::new(SandboxLevel::WorkspaceWrite, Network::Off, None);
            sandboxed.network_refused = refused;
            let mut result = ToolResult::new(Status::Exited { code: 7 }, "", Timestamp(0));
            result.sandbox = Some(sandboxed);
            let offered = offered.map(|text| FooterLine::Offer(text.to_owned()));
            let footer = shown(entry, result, sandbox_hint);
            assert_eq!(
                footer,
                Vec::from_iter(offered),
                "{refused:?} {sandbox_hint:?}"
            );
        }
    }

    #[test]
    fn card_shows_the_hint_for_each_outcome() {
        let blocked = || Status::Blocked {
            rule: "r".to_owned(),
            suggested_tool: None,
        };
        let offer = |text: &str| vec![FooterLine::Offer(text.to_owned())];
        assert_eq!(offered(blocked(), false, None), offer(RULE_HINT));
        let for_real = offer(RULE_IN_TRIAL_HINT);
        assert_eq!(offered(blocked(), true, None), for_real, "that is no trial");
        let denied = Status::Blocked {
            rule: ESCALATION_RULE.to_owned(),
            suggested_tool: None,
        };
        assert_eq!(offered(denied, true, None), []);
        // If a trial would pass the rules, the card offers a trial and not a bang command.
        let mut card = ToolCard::new("x");
        card.refused = Some(RefusalView {
            can_be_tried: true,
            ..RefusalView::new("no")
        });
        let result = ToolResult::new(blocked(), "", Timestamp(0));
        let tries = Some(FooterLine::Offer(TRIAL_HINT.to_owned()));
        assert_eq!(outcome_hint(&result, &card, false, None), tries);
        let timed_out = || Status::TimedOut { after_ms: 1 };
        assert_eq!(offered(timed_out(), false, None), offer(TIMEOUT_HINT));
        assert_eq!(offered(timed_out(), true, None), []);
        let ended = || Status::Exited { code: 0 };
        assert_eq!(offered(ended(), false, None), []);
        // A trial without changes is not held.
        let (dropped, by) = (ChangesState::Discarded, ChangesBy::Overlay);
        let set = Changes::new(ChangesId(7), dropped, by, "/p");
        let notice = FooterLine::Notice("a trial: it changes no file".to_owned());
        assert_eq!(offered(ended(), true, Some(set.clone())), [notice]);
        let notice = FooterLine::Notice("a trial: it had changed no file by then".to_owned());
        let killed = Status::Signaled {
            signal: "SIGKILL".to_owned(),
            number: 9,
        };
        assert_eq!(offered(killed, true, Some(set.clone())), [notice]);
        let notice = "a trial: it had changed no file when it was cancelled".to_owned();
        let notice = FooterLine::Notice(notice);
        assert_eq!(offered(Status::Cancelled, true, Some(set)), [notice]);
    }

    #[tokio::test]
    async fn panic_ends_only_its_own_command() {
        const PROFILE: Profile = profiles::STANDARD;
        let host = HostContext::capture("/".into());
        let clock = Arc::new(SystemClock::new());
        let tool = BashTool::builder(PROFILE, host, Arc::new(FaultyExecutor), clock);
        let session = Conversation::new(tool.build(), SessionParts::default());
        let live = LiveUpdates::new(LiveOptions::new(LiveKind::Raw, 100));
        for _ in 0..2 {
            let ended = call(
                &session,
                Request::new("x"),
                CallExtras::default(),
                &live,
                &InterruptibleCommand::new(),
            )
            .await;
            let CallEnd::Tool { result, .. } = ended else {
                panic!("{ended:?}");
            };
            assert!(matches!(result.status, Status::Lost { .. }), "{result:?}");
            let ended = bang(&session, "x", false, &live, &InterruptibleCommand::new()).await;
            let CallEnd::Bang(message) = ended else {
                panic!("{ended:?}");
            };
            assert!(matches!(message.status, Status::Lost { .. }), "{message:?}");
            assert_eq!(message.output, "printed\n");
        }
        // The first call has ended, so the bang command is now in the conversation.
        assert_eq!(session.messages().len(), 2);
    }
}

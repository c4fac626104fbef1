//! Runs commands and records how they ended.

use crate::approvals;
use crate::change_actions;
use crate::interrupt::Running;
use crate::transcript::{Card, CardEntry};
use agent_bash::core::{Definitions, Request, SessionName, Status, ToolResult};
use agent_bash::journals::HistoryEnd;
use agent_bash::policy::marked_lines;
use agent_bash::session::{BangMessage, BangOptions};
use agent_bash::sink::LiveUpdates;
use agent_bash::{CallOptions, Conversation, ESCALATION_RULE, Escalation, Refusal};
use agent_bash_render::{
    CardChanges, CardState, FooterLine, Refused, StoredOutput, ToolCard, words,
};
use std::sync::Arc;
use std::time::Duration;

/// What can be done about a refusal, a time-out, and a sandbox.
const BY_TRIAL: &str = "f3 tries it: nothing is applied until you commit";
const BY_RULE: &str = "`!` before the line runs it as your own";
const BY_RULE_FOR_REAL: &str = "`!` before the line runs it as your own, and not as a trial";
const TIMED_OUT: &str = "`timeout.default` in the settings gives more time";
const DENIED: &str = "f4 runs it again outside of the sandbox";
const BY_SETTING: &str = "`sandbox.escalation = \"ask\"` in the settings lets f4 run it outside";

/// What its card says of a call that the person did not let out. What the call itself is told speaks of that person.
const NOT_LET_OUT: &str = "you did not let it leave the sandbox, so it was not run";

/// How a command ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    Tool {
        result: Box<ToolResult>,
        /// What a check said, if one refused it.
        refused: Option<Refused>,
    },
    Bang(Box<BangMessage>),
    /// It was not run.
    Refused(String),
}

/// What a call has beside its request.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallExtras {
    /// It has no time limit.
    pub(crate) unlimited: bool,
    /// Functions, aliases and options.
    pub(crate) definitions: Option<Arc<Definitions>>,
}

/// Gives a request that runs beside the shell that stays what that shell has: the variables that it exports (an activated environment, a search
/// path), and its functions and aliases. Before there is such a shell, or where there is none, a terminal has those of the configuration; other
/// calls load them themselves. `kept`: what that shell had before it was ended for this request.
pub(crate) async fn with_shell_state(
    session: &Conversation,
    request: &mut Request,
    shell: Option<&SessionName>,
    kept: Option<Arc<Definitions>>,
) -> Option<Arc<Definitions>> {
    let mut definitions = None;
    if let Some(shell) = shell {
        definitions = session.shell_definitions(shell).await;
        request.env.extend(session.shell_exports(shell).await);
    }
    definitions = definitions.or(kept);
    if definitions.is_none() && request.pty == Some(true) {
        definitions = session.configured_definitions().await;
    }
    definitions
}

/// Runs a tool call to its end. Commands the user runs meanwhile are added to the record only afterwards.
pub(crate) async fn call(
    session: &Conversation,
    request: Request,
    besides: CallExtras,
    live: &LiveUpdates,
    running: &Running,
) -> CallEnd {
    session.begin_turn();
    let command = request.command.clone();
    let mut feed = running.feed(live);
    let shell = request.session.as_ref();
    let options = CallOptions {
        live: Some(&mut feed),
        is_attended: true,
        unlimited: besides.unlimited,
        definitions: besides.definitions,
        stands_in: shell.and_then(|name| session.shell_cwd(name)),
        ..CallOptions::default()
    };
    let account = session
        .tool()
        .account(request, options, &running.cancel)
        .await;
    session.end_turn();
    CallEnd::Tool {
        result: Box::new(account.result),
        refused: account.refusal.map(|refusal| refused(&command, &refusal)),
    }
}

/// A refusal, as a card says it.
fn refused(command: &str, refusal: &Refusal) -> Refused {
    let is_own = matches!(refusal, Refusal::Escalation(why) if why == approvals::DENIED);
    if is_own {
        return Refused::new(NOT_LET_OUT);
    }
    let mut refused = Refused::new(refusal.to_string());
    if let Refusal::Rule(rule) = refusal {
        refused.instead.clone_from(&rule.explanation.instead);
        refused.can_be_tried = rule.explanation.can_be_tried;
        let lines = rule
            .explanation
            .span
            .map(|span| marked_lines(command, span));
        let lines = lines.into_iter().flatten();
        refused.marked = lines.map(|line| (line.text, line.mark)).collect();
    }
    refused
}

/// Runs a command of the user's.
pub(crate) async fn bang(
    session: &Conversation,
    command: &str,
    excluded_from_context: bool,
    live: &LiveUpdates,
    running: &Running,
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

/// What can be done about what a sandbox denied: nothing where safe mode promises it.
pub(crate) fn way_out(escalation: Escalation, is_safe_mode: bool) -> Option<&'static str> {
    match escalation {
        Escalation::Ask => Some(DENIED),
        Escalation::Never => Some(BY_SETTING).filter(|_| !is_safe_mode),
    }
}

/// What the person can do about how a call ended, if anything. `outside`: what about a denial.
fn hint(
    result: &ToolResult,
    card: &ToolCard,
    is_trial: bool,
    outside: Option<&'static str>,
) -> Option<FooterLine> {
    let was_denied = result.sandbox.as_ref().is_some_and(|said| {
        !said.denied.is_empty() || said.network_refused.is_some_and(|refused| refused > 0)
    });
    let hint = match &result.status {
        // Whoever has just said no is not offered another way out.
        Status::Blocked { rule, .. } if rule == ESCALATION_RULE => return None,
        Status::Blocked { .. } if is_trial => {
            card.refused.as_ref()?;
            BY_RULE_FOR_REAL
        }
        // The others run a command again in another way than it was tried.
        _ if is_trial => return None,
        Status::Blocked { .. } => match &card.refused {
            // It is safer than the other way.
            Some(refused) if refused.can_be_tried => BY_TRIAL,
            Some(_) => BY_RULE,
            None => return None,
        },
        Status::TimedOut { .. } => TIMED_OUT,
        _ if was_denied => outside?,
        _ => return None,
    };
    Some(FooterLine::Offer(hint.to_owned()))
}

impl CallEnd {
    /// How it ended, and how long it took in milliseconds, for the history.
    pub(crate) fn for_history(&self) -> (HistoryEnd, Option<u64>) {
        let whole =
            |ms: f64| u64::try_from(Duration::from_secs_f64(ms.max(0.0) / 1000.0).as_millis()).ok();
        match self {
            Self::Tool { result, .. } => ((&result.status).into(), whole(result.duration_ms)),
            Self::Bang(message) => ((&message.status).into(), whole(message.duration_ms)),
            Self::Refused(_) => (HistoryEnd::NotStarted, None),
        }
    }

    /// Puts the outcome on its card. `outside`: what can be done about a denial of the sandbox.
    pub(crate) fn show_on(self, entry: &mut CardEntry, outside: Option<&'static str>) {
        match (self, &mut entry.card) {
            (Self::Tool { result, refused }, Card::Tool(card)) => {
                card.finish(&result, refused);
                let was_refused = matches!(
                    result.status,
                    Status::Blocked { .. } | Status::NotStarted { .. }
                );
                if was_refused {
                    // They say how it runs, and it did not.
                    card.asides.clear();
                }
                card.remarks
                    .extend(hint(&result, card, entry.is_trial, outside));
                let is_needless =
                    |it: &mut CardChanges| entry.is_trial && change_actions::is_nothing(&it.set);
                if card.changes.take_if(is_needless).is_some() {
                    let said = match result.status {
                        Status::Exited { .. } => "a trial: it changes no file",
                        Status::Cancelled => {
                            "a trial: it had changed no file when it was cancelled"
                        }
                        _ => "a trial: it had changed no file by then",
                    };
                    let said = said.to_owned();
                    card.remarks.push(FooterLine::Notice(said));
                }
                entry.bytes = entry.bytes.max(result.text.len());
                entry.is_binary = result.output.binary;
                let artifact = result.artifacts.first();
                entry.artifact = artifact.map(|artifact| artifact.id);
                entry.file = artifact.map(|artifact| artifact.path.clone().into());
            }
            (Self::Bang(message), Card::Bang(card)) => {
                card.elapsed = words::millis(message.duration_ms);
                card.state = CardState::Ended(message.status.clone());
                card.remarks = FooterLine::survivors(&message.survivors);
                let told = message.notices.iter().filter_map(FooterLine::from_notice);
                card.remarks.extend(told);
                card.changes = CardChanges::known(message.changes.as_ref(), &message.notices);
                entry.is_binary = message.summary.binary;
                let mark = entry.is_binary.then_some(message.output.as_str());
                card.output.show_instead(mark);
                card.stored = message.truncated.then(|| StoredOutput {
                    uri: message
                        .artifact
                        .as_ref()
                        .map(|artifact| artifact.uri.clone()),
                    first: message
                        .artifact
                        .as_ref()
                        .filter(|artifact| !artifact.complete)
                        .map(|artifact| artifact.bytes),
                    shown: [message.summary.shown_bytes, message.summary.total_bytes],
                });
                let artifact = message.artifact;
                entry.artifact = artifact.as_ref().map(|artifact| artifact.id);
                entry.file = artifact.map(|artifact| artifact.path.into());
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
    use agent_bash::core::sandbox::{Network, SandboxLevel, Sandboxed};
    use agent_bash::core::{Profile, Timestamp};
    use agent_bash::process::SystemClock;
    use agent_bash::session::SessionParts;
    use agent_bash::sink::{LiveKind, LiveOptions};
    use agent_bash::{BashTool, HostContext, profiles};
    use agent_bash_test_kit::FaultyExecutor;
    use std::sync::Arc;

    /// What can be done about how a call ended, as its card offers it.
    fn offered(status: Status, is_trial: bool, changes: Option<Changes>) -> Vec<FooterLine> {
        let card = Card::Tool(Box::new(ToolCard::new("x")));
        let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
        entry.is_trial = is_trial;
        let mut result = ToolResult::new(status, "", Timestamp(0));
        result.changes = changes;
        shown(entry, result, Some(DENIED))
    }

    fn shown(
        mut entry: CardEntry,
        result: ToolResult,
        outside: Option<&'static str>,
    ) -> Vec<FooterLine> {
        let end = CallEnd::Tool {
            result: Box::new(result),
            refused: Some(Refused::new("no")),
        };
        end.show_on(&mut entry, outside);
        match entry.card {
            Card::Tool(card) => card.remarks,
            _ => Vec::new(),
        }
    }

    #[test]
    fn what_the_person_has_denied_is_said_to_that_person_and_no_way_around_it_is_offered() {
        let card = Card::Tool(Box::new(ToolCard::new("x")));
        let mut entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
        let aside = FooterLine::Notice("outside of the sandbox".to_owned());
        if let Card::Tool(card) = &mut entry.card {
            card.asides.push(aside);
        }
        let refusal = Refusal::Escalation(approvals::DENIED.to_owned());
        let result = ToolResult::new(refusal.status(), approvals::DENIED, Timestamp(0));
        let end = CallEnd::Tool {
            result: Box::new(result),
            refused: Some(refused("x", &refusal)),
        };
        end.show_on(&mut entry, Some(DENIED));
        let Card::Tool(card) = entry.card else {
            panic!("it has another card");
        };
        assert_eq!(card.plain(), format!("Blocked: {NOT_LET_OUT}\n"));
        assert_eq!((card.asides, card.remarks), (vec![], vec![]));
        // Who else has denied it is named.
        let other = Refusal::Escalation("its judge did not approve".to_owned());
        assert_eq!(refused("x", &other).text, "its judge did not approve");
    }

    #[test]
    fn a_network_that_was_refused_is_offered_outside_as_files_are() {
        let [ask, never, safe] = [
            way_out(Escalation::Ask, false),
            way_out(Escalation::Never, false),
            way_out(Escalation::Never, true),
        ];
        for (refused, outside, offered) in [
            (Some(1), ask, Some(DENIED)),
            (Some(1), never, Some(BY_SETTING)),
            (Some(1), safe, None),
            (Some(0), ask, None),
            (None, ask, None),
        ] {
            let card = Card::Tool(Box::new(ToolCard::new("curl x")));
            let entry = CardEntry::new(EntryId(1), card, Duration::ZERO);
            let mut boxed = Sandboxed::new(SandboxLevel::WorkspaceWrite, Network::Off, None);
            boxed.network_refused = refused;
            let mut result = ToolResult::new(Status::Exited { code: 7 }, "", Timestamp(0));
            result.sandbox = Some(boxed);
            let offered = offered.map(|text| FooterLine::Offer(text.to_owned()));
            let remarks = shown(entry, result, outside);
            assert_eq!(remarks, Vec::from_iter(offered), "{refused:?} {outside:?}");
        }
    }

    #[test]
    fn a_card_says_what_can_be_done_about_its_end() {
        let blocked = || Status::Blocked {
            rule: "r".to_owned(),
            suggested_tool: None,
        };
        let offer = |text: &str| vec![FooterLine::Offer(text.to_owned())];
        assert_eq!(offered(blocked(), false, None), offer(BY_RULE));
        let for_real = offer(BY_RULE_FOR_REAL);
        assert_eq!(offered(blocked(), true, None), for_real, "that is no trial");
        let denied = Status::Blocked {
            rule: ESCALATION_RULE.to_owned(),
            suggested_tool: None,
        };
        assert_eq!(offered(denied, true, None), []);
        // Where a trial passes the rules, that is offered rather than a command of one's own.
        let mut card = ToolCard::new("x");
        card.refused = Some(Refused {
            can_be_tried: true,
            ..Refused::new("no")
        });
        let result = ToolResult::new(blocked(), "", Timestamp(0));
        let tries = Some(FooterLine::Offer(BY_TRIAL.to_owned()));
        assert_eq!(hint(&result, &card, false, None), tries);
        let timed_out = || Status::TimedOut { after_ms: 1 };
        assert_eq!(offered(timed_out(), false, None), offer(TIMED_OUT));
        assert_eq!(offered(timed_out(), true, None), []);
        let ended = || Status::Exited { code: 0 };
        assert_eq!(offered(ended(), false, None), []);
        // A trial without changes is not held.
        let (dropped, by) = (ChangesState::Discarded, ChangesBy::Overlay);
        let set = Changes::new(ChangesId(7), dropped, by, "/p");
        let said = FooterLine::Notice("a trial: it changes no file".to_owned());
        assert_eq!(offered(ended(), true, Some(set.clone())), [said]);
        let said = FooterLine::Notice("a trial: it had changed no file by then".to_owned());
        let killed = Status::Signaled {
            signal: "SIGKILL".to_owned(),
            number: 9,
        };
        assert_eq!(offered(killed, true, Some(set.clone())), [said]);
        let said = "a trial: it had changed no file when it was cancelled".to_owned();
        let said = FooterLine::Notice(said);
        assert_eq!(offered(Status::Cancelled, true, Some(set)), [said]);
    }

    #[tokio::test]
    async fn a_panic_is_the_end_of_its_command_and_of_nothing_else() {
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
                &Running::new(),
            )
            .await;
            let CallEnd::Tool { result, .. } = ended else {
                panic!("{ended:?}");
            };
            assert!(matches!(result.status, Status::Lost { .. }), "{result:?}");
            let ended = bang(&session, "x", false, &live, &Running::new()).await;
            let CallEnd::Bang(message) = ended else {
                panic!("{ended:?}");
            };
            assert!(matches!(message.status, Status::Lost { .. }), "{message:?}");
            assert_eq!(message.output, "printed\n");
        }
        // The first call's turn is over, so the user's command is now in the record.
        assert_eq!(session.messages().len(), 2);
    }
}

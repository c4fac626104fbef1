//! Requests about terminals that the client drives.

use crate::jobs::duration;
use crate::rpc::answer::{RpcAnswer, data};
use crate::rpc::dispatch::ServedRequest;
use crate::rpc::request_error::ErrorReply;
use agent_bash::core::MetCondition;
use agent_bash_protocol::data::TerminalData;
use agent_bash_protocol::message::RpcCall;
use agent_bash_running::terminal::{self, QuietAfter, TerminalInput};
use agent_bash_running::{RunningCall, StartOptions};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl ServedRequest {
    /// Serves the requests about terminals.
    pub(in crate::rpc) async fn terminals(&self, call: RpcCall) -> RpcAnswer {
        match call {
            RpcCall::TerminalStart {
                request,
                size,
                tools,
            } => {
                let tools = tools.or_else(|| self.tools.clone());
                self.start_terminal(request, size.as_deref(), tools).await
            }
            RpcCall::TerminalInput {
                terminal,
                text,
                keys,
                size,
                until,
                timeout,
            } => {
                let call = self.terminal(&terminal.0)?;
                let input = TerminalInput {
                    size: size.as_deref(),
                    text: &text,
                    keys: &keys,
                };
                let limit = limit(timeout.as_ref())?;
                let (session, clock) = (&self.session, &*self.clock);
                let cancel = &self.cancel;
                let met =
                    terminal::type_and_wait(session, clock, &call, &input, &until, limit, cancel);
                let met = met.await?;
                data(self.terminal_data(Some(terminal.0), &call, met))
            }
            RpcCall::TerminalScreen {
                terminal,
                until,
                timeout,
            } => {
                let call = self.terminal(&terminal.0)?;
                let mut met = None;
                if !until.is_end() || timeout.is_some() {
                    let limit = limit(timeout.as_ref())?;
                    let until = (&until, call.unread_from());
                    let (session, clock) = (&self.session, &*self.clock);
                    met = terminal::wait_for(session, clock, &call, until, limit, &self.cancel)
                        .await?;
                }
                data(self.terminal_data(Some(terminal.0), &call, met))
            }
            RpcCall::TerminalEnd { terminal } => {
                let call = self.terminal(&terminal.0)?;
                call.cancel.cancel();
                call.ended().await;
                data(self.terminal_data(Some(terminal.0), &call, None))
            }
            _ => Ok(None),
        }
    }

    async fn start_terminal(
        &self,
        mut request: Value,
        size: Option<&str>,
        tools: Option<Vec<String>>,
    ) -> RpcAnswer {
        if let Value::String(command) = &request {
            request = serde_json::json!({ "command": command });
        }
        if let Some(fields) = request.as_object_mut() {
            fields.insert("pty".to_owned(), Value::Bool(true));
        }
        let options = StartOptions {
            terminal: Some(terminal::options(&self.session, size)?),
            tools,
            ..StartOptions::default()
        };
        let input = terminal::call_input(&self.session, request);
        let call = self.running.start(&self.tool(), input, options);
        let call = call.map_err(|error| error.to_string())?;
        terminal::until_quiet(&call, &*self.clock, QuietAfter::Start, &self.cancel).await;
        if self.cancel.is_cancelled() {
            call.cancel.cancel();
            call.ended().await;
        }
        let name = call.finished_call().is_none().then(|| {
            let number = self.running.assign_handle(&call);
            number.to_string()
        });
        data(self.terminal_data(name, &call, None))
    }

    fn terminal(&self, name: &str) -> Result<Arc<RunningCall>, ErrorReply> {
        let number = name.parse().ok();
        let call = number.and_then(|number| self.running.find(number));
        let call = call.filter(|call| call.is_on_terminal());
        let unknown = || {
            ErrorReply::from(format!(
                "there is no terminal {name}; start one with `terminal.start`"
            ))
        };
        call.ok_or_else(unknown)
    }

    fn terminal_data(
        &self,
        name: Option<String>,
        call: &RunningCall,
        met: Option<MetCondition>,
    ) -> TerminalData {
        // The answer shows the screen, so the output so far counts as read.
        call.read(None);
        TerminalData {
            terminal: name,
            screen: terminal::screen(&self.session, call),
            met,
            result: terminal::result(call),
        }
    }
}

fn limit(timeout: Option<&Value>) -> Result<Option<Duration>, ErrorReply> {
    let limit = timeout.map(|time| duration("timeout", time));
    Ok(limit.transpose()?)
}

//! `hello`: introduces both ends of a connection.

use crate::unlogged::Unlogged;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Introduces the client. All fields are optional. Only a worker (`rpc --worker`) requires this
/// request as the first one, with `protocol`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Hello {
    /// The other tools that the model has; overrides the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The client's version of the protocol; the server refuses any other version than its own. A
    /// client that sends this field also receives `job_ended` lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u32>,
    /// True if the client asks its user: it gets the password prompts of calls as `prompt` lines.
    /// They need the setting `prompts.ask_user`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<bool>,
    /// For a worker: the session in whose directory jobs and artifacts are stored; one path
    /// component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// For a worker: proves that the session belongs to the client. The first client of a session
    /// sets the token; later clients with a different token are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Unlogged<String>>,
    /// For a worker: the longest silence of the client: seconds, or a text such as `"60s"`. After
    /// that, the worker ends its calls and exits. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Value>,
    /// For a worker: the settings in force, by key. The settings of the worker's machine are
    /// ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Unlogged<Map<String, Value>>>,
    /// For a worker: the working directory of calls that name none; absolute, or below the user's
    /// home with `~`. Default: the directory in which the worker was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// For a worker: variables that are added to the worker's environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Unlogged<BTreeMap<String, String>>>,
}

/// Data of `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloData {
    /// Version of agent-bash.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// The profile in force: how calls behave and how results read.
    pub profile: String,
    /// The model's other tools from now on; `null` if none were named.
    pub tools: Option<Vec<String>>,
    /// The machine of a worker; absent for another server.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineData>,
}

/// The machine of a worker; absent for another server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineData {
    /// Changes with every boot of the machine; `null` if unknown.
    pub boot_id: Option<String>,
    /// Pid of the worker.
    pub pid: u32,
    /// Numeric id of the worker's user.
    pub uid: u32,
    /// The working directory of calls that name none; absolute.
    pub cwd: String,
    /// The user's home; `null` if unknown.
    pub home: Option<String>,
    /// Operating system, for example `linux`.
    pub os: String,
    /// Architecture, for example `x86_64`.
    pub arch: String,
    /// Path of the shell that runs scripts; `null` if there is none, so that no call can run.
    pub bash: Option<String>,
    /// True if the session existed before: its jobs and artifacts are still known.
    pub known: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RpcCall, RpcRequest};
    use serde_json::json;

    #[test]
    fn hello_is_logged_without_its_secrets() {
        let hello = json!({
            "type": "hello", "protocol": 1, "token": "t0ken", "settings": {"env.set": {"A": "s3cret"}},
            "env": {"KEY": "s3cret"}, "lease": "60s",
        });
        let request: RpcRequest = serde_json::from_value(hello.clone()).unwrap();
        let logged = format!("{request:?}");
        assert!(
            !logged.contains("s3cret") && !logged.contains("t0ken"),
            "{logged}"
        );
        assert!(
            logged.contains("60s"),
            "the other fields are not logged: {logged}"
        );
        assert_eq!(serde_json::to_value(&request).unwrap(), hello);
    }

    #[test]
    fn hello_of_an_ordinary_client_has_only_its_type() {
        let hello = RpcCall::Hello(Hello::default());
        assert_eq!(
            serde_json::to_value(&hello).unwrap(),
            json!({"type": "hello"})
        );
    }

    #[test]
    fn hello_data_has_the_machine_only_of_a_worker() {
        let plain = json!({"version": "1", "protocol": 1, "profile": "standard", "tools": null});
        let data: HelloData = serde_json::from_value(plain.clone()).unwrap();
        assert_eq!(data.machine, None);
        assert_eq!(serde_json::to_value(&data).unwrap(), plain);
        let mut whole = plain;
        whole.as_object_mut().unwrap().extend([
            ("boot_id".to_owned(), json!("b")),
            ("pid".to_owned(), json!(7)),
            ("uid".to_owned(), json!(0)),
            ("cwd".to_owned(), json!("/w")),
            ("home".to_owned(), json!(null)),
            ("os".to_owned(), json!("linux")),
            ("arch".to_owned(), json!("x86_64")),
            ("bash".to_owned(), json!("/bin/bash")),
            ("known".to_owned(), json!(true)),
        ]);
        let data: HelloData = serde_json::from_value(whole.clone()).unwrap();
        assert!(data.machine.as_ref().is_some_and(|machine| machine.known));
        assert_eq!(serde_json::to_value(&data).unwrap(), whole);
    }
}

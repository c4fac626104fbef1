//! The packages for Python and TypeScript as interfaces. A script in their language performs the
//! steps of a case by the methods that a user of the package calls.

use super::action::Action;
use super::case::Case;
use super::surface::{Call, Reply, Surface};
use crate::server_client::ServerClient;
use crate::{packages, product};
use agent_bash_core::ToolResult;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a step may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(120);

/// The compiler of the TypeScript client.
const COMPILER: [&str; 2] = ["typescript@7.0.2", "@types/node@26.6.6"];

/// A package, with the script that uses it.
#[derive(Debug)]
pub enum ClientPackage {
    /// The package for Python: `AsyncShell`.
    Python,
    /// The package for TypeScript: `Shell`.
    TypeScript {
        /// The compiled package.
        index: PathBuf,
    },
}

impl ClientPackage {
    /// Compiles the package for TypeScript to a directory below `target`. Installs the compiler
    /// there once.
    ///
    /// # Errors
    /// The compiler cannot be installed, or fails.
    pub fn compile_typescript(target: &Path) -> Result<Self> {
        let directory = packages::cached_packages(target, "conformance-node", &COMPILER);
        packages::made_once(&directory, |directory| {
            packages::npm(directory, &[], &COMPILER)
        })?;
        let client = directory_of("clients/typescript")?;
        let built = directory.join("built");
        let project = json!({
            "extends": client.join("tsconfig.json"),
            "compilerOptions": {
                "rootDir": client.join("src"), "outDir": built, "declaration": false,
                "typeRoots": [directory.join("node_modules/@types")],
            },
            "files": [client.join("src/index.ts")],
            "include": [],
        });
        std::fs::write(directory.join("tsconfig.json"), project.to_string())?;
        packages::install("node_modules/.bin/tsc", &["--project", "."], &directory)?;
        let index = built.join("index.js");
        Ok(Self::TypeScript { index })
    }

    /// Returns the running script, which is started for the first step.
    fn server<'a>(
        &self,
        call: &Call<'_>,
        server: &'a mut Option<ServerClient>,
    ) -> Result<&'a mut ServerClient> {
        if let Some(server) = server {
            return Ok(server);
        }
        let scripts = directory_of("tests/clients")?;
        let mut script = match self {
            Self::Python => {
                let mut python = call.world.command("python3");
                python.arg("-B").arg(scripts.join("conformance.py"));
                python.env("PYTHONPATH", directory_of("clients/python/src")?);
                python
            }
            Self::TypeScript { index } => {
                let mut node = call.world.command("node");
                node.arg(scripts.join("conformance.mjs")).arg(index);
                node
            }
        };
        script
            .arg(call.profile)
            .arg(json!(call.tools).to_string())
            .env("AGENT_BASH_PROGRAM", product::agent_bash()?)
            .envs(call.environment);
        Ok(server.insert(ServerClient::start(script)?))
    }
}

/// Returns a directory of the checkout.
fn directory_of(name: &str) -> Result<PathBuf> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
        .canonicalize()?)
}

impl Surface for ClientPackage {
    fn name(&self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript { .. } => "typescript",
        }
    }

    /// The exception of a cancelled call has the result, and not the answer of an adapter.
    fn takes(&self, case: &Case) -> bool {
        case.adapter.is_none() || case.steps.iter().all(|step| step.cancel_when.is_none())
    }

    fn call(&self, call: &Call<'_>, server: &mut Option<ServerClient>) -> Result<Reply> {
        call_by(self.server(call, server)?, call)
    }

    fn act(
        &self,
        call: &Call<'_>,
        action: &Action,
        server: &mut Option<ServerClient>,
    ) -> Result<Reply> {
        act_by(self.server(call, server)?, action)
    }
}

fn call_by(server: &mut ServerClient, call: &Call<'_>) -> Result<Reply> {
    let request: Value = serde_json::from_str(call.request)?;
    let (adapter, tool) = call.adapter.unzip();
    let answer = ask(
        server,
        &json!({
            "request": request, "adapter": adapter, "tool": tool, "turn": call.turn_name,
            "may_reword": call.may_reword, "cancel_when": call.cancel_when, "answers": call.answers,
        }),
    )?;
    let some = |name: &str| Some(answer[name].clone()).filter(|value| !value.is_null());
    let mut reply = Reply {
        result: some("result"),
        structured: some("structured"),
        is_error: answer["is_error"].as_bool(),
        ..Reply::default()
    };
    if let Some(text) = answer["text"].as_str() {
        text.clone_into(&mut reply.text);
        return Ok(reply);
    }
    let result: ToolResult = serde_json::from_value(answer["result"].clone())
        .with_context(|| format!("this is no result object: {answer}"))?;
    reply.exit_code = Some(result.status.exit_code().into());
    reply.text = result.text;
    Ok(reply)
}

fn act_by(server: &mut ServerClient, action: &Action) -> Result<Reply> {
    let mut request = serde_json::to_value(action)?;
    if let Action::Wait(wait) = action {
        request["wait"]["until"] = wait.until();
    }
    let answer = ask(server, &json!({ "action": request }))?;
    Ok(Reply {
        text: answer["text"].as_str().context("a text")?.to_owned(),
        data: Some(answer["data"].clone()),
        is_error: answer["is_error"].as_bool(),
        ..Reply::default()
    })
}

fn ask(server: &mut ServerClient, step: &Value) -> Result<Value> {
    server.send(step)?;
    let answer = server.next(STEP_TIMEOUT)?;
    ensure!(answer.is_object(), "{answer}");
    Ok(answer)
}

//! The call: the attempt in its sandbox, below a host; and its effects.

use super::around::{POLL_INTERVAL, PRELUDE, RunEnvironment, STEP_TIMEOUT};
use super::listeners::Ports;
use super::scenery::{HOME, KIT, OUTSIDE, OWN, SEEN, WORKSPACE};
use crate::proxy::PROXY;
use crate::run::{Observations, Outcome, Run, Tier};
use agent_bash_sandbox::PROXY_PORT;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

/// The attempt's text.
const SCRIPT: &str = "/mnt/attempt.sh";

/// The background script of an earlier call.
const EARLIER: &str = "/mnt/earlier.sh";

/// The network with a list of hosts, in rows.
const HOSTS: &str = "hosts";

/// The hosts that the sandboxes of the attempts list. Names of ports are replaced. The name leads
/// to an address that is not listed with that port. The last entry is the host of the secret.
const LISTED_HOSTS: [&str; 4] = [
    "127.0.0.1:PROBE_PORT", "private.example:PORT", "127.0.0.1:SECRET_PORT",
    "http://127.0.0.1:SECRET_PORT",
];

/// The hosts that the proxy of the control lists.
const EVERY_HOST: [&str; 6] = [
    "127.0.0.1:SECRET_PORT", "127.0.0.1:PROBE_PORT", "127.0.0.1:PORT", "[::1]:PORT6",
    "private.example:PORT", "other.example:PORT",
];

/// How long to wait for an effect that must not come but would be late. An effect that must come
/// is waited for until [`STEP_TIMEOUT`] has passed.
const UNEXPECTED: Duration = Duration::from_millis(250);

/// Makes a copy of the configuration that the call may write, and a link to it.
const MAKE_GIT_COPY: &str = r#"as_user mkdir "$TMPDIR/copy"; as_user cp "$WS/.git/config" "$TMPDIR/copy"; ln -s "$TMPDIR/copy/config" "$OUT/git-copy""#;

/// The first line of every attempt.
const BEGAN: &str = "began";

pub(crate) fn make(run: &Run, ports: &Ports) -> Result<Observations> {
    let environment = RunEnvironment::new(run, ports)?;
    for (command, lacking) in &run.row.needs {
        if !environment.outside(command)?.success() {
            return environment.observations(Outcome::NotTried(lacking.clone()));
        }
    }
    environment.outside(&run.row.before)?;
    if run.row.git_copy {
        environment.outside(MAKE_GIT_COPY)?;
    }
    let ended = environment.call()?;
    let outcome = environment.outcome(ended);
    environment.outside(&run.row.after)?;
    environment.observations(outcome?)
}

impl RunEnvironment<'_> {
    /// Makes the attempt, and returns how its host ended.
    fn call(&self) -> Result<ExitStatus> {
        let row = &self.run.row;
        fs::write(SCRIPT, format!("echo {BEGAN}\n{PRELUDE}\n{}\n", row.tried))?;
        if !row.earlier.is_empty() {
            fs::write(EARLIER, format!("{PRELUDE}\n{}\n", row.earlier))?;
            if self.run.tier == Tier::None {
                self.program(&["bash", EARLIER]).spawn()?;
            }
        }
        if row.network == HOSTS && self.run.tier == Tier::None {
            self.open_proxy()?;
        }
        let output = File::create(format!("{SEEN}/output"))?;
        let words = self.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut host = self
            .program(&words)
            .env("TOKEN", "kept-by-the-host")
            .current_dir(WORKSPACE)
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()?;
        let until = Instant::now() + STEP_TIMEOUT;
        let mut during = None;
        let ended = loop {
            if let Some(ended) = host.try_wait()? {
                break ended;
            }
            if during.is_none() && !row.during.is_empty() && began() {
                during = Some(self.shell(&row.during, "")?);
            }
            if Instant::now() > until {
                host.kill()?;
                break host.wait()?;
            }
            thread::sleep(POLL_INTERVAL);
        };
        File::create(format!("{SEEN}/over"))?;
        if let Some(mut during) = during {
            during.wait()?;
        }
        Ok(ended)
    }

    /// Starts the proxy without a sandbox, with a list that allows every target of the attempts.
    fn open_proxy(&self) -> Result<()> {
        let proxy = format!("{KIT}/proxy");
        let port = format!(":{PROXY_PORT}");
        let hosts = self.hosts(&EVERY_HOST);
        let words: [&str; 3] = [&proxy, PROXY, &port];
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        self.program(&[&words[..], &hosts].concat()).spawn()?;
        let until = Instant::now() + STEP_TIMEOUT;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, PROXY_PORT)).is_err() {
            ensure!(Instant::now() < until, "the proxy does not listen");
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// The entries with the ports of the run.
    fn hosts(&self, entries: &[&str]) -> Vec<String> {
        let with_ports = |entry: &&str| {
            let mut entry = (*entry).to_owned();
            for name in ["PROBE_PORT", "SECRET_PORT", "PORT6", "PORT"] {
                entry = entry.replace(name, self.variable(name));
            }
            entry
        };
        entries.iter().map(with_ports).collect()
    }

    /// The host, its sandbox, and the program in it.
    fn words(&self) -> Vec<String> {
        let Run { row, tier, .. } = self.run;
        let host = format!("{KIT}/attacker host {SEEN}/typed {SEEN}/report {OUTSIDE}/leaked");
        // The variable is for the program, not for the launcher that becomes the program.
        let variable = |word: &str| match row.env.as_str() {
            "" => String::new(),
            env => format!("{word} {env}"),
        };
        let earlier = match row.earlier.as_str() {
            "" => String::new(),
            _ => format!("--earlier {EARLIER}"),
        };
        let git_copy = if row.git_copy && *tier == Tier::Full {
            format!("--git-copy {OUTSIDE}/git-copy")
        } else {
            String::new()
        };
        let network = match row.network.as_str() {
            HOSTS => {
                let hosts = self.hosts(&LISTED_HOSTS);
                let hosts: Vec<String> =
                    hosts.iter().map(|host| format!("--host {host}")).collect();
                format!("{HOSTS} --proxy {KIT}/proxy {}", hosts.join(" "))
            }
            other => other.to_owned(),
        };
        let sandboxed = match tier {
            Tier::None => variable("env"),
            tier => format!(
                "{KIT}/sandboxed --level {} --tier {} --network {network} --workspace {WORKSPACE} --home {HOME} --own {OWN} {git_copy} {earlier} {} --",
                row.level,
                tier.name(),
                variable("--env")
            ),
        };
        [&host, &row.with, &sandboxed, "bash", SCRIPT]
            .iter()
            .flat_map(|part| part.split_whitespace())
            .map(str::to_owned)
            .collect()
    }

    fn outcome(&self, ended: ExitStatus) -> Result<Outcome> {
        if !began() {
            return Ok(Outcome::NotBegun(ended.to_string()));
        }
        let ended = match ended.signal() {
            Some(signal) => format!("signal {signal}"),
            None => format!("exit {}", ended.code().unwrap_or(-1)),
        };
        let expected = self.run.goes_through(&self.missing()?);
        let patience = match (expected, self.run.row.delayed) {
            (true, _) => STEP_TIMEOUT,
            (false, true) => UNEXPECTED,
            (false, false) => Duration::ZERO,
        };
        let until = Instant::now() + patience;
        let happened = format!("{{\n{}\n}} 2> /dev/null", self.run.row.happened);
        loop {
            if self.shell(&happened, &ended)?.wait()?.success() {
                return Ok(Outcome::Through);
            }
            if Instant::now() >= until {
                return Ok(Outcome::Held);
            }
            thread::sleep(POLL_INTERVAL * 4);
        }
    }

    /// The promises that the sandbox reported as missing; empty without a sandbox.
    fn missing(&self) -> Result<Vec<String>> {
        let report = read("report");
        if self.run.tier == Tier::None || report.is_empty() {
            return Ok(Vec::new());
        }
        let report: Report =
            serde_json::from_slice(&report).context("the report of the sandbox")?;
        Ok(report.missing)
    }

    fn observations(&self, outcome: Outcome) -> Result<Observations> {
        let printed = [read("output"), read("log")].concat();
        Ok(Observations {
            outcome,
            missing: self.missing()?,
            printed: String::from_utf8_lossy(&printed).into_owned(),
        })
    }
}

/// The content of a file with observations.
fn read(name: &str) -> Vec<u8> {
    fs::read(format!("{SEEN}/{name}")).unwrap_or_default()
}

/// The report of a sandbox.
#[derive(serde::Deserialize)]
struct Report {
    missing: Vec<String>,
}

fn began() -> bool {
    fs::read_to_string(format!("{SEEN}/output")).is_ok_and(|text| text.starts_with(BEGAN))
}

//! The call: the attempt in its box, below a host; and what it did.

use super::around::{PATIENCE, PRELUDE, STEP, Stage};
use super::listeners::Ports;
use super::scenery::{HOME, KIT, OUTSIDE, OWN, SEEN, WORKSPACE};
use crate::run::{Observations, Outcome, Run, Tier};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

/// The attempt's text.
const SCRIPT: &str = "/mnt/attempt.sh";

/// The background script of an earlier call.
const EARLIER: &str = "/mnt/earlier.sh";

/// How long an effect is looked for: where it must be there, and where it must not but would come
/// late.
const EXPECTED: Duration = Duration::from_secs(5);
const UNEXPECTED: Duration = Duration::from_millis(250);

/// The first line of every attempt.
const BEGAN: &str = "began";

pub(crate) fn make(run: &Run, ports: &Ports) -> Result<Observations> {
    let stage = Stage::new(run, ports)?;
    for (command, lacking) in &run.row.needs {
        if !stage.outside(command)?.success() {
            return stage.observations(Outcome::NotTried(lacking.clone()));
        }
    }
    stage.outside(&run.row.before)?;
    let ended = stage.call()?;
    let outcome = stage.outcome(ended);
    stage.outside(&run.row.after)?;
    stage.observations(outcome?)
}

impl Stage<'_> {
    /// Makes the attempt; how its host ended.
    fn call(&self) -> Result<ExitStatus> {
        let row = &self.run.row;
        fs::write(SCRIPT, format!("echo {BEGAN}\n{PRELUDE}\n{}\n", row.tried))?;
        if !row.earlier.is_empty() {
            fs::write(EARLIER, format!("{PRELUDE}\n{}\n", row.earlier))?;
            if self.run.tier == Tier::None {
                self.program(&["bash", EARLIER]).spawn()?;
            }
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
        let until = Instant::now() + PATIENCE;
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
            thread::sleep(STEP);
        };
        if let Some(mut during) = during {
            during.wait()?;
        }
        File::create(format!("{SEEN}/over"))?;
        Ok(ended)
    }

    /// The host, its box, and what runs in it.
    fn words(&self) -> Vec<String> {
        let Run { row, tier, .. } = self.run;
        let host = format!("{KIT}/attacker host {SEEN}/typed {SEEN}/report {OUTSIDE}/leaked");
        // The program gets the variable, and not yet the box that becomes the program.
        let variable = |word: &str| match row.env.as_str() {
            "" => String::new(),
            env => format!("{word} {env}"),
        };
        let earlier = match row.earlier.as_str() {
            "" => String::new(),
            _ => format!("--earlier {EARLIER}"),
        };
        let boxed = match tier {
            Tier::None => variable("env"),
            tier => format!(
                "{KIT}/boxed --level {} --tier {} --network {} --workspace {WORKSPACE} --home {HOME} --own {OWN} {earlier} {} --",
                row.level,
                tier.name(),
                row.network,
                variable("--env")
            ),
        };
        [&host, &row.with, &boxed, "bash", SCRIPT]
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
        let expected = self.run.tier == Tier::None || self.run.row.works;
        let patience = match (expected, self.run.row.delayed) {
            (true, _) => EXPECTED,
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
            thread::sleep(STEP * 4);
        }
    }

    fn observations(&self, outcome: Outcome) -> Result<Observations> {
        let read = |name: &str| fs::read(format!("{SEEN}/{name}")).unwrap_or_default();
        let report = read("report");
        let missing = match self.run.tier {
            Tier::None => Vec::new(),
            _ if report.is_empty() => Vec::new(),
            _ => {
                let report: Report = serde_json::from_slice(&report).context("the box's report")?;
                report.missing
            }
        };
        let said = [read("output"), read("log")].concat();
        Ok(Observations {
            outcome,
            missing,
            printed: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

/// The report of a sandbox.
#[derive(serde::Deserialize)]
struct Report {
    missing: Vec<String>,
}

fn began() -> bool {
    fs::read_to_string(format!("{SEEN}/output")).is_ok_and(|text| text.starts_with(BEGAN))
}

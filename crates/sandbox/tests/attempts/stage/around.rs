//! The processes of a run outside of the sandbox: a victim, and the shells that prepare,
//! disturb and check.

use super::listeners::{ABSTRACT, Ports};
use super::scenery::{HOME, KIT, OUTSIDE, OWN, RUN, RUST, SEEN, WORKSPACE};
use crate::proxy::{PLACEHOLDER, SECRET};
use crate::run::{Run, Tier};
use anyhow::{Result, ensure};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The beginning of the attempt's script and the outside scripts.
pub(super) const PRELUDE: &str = include_str!("../prelude.sh");

const OUTER_SCRIPT: &str = "/mnt/outer.sh";

/// The time limit of each step, generous for a busy machine.
pub(super) const STEP_TIMEOUT: Duration = Duration::from_secs(60);

/// The interval between two tests of a condition.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// One run, and the variables of its processes.
pub(super) struct RunEnvironment<'a> {
    pub(super) run: &'a Run,
    /// Variables of the attempt and of the shells outside.
    variables: Vec<(&'static str, String)>,
}

impl<'a> RunEnvironment<'a> {
    pub(super) fn new(run: &'a Run, ports: &Ports) -> Result<Self> {
        let path = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].join(":");
        // Without placeholders, the call has the secret itself.
        let token = match run.tier {
            Tier::None => SECRET,
            _ => PLACEHOLDER,
        };
        let variables = vec![
            ("PATH", format!("{KIT}:{path}:{RUST}/bin")),
            ("HOME", HOME.to_owned()),
            ("TMPDIR", OWN.to_owned()),
            ("GIT_AUTHOR_NAME", "n".to_owned()),
            ("GIT_AUTHOR_EMAIL", "e".to_owned()),
            ("GIT_COMMITTER_NAME", "n".to_owned()),
            ("GIT_COMMITTER_EMAIL", "e".to_owned()),
            ("KIT", KIT.to_owned()),
            ("WS", WORKSPACE.to_owned()),
            ("OUT", OUTSIDE.to_owned()),
            ("RUN", RUN.to_owned()),
            ("SEEN", SEEN.to_owned()),
            ("TIER", run.tier.name().to_owned()),
            ("USER_ID", run.user.id().to_string()),
            ("PORT", ports.tcp.to_string()),
            ("PORT6", ports.tcp6.to_string()),
            ("UDP_PORT", ports.udp.to_string()),
            ("PROBE_PORT", ports.probe.to_string()),
            ("SECRET_PORT", ports.secret.to_string()),
            ("A_TOKEN", token.to_owned()),
            ("ABSTRACT", ABSTRACT.to_owned()),
            ("GROUPS_AT", "/mnt/groups".to_owned()),
            ("MARK", mark(&run.kit, run.user.id(), run.tier)),
        ];
        let mut environment = Self { run, variables };
        let victim = environment.victim(ports)?;
        let noted = Path::new(SEEN).join("victim");
        let until = Instant::now() + STEP_TIMEOUT;
        while fs::read(&noted).unwrap_or_default().is_empty() {
            ensure!(Instant::now() < until, "the victim does not answer");
            thread::sleep(POLL_INTERVAL);
        }
        let address = fs::read_to_string(noted)?;
        environment
            .variables
            .push(("VICTIM", victim.id().to_string()));
        environment.variables.push(("ADDRESS", address));
        Ok(environment)
    }

    /// The value of a variable; empty for one that is not set.
    pub(super) fn variable(&self, name: &str) -> &str {
        let found = self.variables.iter().find(|(other, _)| *other == name);
        found.map_or("", |(_, value)| value)
    }

    /// A program of the attempt's user, started outside of the sandbox.
    pub(super) fn program(&self, words: &[&str]) -> Command {
        let mut program = Command::new(words[0]);
        let user = self.run.user.id();
        program.args(&words[1..]).env_clear();
        program.envs(self.variables.iter().map(|(name, value)| (name, value)));
        program
            .uid(user)
            .gid(user)
            .process_group(0)
            .stdin(Stdio::null());
        program
    }

    /// A process of the same user that is no part of the call.
    fn victim(&self, ports: &Ports) -> Result<Child> {
        let attacker = format!("{KIT}/attacker");
        let note = format!("{SEEN}/victim");
        let port = ports.tcp.to_string();
        let token = "--token=kept-on-the-command-line";
        let mut victim = self.program(&[&attacker, "victim", &note, &port, token]);
        victim.env("TOKEN", "kept-in-the-environment");
        victim.env("MEMORY", "kept-in-memory");
        Ok(victim.current_dir(OUTSIDE).spawn()?)
    }

    /// A shell of the test, outside of the sandbox.
    pub(super) fn shell(&self, text: &str, host_ended: &str) -> Result<Child> {
        let script = format!("{OUTER_SCRIPT}.{}", fs::read_dir("/mnt")?.count());
        fs::write(&script, format!("{PRELUDE}\n{text}\n"))?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(format!("{SEEN}/log"))?;
        let mut shell = Command::new("bash");
        shell.arg(script).env_clear().current_dir("/mnt");
        shell.envs(self.variables.iter().map(|(name, value)| (name, value)));
        shell.env("HOST_ENDED", host_ended);
        shell
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(shell.spawn()?)
    }

    pub(super) fn outside(&self, text: &str) -> Result<ExitStatus> {
        if text.is_empty() {
            return Ok(ExitStatus::default());
        }
        Ok(self.shell(text, "")?.wait()?)
    }
}

/// A unique name, for files outside of all namespaces.
fn mark(kit: &str, user: u32, tier: Tier) -> String {
    let kit = Path::new(kit).file_name().unwrap_or_default();
    let kit = kit.to_string_lossy().replace('.', "");
    format!("agent-bash-attempt-{kit}-{user}-{}", tier.name())
}

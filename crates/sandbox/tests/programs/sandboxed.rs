//! `sandboxed [OPTIONS] -- PROGRAM [ARGS…]` runs a program in a sandbox and ends as it
//! does. For tests.
//!
//!     --level read_only|workspace_write|off    (workspace_write)
//!     --tier base|full            (full)
//!     --network off|loopback|hosts|on   (off)
//!     --host ENTRY                a host that the network `hosts` allows; can be repeated
//!     --proxy PROGRAM             serves the listener of the network `hosts`: `PROGRAM --proxy FD
//!                                 ENTRY…`
//!     --trial DIR                 holds changes to this directory back …
//!     --held DIR                  … in `upper` of this one; its `work` is for the kernel
//!     --workspace DIR             instead of the workspace of the current directory
//!     --home DIR                  the home directory with the secrets; none by default
//!     --env NAME=VALUE            for the program; can be repeated
//!     --git-copy LINK             mounts this link over the workspace's `.git/config`; it leads to
//!                                 a copy in a directory that `--own` makes writable
//!     --own DIR                   writable at every level; can be repeated
//!     --earlier FILE              a script of an earlier call of this host that still runs, in a
//!                                 sandbox with a writable workspace and, at the full tier, with
//!                                 loopback
//!     --writable DIR, --readable PATH, --hidden PATH, --protected PATH, --device PATH
//!                                 can be repeated, see `WantedSandbox`
//!
//! If descriptor 3 is open, the report is written to it, as a line of JSON. The exit code is 125 if
//! the sandbox could not be set up.

use agent_bash_core::changes::Overlay;
use agent_bash_core::sandbox::RedirectedFile;
use agent_bash_sandbox::{
    HostFacts, LauncherStart, ListenerReceiver, Network, NetworkEntrance, Networks, Order, Report,
    SocketGuard, Tier, WantedSandbox, WriteLevel, resolve,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

/// The time limit for an answer of the launcher.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    agent_bash_sandbox::init();
    match run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "sandboxed: {error}");
            ExitCode::from(125)
        }
    }
}

fn run() -> Result<u8, Box<dyn Error>> {
    let Wish {
        order,
        words,
        earlier,
        proxy,
    } = arguments()?;
    let report_to = descriptor_3();
    let host = Host {
        networks: Networks::default(),
        proxy,
    };
    if let Some((order, script)) = earlier {
        host.started(order, &["bash".into(), script])?;
    }
    let (mut child, report) = host.started(order, &words)?;
    if let (Some(mut to), Some(report)) = (report_to, report) {
        writeln!(to, "{}", serde_json::to_string(&report)?)?;
    }
    let status = child.wait()?;
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(u8::try_from(code.unwrap_or(255))?)
}

/// Starts programs in sandboxes.
struct Host {
    networks: Networks,
    /// The program that serves the listener of the network `hosts`.
    proxy: Option<OsString>,
}

impl Host {
    /// Starts a program in the sandbox of this order.
    fn started(
        &self,
        mut order: Order,
        words: &[OsString],
    ) -> Result<(Child, Option<Report>), Box<dyn Error>> {
        let program = found(words.first().ok_or("no program is named")?);
        let plan = order.plan.as_ref().filter(|_| order.trial.is_none());
        let mut receiver = None;
        let entrance = plan.map_or(Ok(None), |plan| {
            self.networks.entrance(plan, |listener| {
                receiver = Some(listener);
                Ok(())
            })
        })?;
        if let Some((NetworkEntrance { role, socket }, _)) = &entrance {
            order.network = Some((*role, socket.as_raw_fd()));
            fcntl_setfd(socket, FdFlags::empty())?;
        }
        let start = LauncherStart::new(&order)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a program for tests of the sandbox alone"
        )]
        let mut child = Command::new("/proc/self/exe")
            .arg0(LauncherStart::name())
            .args(start.words(&program, &words[0]))
            .args(&words[1..])
            .spawn()?;
        drop(entrance);
        match start.report(PATIENCE) {
            Ok(ready) => {
                if let (Some(receiver), Some(plan)) = (receiver, &order.plan) {
                    self.serve(receiver, &plan.hosts)?;
                }
                if let (Some(table), Some(Ok(listener))) = (ready.socket_table, ready.listener) {
                    SocketGuard::new(table)?.serve(listener)?;
                }
                Ok((child, ready.sandbox))
            }
            Err(error) => {
                child.wait()?;
                Err(error.into())
            }
        }
    }

    /// Starts the proxy.
    fn serve(&self, receiver: ListenerReceiver, hosts: &[String]) -> Result<(), Box<dyn Error>> {
        let listener = receiver.receive()?;
        let Some(program) = &self.proxy else {
            return Ok(());
        };
        fcntl_setfd(&listener, FdFlags::empty())?;
        #[expect(
            clippy::disallowed_methods,
            reason = "a program for tests of the sandbox alone"
        )]
        let mut command = Command::new(program);
        command.arg("--proxy").arg(listener.as_raw_fd().to_string());
        command.args(hosts).spawn()?;
        Ok(())
    }
}

/// The parsed command line.
struct Wish {
    order: Order,
    words: Vec<OsString>,
    /// The sandbox of an earlier call, and its script.
    earlier: Option<(Order, OsString)>,
    /// The program that serves as the proxy.
    proxy: Option<OsString>,
}

fn arguments() -> Result<Wish, Box<dyn Error>> {
    let mut wanted = WantedSandbox::new(WriteLevel::WorkspaceWrite);
    let (mut confined, mut trial, mut held) = (true, None, None);
    let mut own = Vec::new();
    let mut env = Vec::new();
    let (mut script, mut proxy, mut git_copy) = (None, None, None);
    let mut facts = HostFacts::new(None, PathBuf::from("."), Tier::Full);
    let mut args = std::env::args_os().skip(1);
    while let Some(option) = args.next() {
        if option == "--" {
            break;
        }
        let option = option.into_string().map_err(|_| "an unreadable option")?;
        let value = args
            .next()
            .ok_or_else(|| format!("{option} needs a value"))?;
        let text = || serde_json::Value::from(value.to_string_lossy());
        let path = || std::path::absolute(&value);
        match option.as_str() {
            "--level" if value == "off" => confined = false,
            "--trial" => trial = Some(std::fs::canonicalize(&value)?),
            "--held" => held = Some(std::fs::canonicalize(&value)?),
            "--level" => wanted.level = serde_json::from_value(text())?,
            "--tier" => facts.tier = serde_json::from_value(text())?,
            "--network" => wanted.network = serde_json::from_value::<Network>(text())?,
            "--host" => wanted
                .hosts
                .push(value.into_string().map_err(|_| "an unreadable host")?),
            "--proxy" => proxy = Some(value),
            "--workspace" => facts.directory = path()?,
            "--home" => facts.home = Some(path()?),
            "--env" => {
                let (name, value) = value
                    .to_str()
                    .and_then(|it| it.split_once('='))
                    .ok_or("--env takes NAME=VALUE")?;
                env.push((name.into(), Some(value.into())));
            }
            "--earlier" => script = Some(value),
            "--git-copy" => git_copy = Some(path()?),
            "--own" => own.push(std::fs::canonicalize(&value)?),
            "--writable" => wanted.writable.push(path()?),
            "--readable" => wanted.readable.push(path()?),
            "--hidden" => wanted.hidden.push(path()?),
            "--protected" => wanted.protected.push(path()?),
            "--device" => wanted.devices.push(path()?),
            _ => return Err(format!("{option} is no option").into()),
        }
    }
    let trial = trial
        .zip(held)
        .map(|(root, held): (PathBuf, PathBuf)| Overlay {
            root,
            upper: held.join("upper"),
            work: held.join("work"),
        });
    let order = |plan, trial| Order {
        plan,
        trial,
        trace: false,
        observes_refusals: false,
        writable: own.clone(),
        env: env.clone(),
        inherited: Vec::new(),
        network: None,
    };
    let earlier = script.map(|script| -> Result<_, Box<dyn Error>> {
        let mut writing = WantedSandbox::new(WriteLevel::WorkspaceWrite);
        if facts.tier == Tier::Full {
            writing.network = Network::Loopback;
        }
        Ok((order(Some(resolve(&writing, &facts)?.plan), None), script))
    });
    let resolved = confined.then(|| resolve(&wanted, &facts)).transpose()?;
    let mut plan = resolved.map(|resolved| resolved.plan);
    if let (Some(plan), Some(link)) = (&mut plan, git_copy) {
        plan.git_config = Some(RedirectedFile {
            file: facts.directory.join(".git/config"),
            directory: std::fs::read_link(&link)?.with_file_name(""),
            link,
        });
    }
    Ok(Wish {
        order: order(plan, trial),
        words: args.collect(),
        earlier: earlier.transpose()?,
        proxy,
    })
}

/// The file for the report, which the program does not inherit.
fn descriptor_3() -> Option<std::fs::File> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::APPEND;
    let file = rustix::fs::open("/proc/self/fd/3", flags, Mode::empty()).ok()?;
    nix::unistd::close(3).ok()?;
    Some(file.into())
}

/// The program, by `PATH` if its name has no slash.
fn found(program: &OsString) -> OsString {
    let by_path = |directory: PathBuf| Some(directory.join(program)).filter(|path| path.is_file());
    if program.to_string_lossy().contains('/') {
        return program.clone();
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own has an environment of its own"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .find_map(by_path)
        .map_or_else(|| program.clone(), OsString::from)
}

//! Connects to a target: starts the transport, runs the script on the remote host, uploads this
//! program if it is missing, and returns the program's stdin and stdout.

use crate::argv::argv;
use crate::error::{NotReached, Obstacle};
use crate::script::{script, word};
use crate::stderr_tail::StderrTail;
use crate::{Program, Target};
use agent_bash_core::{Clock, hex, visible};
use agent_bash_process::{Transport, TransportProcess};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::task::JoinHandle;

/// Time limit for the first answer of the target.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit of an upload.
pub const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// The largest output before the remote host answers: login messages.
pub const MAX_BANNER_BYTES: usize = 64 * 1024;

/// Time limit for the error message of a transport that has failed.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);

/// Maximum length in bytes of a line that the script prints.
const MAX_LINE_BYTES: u64 = 4096;

/// The facts of the local machine that a connection needs.
#[derive(Debug, Clone)]
pub struct LocalHost {
    /// The environment of transports: ssh finds its agent in it, kubectl its configuration.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// The working directory of transports.
    pub cwd: PathBuf,
    /// The clock for all waits.
    pub clock: Arc<dyn Clock>,
}

/// A target on which this program was started.
#[derive(Debug)]
pub(crate) struct StartedTarget {
    /// The stdin of the program.
    pub(crate) input: Sender,
    /// The stdout of the program.
    pub(crate) output: BufReader<Receiver>,
    /// The tail of the transport's stderr.
    pub(crate) stderr: StderrTail,
    /// The task that reads stderr.
    pub(crate) reading: JoinHandle<()>,
    /// The transport.
    pub(crate) carrier: TransportProcess,
    /// True if the program was uploaded for this connection.
    pub(crate) uploaded: bool,
}

/// Connects to a target and starts this program on it.
///
/// # Errors
/// [`NotReached`]; no local process is left then.
pub(crate) async fn dial(
    target: &Target,
    program: &Program,
    here: &LocalHost,
) -> Result<StartedTarget, NotReached> {
    let not_reached = |what, said| NotReached {
        target: target.name.clone(),
        what,
        stderr: said,
    };
    let nonce =
        nonce().map_err(|error| not_reached(Obstacle::Local(error.to_string()), String::new()))?;
    let words = argv(&target.way, &script(target, program, &nonce));
    let transport = Transport::start(&words, &here.env, &here.cwd).map_err(|error| {
        let program = words
            .first()
            .map(|word| word.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        let reason = error.to_string();
        not_reached(Obstacle::NoTransport { program, reason }, String::new())
    })?;
    let said = StderrTail::default();
    let mut line = StartedTarget {
        input: transport.input,
        output: BufReader::new(transport.output),
        reading: tokio::spawn(said.clone().read(transport.errors)),
        stderr: said,
        carrier: transport.carrier,
        uploaded: false,
    };
    let Err(what) = line.boot(program, &nonce, here).await else {
        return Ok(line);
    };
    // The transport's error message may still arrive.
    drop(line.input);
    let last = async {
        line.carrier.ended().await;
        let _ = line.reading.await;
    };
    tokio::select! {
        biased;
        () = last => {}
        () = here.clock.sleep(LAST_WORDS) => {}
    }
    Err(not_reached(what, line.stderr.text()))
}

/// Returns the nonce that the script prints first, so that its output is recognised.
fn nonce() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled +=
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(hex(&bytes))
}

impl StartedTarget {
    /// Follows the script until it executes this program.
    async fn boot(
        &mut self,
        program: &Program,
        nonce: &str,
        here: &LocalHost,
    ) -> Result<(), Obstacle> {
        let Self { input, output, .. } = self;
        let first = answer(output, nonce);
        let first = within(
            here,
            CONNECT_TIMEOUT,
            Obstacle::Silent(CONNECT_TIMEOUT),
            first,
        )
        .await?;
        if first == word::RUN {
            return Ok(());
        }
        if first != word::NEED {
            return Err(obstacle(&first, program));
        }
        self.uploaded = true;
        within(
            here,
            UPLOAD_TIMEOUT,
            Obstacle::SlowUpload(UPLOAD_TIMEOUT),
            async {
                // A script that stops reading prints the reason.
                let (sent, answer) = tokio::join!(upload(input, program), answer(output, nonce));
                match (&*answer?, sent) {
                    (word::RUN, Ok(())) => Ok(()),
                    (word::RUN, Err(error)) => Err(Obstacle::Program(error.to_string())),
                    (other, _) => Err(obstacle(other, program)),
                }
            },
        )
        .await
    }
}

async fn within<T>(
    here: &LocalHost,
    limit: Duration,
    late: Obstacle,
    work: impl Future<Output = Result<T, Obstacle>>,
) -> Result<T, Obstacle> {
    tokio::select! {
        biased;
        done = work => done,
        () = here.clock.sleep(limit) => Err(late),
    }
}

/// Reads the script's next message: the rest of the line after the nonce. Output before the nonce
/// is not from the script.
async fn answer(output: &mut BufReader<Receiver>, nonce: &str) -> Result<String, Obstacle> {
    let mut seen = Vec::new();
    while !seen.ends_with(nonce.as_bytes()) {
        if seen.len() > MAX_BANNER_BYTES {
            return Err(Obstacle::Chatter(MAX_BANNER_BYTES));
        }
        match output.read_u8().await {
            Ok(byte) => seen.push(byte),
            Err(_) => return Err(Obstacle::Ended),
        }
    }
    let mut line = Vec::new();
    let read = output
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut line)
        .await;
    if read.is_err() || !line.ends_with(b"\n") {
        return Err(Obstacle::Ended);
    }
    Ok(String::from_utf8_lossy(&line).trim().to_owned())
}

async fn upload(input: &mut Sender, program: &Program) -> io::Result<()> {
    let mut file = File::open(program.path())?.take(program.length());
    let mut piece = vec![0; 256 * 1024];
    loop {
        // Usually in the page cache, because the file was just read for its hash.
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        input.write_all(&piece[..length]).await?;
    }
}

/// Returns the obstacle for the script's failure word.
fn obstacle(said: &str, program: &Program) -> Obstacle {
    let (word, rest) = said.split_once(' ').unwrap_or((said, ""));
    let rest = visible::one_line(rest).into_owned();
    match word {
        word::MACHINE => Obstacle::Machine {
            machine: rest,
            ours: program.machine().to_owned(),
        },
        word::NOWHERE => Obstacle::Nowhere,
        word::MISSING => Obstacle::Missing,
        word::UNWRITTEN => Obstacle::Unwritten(rest),
        word::SHORT => Obstacle::Short {
            received: rest,
            length: program.length(),
        },
        word::DAMAGED => Obstacle::Damaged,
        _ => Obstacle::Strange(visible::one_line(said).into_owned()),
    }
}

//! Connects to a target: starts the transport, runs the script on the remote host, uploads this
//! program if it is missing, and returns the program's stdin and stdout.

use crate::argv::argv;
use crate::error::{NotReached, Obstacle};
use crate::script::{script, word};
use crate::stderr_tail::StderrTail;
use crate::{Program, Target};
use agent_bash_core::{Clock, hex, visible};
use agent_bash_process::{Transport, TransportProcess, random_bytes};
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

/// The time limit for the rest of stderr after a transport has failed.
pub(crate) const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// The task that reads stderr to its end.
    pub(crate) stderr_task: JoinHandle<()>,
    pub(crate) transport: TransportProcess,
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
    local: &LocalHost,
) -> Result<StartedTarget, NotReached> {
    let not_reached = |what, stderr| NotReached {
        target: target.name.clone(),
        what,
        stderr,
    };
    let nonce =
        nonce().map_err(|error| not_reached(Obstacle::Local(error.to_string()), String::new()))?;
    let words = argv(&target.transport, &script(target, program, &nonce));
    let transport = Transport::start(&words, &local.env, &local.cwd).map_err(|error| {
        let program = words
            .first()
            .map(|word| word.to_string_lossy().into_owned());
        let program = program.unwrap_or_default();
        let reason = error.to_string();
        not_reached(Obstacle::NoTransport { program, reason }, String::new())
    })?;
    let stderr = StderrTail::default();
    let mut started = StartedTarget {
        input: transport.input,
        output: BufReader::new(transport.output),
        stderr_task: tokio::spawn(stderr.clone().read(transport.errors)),
        stderr,
        transport: transport.process,
        uploaded: false,
    };
    let Err(what) = started.follow_script(program, &nonce, local).await else {
        return Ok(started);
    };
    // The transport's error message may still arrive.
    drop(started.input);
    let last_output = async {
        started.transport.ended().await;
        let _ = started.stderr_task.await;
    };
    tokio::select! {
        biased;
        () = last_output => {}
        () = local.clock.sleep(STDERR_TIMEOUT) => {}
    }
    Err(not_reached(what, started.stderr.text()))
}

/// Returns a random text. The script prints it before each message, so that messages are
/// recognised among other output.
fn nonce() -> io::Result<String> {
    Ok(hex(&random_bytes::<16>()?))
}

impl StartedTarget {
    /// Reads the messages of the script until the script executes this program. Uploads the program
    /// if the script asks for it.
    async fn follow_script(
        &mut self,
        program: &Program,
        nonce: &str,
        local: &LocalHost,
    ) -> Result<(), Obstacle> {
        let Self { input, output, .. } = self;
        let message = next_message(output, nonce);
        let message = with_timeout(
            local,
            CONNECT_TIMEOUT,
            Obstacle::Silent(CONNECT_TIMEOUT),
            message,
        )
        .await?;
        if message == word::RUN {
            return Ok(());
        }
        if message != word::NEED {
            return Err(obstacle_of(&message, program));
        }
        self.uploaded = true;
        with_timeout(
            local,
            UPLOAD_TIMEOUT,
            Obstacle::SlowUpload(UPLOAD_TIMEOUT),
            async {
                // If the script stops reading, its next message tells why.
                let (sent, answer) =
                    tokio::join!(upload(input, program), next_message(output, nonce));
                match (&*answer?, sent) {
                    (word::RUN, Ok(())) => Ok(()),
                    (word::RUN, Err(error)) => Err(Obstacle::Program(error.to_string())),
                    (other, _) => Err(obstacle_of(other, program)),
                }
            },
        )
        .await
    }
}

/// Completes `task`, or returns `failure` after `limit`.
async fn with_timeout<T>(
    local: &LocalHost,
    limit: Duration,
    failure: Obstacle,
    task: impl Future<Output = Result<T, Obstacle>>,
) -> Result<T, Obstacle> {
    tokio::select! {
        biased;
        done = task => done,
        () = local.clock.sleep(limit) => Err(failure),
    }
}

/// Reads the script's next message: the rest of the line after the nonce. Output before the nonce
/// is not from the script.
async fn next_message(output: &mut BufReader<Receiver>, nonce: &str) -> Result<String, Obstacle> {
    let mut printed = Vec::new();
    while !printed.ends_with(nonce.as_bytes()) {
        if printed.len() > MAX_BANNER_BYTES {
            return Err(Obstacle::TooMuchOutput(MAX_BANNER_BYTES));
        }
        match output.read_u8().await {
            Ok(byte) => printed.push(byte),
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
        // The blocking read is short: the file is in the page cache, because it was just hashed.
        let length = file.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        input.write_all(&piece[..length]).await?;
    }
}

/// Returns the obstacle that a message of the script reports.
fn obstacle_of(message: &str, program: &Program) -> Obstacle {
    let (word, rest) = message.split_once(' ').unwrap_or((message, ""));
    let rest = visible::one_line(rest).into_owned();
    match word {
        word::MACHINE => Obstacle::OtherArchitecture {
            machine: rest,
            ours: program.machine().to_owned(),
        },
        word::NOWHERE => Obstacle::NoDirectory,
        word::MISSING => Obstacle::Missing,
        word::UNWRITTEN => Obstacle::Unwritten(rest),
        word::SHORT => Obstacle::Incomplete {
            received: rest,
            length: program.length(),
        },
        word::DAMAGED => Obstacle::Damaged,
        _ => Obstacle::UnknownAnswer(visible::one_line(message).into_owned()),
    }
}

//! Pipes any reader through a sink: `pipe_through [--head N] [--tail N] [--keep DIR] < input`.
//!
//! Prints the shown text to stdout and the counts, as JSON, to stderr.

use agent_bash_core::{
    ArtifactEnd, ArtifactMeta, ArtifactStore, Clock, ConsumerFlow, OutputLimits, Status, StreamId,
    Timestamp, Truncation,
};
use agent_bash_sink::{
    ArtifactDir, ArtifactDirOptions, ArtifactLimits, CarriageReturn, Lifetime, Naming, OutputSink,
    ShownOutput, SinkOptions, SizeStyle, binary_text,
};
use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A clock that never advances: this program neither measures nor waits.
#[derive(Debug)]
struct WallClock;

#[async_trait::async_trait]
impl Clock for WallClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    #[expect(clippy::disallowed_methods, reason = "this program's own clock")]
    fn wall(&self) -> Timestamp {
        SystemTime::now().into()
    }

    async fn sleep(&self, _: Duration) {}
}

#[expect(clippy::print_stderr, reason = "the counts are for people")]
fn main() -> io::Result<()> {
    let mut options = SinkOptions {
        limits: OutputLimits {
            truncation: Truncation::Tail { bytes: 50 * 1024 },
            max_line_chars: Some(4000),
        },
        head: None,
        tail: None,
        carriage_return: CarriageReturn::Overwrite,
        stream: StreamId::Merged,
    };
    let mut store: Option<Arc<dyn ArtifactStore>> = None;
    let mut arguments = std::env::args().skip(1);
    while let (Some(flag), Some(value)) = (arguments.next(), arguments.next()) {
        match flag.as_str() {
            "--head" => options.head = value.parse::<NonZeroU64>().ok(),
            "--tail" => options.tail = value.parse::<NonZeroU64>().ok(),
            "--keep" => store = Some(Arc::new(artifacts(value.into())?)),
            _ => return Err(io::Error::other(format!("unknown flag {flag}"))),
        }
    }
    let meta = ArtifactMeta {
        command: "standard input".into(),
        cwd: String::new(),
        started_at: WallClock.wall(),
    };
    let mut sink = OutputSink::new(options, store, meta);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = io::stdin().read(&mut buffer)?;
        // Once `head` has its lines, this program stops reading, so the producer gets SIGPIPE or
        // EPIPE.
        if read == 0 || sink.push(&buffer[..read]) == ConsumerFlow::Stop {
            break;
        }
    }
    let report = sink.finish(&ArtifactEnd {
        status: Status::Exited { code: 0 },
        duration: Duration::ZERO,
    });
    let mut stdout = io::stdout().lock();
    for piece in report.shown.pieces() {
        stdout.write_all(piece.marked().as_bytes())?;
    }
    if report.shown == ShownOutput::Binary {
        let mark = binary_text(report.summary.total_bytes, SizeStyle::Tight);
        writeln!(stdout, "{mark}")?;
    }
    eprintln!("{}", serde_json::to_string_pretty(&report.summary)?);
    for line in report
        .artifact
        .map(|artifact| artifact.path)
        .into_iter()
        .chain(report.artifact_error)
    {
        eprintln!("{line}");
    }
    Ok(())
}

fn artifacts(root: PathBuf) -> io::Result<ArtifactDir> {
    ArtifactDir::new(ArtifactDirOptions {
        root,
        session: "pipe".into(),
        naming: Naming::Numbered,
        lifetime: Lifetime::Day,
        limits: ArtifactLimits::CONTRACT,
        clock: Arc::new(WallClock),
    })
    .map_err(io::Error::other)
}

//! Output that is too much, not text, or in the wrong place.

use crate::{Outcome, processes};
use std::io::{self, BufWriter, Write};

/// Bytes per write.
const BLOCK_BYTES: usize = 64 * 1024;

pub(crate) fn flood(bytes: &str) -> Outcome {
    repeat(b'x', bytes.parse()?)
}

pub(crate) fn nul(bytes: &str) -> Outcome {
    repeat(0, bytes.parse()?)
}

fn repeat(byte: u8, count: usize) -> Outcome {
    let block = vec![byte; BLOCK_BYTES];
    let mut out = io::stdout().lock();
    let mut left = count;
    while left > 0 {
        let now = left.min(BLOCK_BYTES);
        out.write_all(&block[..now])?;
        left -= now;
    }
    Ok(out.flush()?)
}

pub(crate) fn lines(count: &str) -> Outcome {
    let count: u64 = count.parse()?;
    let mut out = BufWriter::new(io::stdout().lock());
    for number in 1..=count {
        writeln!(out, "{number}")?;
    }
    Ok(out.flush()?)
}

pub(crate) fn endless(_: &str) -> Outcome {
    let block = vec![b'y'; BLOCK_BYTES];
    let mut out = io::stdout().lock();
    loop {
        out.write_all(&block)?;
    }
}

pub(crate) fn invalid_utf8(_: &str) -> Outcome {
    // A lone continuation byte, an overlong form, a surrogate, a sequence truncated at the end.
    let mut out = io::stdout().lock();
    out.write_all(b"before \x80 \xc0\xaf \xed\xa0\x80 after\nend \xe2\x82")?;
    Ok(out.flush()?)
}

pub(crate) fn split_utf8(count: &str) -> Outcome {
    let count: u64 = count.parse()?;
    let mut out = io::stdout().lock();
    for _ in 0..count {
        for byte in "\u{20ac}".bytes() {
            out.write_all(&[byte])?;
            out.flush()?;
        }
    }
    Ok(())
}

pub(crate) fn stderr(text: &str) -> Outcome {
    Ok(writeln!(io::stderr(), "{text}")?)
}

pub(crate) fn lose_stdout(_: &str) -> Outcome {
    let null = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    processes::linger("")
}

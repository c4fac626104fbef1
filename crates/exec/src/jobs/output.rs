//! Reads a job's output. The file only grows, so a reader in any process that continues where its
//! last part ended sees neither gaps nor duplicates.

use crate::jobs::entry::JobFiles;
use crate::jobs::{Job, JobError};
use agent_bash_core::whole_characters;
use agent_bash_os::open_regular;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The part of an output to read. A last line without a newline counts as a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputRange {
    /// The part from an offset, such as [`JobOutput::next`] of the previous part; 0 is the
    /// beginning.
    From {
        /// Offset in bytes.
        offset: u64,
        /// Maximum number of bytes. A character is only split if it alone is longer than this.
        max_bytes: usize,
    },
    /// The last lines.
    Tail {
        /// The number of lines.
        lines: u64,
        /// Maximum number of bytes; a longer part is cut at its beginning.
        max_bytes: usize,
    },
    /// Lines by their numbers.
    Lines {
        /// First line, from 1.
        first: u64,
        /// Last line, inclusive.
        last: u64,
        /// Maximum number of bytes; a longer part is cut at its end.
        max_bytes: usize,
    },
}

/// A part of a job's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobOutput {
    /// The raw bytes.
    pub bytes: Vec<u8>,
    /// The offset of these bytes in the output.
    pub from: u64,
    /// Offset where the next part begins.
    pub next: u64,
    /// True if these bytes reach the end of the output so far.
    pub at_end: bool,
    /// True if no more output can follow: the job has ended and no process holds its output open.
    pub complete: bool,
    /// The job, as it was just before the output was read.
    pub job: Job,
}

/// Read buffer size.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads a part of the output.
pub(super) fn read(job_files: &JobFiles, range: OutputRange) -> Result<JobOutput, JobError> {
    // Reads the state before the output, because a job that has ended has already written all its
    // output.
    let job = job_files.to_job();
    let has_ended =
        !job_files.is_running() && !job.remaining.iter().any(|process| process.holds_output);
    let path = job_files.output().ok_or_else(|| JobError::NoOutput {
        id: job_files.id.clone(),
    })?;
    let part = read_part(&path, range).map_err(|source| JobError::Registry { path, source })?;
    if part.from > part.length {
        return Err(JobError::Shortened {
            id: job_files.id.clone(),
            length: part.length,
        });
    }
    let next = part.from + part.bytes.len() as u64;
    Ok(JobOutput {
        bytes: part.bytes,
        from: part.from,
        next,
        at_end: next == part.length,
        complete: has_ended && next == part.length,
        job,
    })
}

/// A part of an output file.
#[derive(Debug)]
struct OutputPart {
    bytes: Vec<u8>,
    from: u64,
    /// The length of the whole file.
    length: u64,
}

fn read_part(path: &Path, range: OutputRange) -> io::Result<OutputPart> {
    let mut file = open_regular(path)?;
    // Output beyond this length belongs to the next part.
    let length = file.metadata()?.len();
    let (from, to) = match range {
        OutputRange::From { offset, max_bytes } => {
            let to = offset.saturating_add(max_bytes as u64).min(length);
            (offset, to.max(offset.min(length)))
        }
        OutputRange::Tail { lines, max_bytes } => {
            let from = start_of_tail(&mut file, length, lines)?;
            (from.max(length.saturating_sub(max_bytes as u64)), length)
        }
        OutputRange::Lines {
            first,
            last,
            max_bytes,
        } => {
            let (from, to) = bounds_of_lines(&mut file, length, first, last)?;
            (from, to.min(from.saturating_add(max_bytes as u64)))
        }
    };
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
    if !bytes.is_empty() {
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut bytes)?;
    }
    if matches!(range, OutputRange::From { .. }) {
        let whole = whole_characters(&bytes);
        if whole > 0 {
            bytes.truncate(whole);
        }
    }
    Ok(OutputPart {
        bytes,
        from,
        length,
    })
}

/// Returns the offset of the last `lines` lines. Searches from the end, because the output may be
/// long.
fn start_of_tail(file: &mut File, length: u64, lines: u64) -> io::Result<u64> {
    if lines == 0 {
        return Ok(length);
    }
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut end = length;
    let mut found = 0;
    while end > 0 {
        let start = end.saturating_sub(BUFFER_BYTES as u64);
        let part = &mut buffer[..usize::try_from(end - start).unwrap_or(BUFFER_BYTES)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        for (index, _) in part.iter().enumerate().rev().filter(|(_, b)| **b == b'\n') {
            let after = start + index as u64 + 1;
            // The newline at the very end does not start another line.
            if after == length {
                continue;
            }
            found += 1;
            if found == lines {
                return Ok(after);
            }
        }
        end = start;
    }
    Ok(0)
}

/// Returns the offsets at which line `first` begins and line `last` ends.
fn bounds_of_lines(file: &mut File, length: u64, first: u64, last: u64) -> io::Result<(u64, u64)> {
    let first = first.max(1);
    let mut from = if first == 1 { Some(0) } else { None };
    let mut line = 1;
    let mut at = 0;
    let mut buffer = vec![0; BUFFER_BYTES];
    while at < length && last >= first {
        let wanted = usize::try_from(length - at)
            .unwrap_or(BUFFER_BYTES)
            .min(BUFFER_BYTES);
        let count = file.read(&mut buffer[..wanted])?;
        if count == 0 {
            break;
        }
        for (index, _) in buffer[..count]
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'\n')
        {
            let after = at + index as u64 + 1;
            if line == last {
                return Ok((from.unwrap_or(after), after));
            }
            line += 1;
            if line == first {
                from = Some(after);
            }
        }
        at += count as u64;
    }
    let from = from.unwrap_or(length);
    Ok(if last < first {
        (from, from)
    } else {
        (from, length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn part(content: &[u8], range: OutputRange) -> String {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        let part = read_part(file.path(), range).unwrap();
        assert_eq!(part.length, content.len() as u64);
        String::from_utf8(part.bytes).unwrap()
    }

    fn tail(lines: u64, max_bytes: usize) -> OutputRange {
        OutputRange::Tail { lines, max_bytes }
    }

    fn lines(first: u64, last: u64, max_bytes: usize) -> OutputRange {
        OutputRange::Lines {
            first,
            last,
            max_bytes,
        }
    }

    #[test]
    fn lines_and_tail_return_the_same_as_sed_and_tail() {
        for (content, range, want) in [
            ("1\n2\n3\n", tail(2, 1000), "2\n3\n"),
            ("1\n2\n3", tail(2, 1000), "2\n3"),
            ("1\n2\n3", tail(9, 1000), "1\n2\n3"),
            ("1\n\n\n", tail(2, 1000), "\n\n"),
            ("1\n2\n", tail(0, 1000), ""),
            ("", tail(3, 1000), ""),
            ("\n", tail(1, 1000), "\n"),
            ("1\n2\n3\n", lines(2, 2, 1000), "2\n"),
            ("1\n2\n3", lines(2, 9, 1000), "2\n3"),
            ("1\n2\n3\n", lines(1, 2, 1000), "1\n2\n"),
            ("1\n2\n3\n", lines(4, 9, 1000), ""),
            ("1\n2\n3\n", lines(3, 2, 1000), ""),
            ("1\n2\n3\n", lines(0, 1, 1000), "1\n"),
            ("1\n2\n3\n", tail(2, 3), "\n3\n"),
            ("1\n2\n3\n", lines(2, 3, 3), "2\n3"),
        ] {
            assert_eq!(
                part(content.as_bytes(), range),
                want,
                "{content:?} {range:?}"
            );
        }
    }

    #[test]
    fn tail_and_lines_may_cross_buffers() {
        let numbers: Vec<String> = (1..=50_000).map(|n| n.to_string()).collect();
        let content = numbers.join("\n") + "\n";
        let tail = tail(40_000, usize::MAX);
        assert!(part(content.as_bytes(), tail).starts_with("10001\n10002\n"));
        let lines = lines(29_999, 30_001, usize::MAX);
        assert_eq!(part(content.as_bytes(), lines), "29999\n30000\n30001\n");
    }

    #[test]
    fn parts_from_offsets_are_complete_and_split_no_character() {
        let content = "aä€𝄞".repeat(50);
        for max_bytes in [4, 5, 7, 64, 10_000] {
            let (mut whole, mut offset) = (String::new(), 0);
            loop {
                let range = OutputRange::From { offset, max_bytes };
                let got = part(content.as_bytes(), range);
                if got.is_empty() {
                    break;
                }
                offset += got.len() as u64;
                whole.push_str(&got);
            }
            assert_eq!(whole, content, "{max_bytes}");
        }
    }
}

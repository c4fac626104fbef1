//! Reads the output of survivors after the end of their call, and appends it to the call's file or
//! discards it. Without a reader, SIGPIPE would kill the survivors.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes read at once: the capacity of a pipe.
const BUFFER_BYTES: usize = 64 * 1024;

/// The pipes being read, each with its file.
#[derive(Debug, Default)]
pub(super) struct Relay {
    pairs: Vec<RelayedPipe>,
    /// Number of bytes that may still be written to the files.
    quota: u64,
    /// Number of bytes that were read but not written.
    dropped: u64,
}

#[derive(Debug)]
struct RelayedPipe {
    pipe: OwnedFd,
    /// `None` to discard the output.
    file: Option<File>,
}

impl Relay {
    /// Takes over pipes; `files` has one file per pipe, or is empty.
    pub(super) fn add(
        &mut self,
        pipes: Vec<OwnedFd>,
        files: Vec<OwnedFd>,
        quota: u64,
    ) -> io::Result<()> {
        if !pipes.is_empty() {
            self.quota = quota;
        }
        let mut files = files.into_iter().map(File::from);
        for pipe in pipes {
            rustix::io::ioctl_fionbio(&pipe, true)?;
            self.pairs.push(RelayedPipe {
                pipe,
                file: files.next(),
            });
        }
        Ok(())
    }

    /// Takes over all pipes of another relay.
    pub(super) fn merge(&mut self, other: Self) {
        self.quota = self.quota.max(other.quota);
        self.pairs.extend(other.pairs);
    }

    /// Bytes that were read but not written.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Stops reading: further writes cause SIGPIPE.
    pub(super) fn close(&mut self) {
        self.pairs.clear();
    }

    pub(super) fn is_done(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Descriptors to poll for reading.
    pub(super) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pairs.iter().map(|pair| pair.pipe.as_fd())
    }

    /// Copies the available output, at most one buffer per pipe, so that a flood does not starve
    /// the supervisor's other work.
    pub(super) fn pump(&mut self) {
        if self.pairs.is_empty() {
            return;
        }
        let mut buffer = vec![0u8; BUFFER_BYTES];
        let (quota, dropped) = (&mut self.quota, &mut self.dropped);
        self.pairs
            .retain_mut(|pair| match rustix::io::read(&pair.pipe, &mut buffer) {
                Ok(0) => false,
                Ok(count) => {
                    *dropped += (count - pair.write_within_quota(&buffer[..count], quota)) as u64;
                    true
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => true,
                Err(_) => false,
            });
    }
}

impl RelayedPipe {
    /// Writes up to the quota and returns the number of written bytes. After the quota or a failed
    /// write, nothing more is written, so that the file remains a prefix of the output.
    fn write_within_quota(&mut self, bytes: &[u8], quota: &mut u64) -> usize {
        let Some(file) = &mut self.file else { return 0 };
        let room = usize::try_from(*quota).unwrap_or(usize::MAX);
        let part = &bytes[..bytes.len().min(room)];
        let written = write_until_failure(file, part);
        *quota -= written as u64;
        if written < bytes.len() {
            self.file = None;
        }
        written
    }
}

/// Writes until the first failure. Returns the number of written bytes.
fn write_until_failure(file: &mut File, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek};

    fn relay(quota: u64, with_file: bool) -> (Relay, io::PipeWriter, File) {
        let (read, write) = io::pipe().unwrap();
        let file = tempfile::tempfile().unwrap();
        let mut relay = Relay::default();
        let files = if with_file {
            vec![file.try_clone().unwrap().into()]
        } else {
            Vec::new()
        };
        relay.add(vec![read.into()], files, quota).unwrap();
        (relay, write, file)
    }

    fn content(mut file: &File) -> String {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    }

    /// Pumps until the relay is done; false if it never is. A child that another test has forked
    /// has the pipe open until it executes its program.
    fn is_done_soon(relay: &mut Relay) -> bool {
        (0..1_000_000).any(|_| {
            relay.pump();
            std::thread::yield_now();
            relay.is_done()
        })
    }

    #[test]
    fn relay_copies_until_last_writer_closes() {
        let (mut relay, mut write, file) = relay(1000, true);
        relay.pump();
        write.write_all(b"one ").unwrap();
        relay.pump();
        write.write_all(b"two").unwrap();
        drop(write);
        relay.pump();
        assert!(!relay.is_done());
        assert!(is_done_soon(&mut relay));
        assert_eq!(content(&file), "one two");
    }

    #[test]
    fn relay_drops_output_beyond_quota() {
        let (mut relay, mut write, file) = relay(5, true);
        write.write_all(b"0123456789").unwrap();
        relay.pump();
        write.write_all(b"more").unwrap();
        relay.pump();
        let written = content(&file);
        assert_eq!(written, "01234");
        assert_eq!(relay.dropped(), 9);
    }

    #[test]
    fn relay_without_file_discards_output() {
        let (mut relay, mut write, _file) = relay(5, false);
        for _ in 0..100 {
            write.write_all(&[b'x'; 4096]).unwrap();
            relay.pump();
        }
        drop(write);
        assert!(is_done_soon(&mut relay));
    }
}

//! Reading lines of bounded length. A line that is too long is read to its end and dropped, but for its beginning, so that the
//! next one is whole again.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Longest line, its end not counted.
pub const MAX_LINE: usize = 8 << 20;

/// What is kept of a line that is too long.
const BEGINNING: usize = 64 * 1024;

/// Bytes read at once.
const BUFFER: usize = 64 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line, without its end. The last one of the input may have none.
    Whole(Vec<u8>),
    /// It was longer than [`MAX_LINE`]. This is how it began; the rest is lost.
    TooLong(Vec<u8>),
    /// There is nothing more.
    End,
}

/// Lines of an input.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    /// The beginning of the line that is being read.
    line: Vec<u8>,
    /// It is too long already; of that so much is kept.
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER, input),
            line: Vec::new(),
            too_long: false,
        }
    }

    /// The next line. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let available = match self.input.fill_buf().await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if available.is_empty() {
                return Ok(if self.line.is_empty() && !self.too_long {
                    Line::End
                } else {
                    self.take()
                });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(available.len());
            if !self.too_long {
                self.line.extend_from_slice(&available[..part]);
            }
            if self.line.len() > MAX_LINE {
                self.too_long = true;
                self.line.truncate(BEGINNING);
                self.line.shrink_to_fit();
            }
            self.input.consume(part + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(self.take());
            }
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            Line::TooLong(line)
        } else {
            Line::Whole(line)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn read(input: &[u8]) -> Vec<Line> {
        let mut lines = Lines::new(input);
        let mut read = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                Line::End => return read,
                line => read.push(line),
            }
        }
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[tokio::test]
    async fn lines_end_with_a_newline_or_the_input() {
        assert_eq!(read(b"").await, []);
        assert_eq!(read(b"a\n\nb\n").await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(read(b"a\nhalf").await, [whole("a"), whole("half")]);
    }

    #[tokio::test]
    async fn a_line_of_the_longest_length_is_whole_and_a_longer_one_is_lost_alone() {
        let longest = "x".repeat(MAX_LINE);
        let input = format!("{longest}\n{longest}y\nnext\n{longest}zzz");
        assert_eq!(
            read(input.as_bytes()).await,
            [
                Line::Whole(longest.clone().into()),
                Line::TooLong(longest[..BEGINNING].into()),
                whole("next"),
                Line::TooLong(longest[..BEGINNING].into())
            ]
        );
    }

    #[tokio::test]
    async fn a_dropped_future_loses_nothing() {
        let (mut write, read) = tokio::io::duplex(64);
        let mut lines = Lines::new(read);
        write.write_all(b"fir").await.unwrap();
        tokio::select! {
            biased;
            line = lines.next() => panic!("{line:?}"),
            () = std::future::ready(()) => {}
        }
        write.write_all(b"st\n").await.unwrap();
        assert_eq!(lines.next().await.unwrap(), whole("first"));
    }
}

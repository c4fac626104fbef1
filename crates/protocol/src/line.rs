//! Reads lines of bounded length. A longer line is consumed to its end and dropped, except for its
//! id, so that the next line is read correctly.

use crate::head::{HeadScan, RequestHead};
use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Longest line, excluding its line end.
pub const MAX_LINE: usize = 8 << 20;

/// Read buffer size.
const BUFFER_BYTES: usize = 64 * 1024;

/// The result of reading a line.
#[derive(Debug, PartialEq)]
pub enum InputLine {
    /// A line without its line end. The last line of the input may lack its line end.
    Whole(Vec<u8>),
    /// The line exceeded [`MAX_LINE`]. Only its id and kind are known.
    TooLong(RequestHead),
    /// End of input.
    End,
}

/// The lines of an input.
pub struct InputLines<R> {
    input: BufReader<R>,
    /// The beginning of the current line.
    line: Vec<u8>,
    /// Set once the current line is too long: it is only scanned.
    too_long: Option<HeadScan>,
}

impl<R: AsyncRead + Unpin> InputLines<R> {
    /// Creates a reader of the lines of `input`.
    pub fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            line: Vec::new(),
            too_long: None,
        }
    }

    /// Returns the next line. Cancel safe.
    ///
    /// # Errors
    /// I/O errors.
    pub async fn next(&mut self) -> io::Result<InputLine> {
        loop {
            let available = match self.input.fill_buf().await {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if available.is_empty() {
                return Ok(if self.line.is_empty() && self.too_long.is_none() {
                    InputLine::End
                } else {
                    self.take_line()
                });
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = end.unwrap_or(available.len());
            match &mut self.too_long {
                Some(scan) => scan.push(&available[..part]),
                None => self.line.extend_from_slice(&available[..part]),
            }
            if self.line.len() > MAX_LINE {
                let scan = self.too_long.get_or_insert_default();
                scan.push(&std::mem::take(&mut self.line));
            }
            self.input.consume(part + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(self.take_line());
            }
        }
    }

    /// Returns the current line, and starts the next one.
    fn take_line(&mut self) -> InputLine {
        match self.too_long.take() {
            Some(scan) => InputLine::TooLong(scan.finish()),
            None => InputLine::Whole(std::mem::take(&mut self.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn read(input: &[u8]) -> Vec<InputLine> {
        let mut lines = InputLines::new(input);
        let mut read = Vec::new();
        loop {
            match lines.next().await.unwrap() {
                InputLine::End => return read,
                line => read.push(line),
            }
        }
    }

    fn whole(text: &str) -> InputLine {
        InputLine::Whole(text.into())
    }

    #[tokio::test]
    async fn lines_end_with_a_newline_or_the_input() {
        assert_eq!(read(b"").await, []);
        assert_eq!(read(b"a\n\nb\n").await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(read(b"a\nhalf").await, [whole("a"), whole("half")]);
    }

    #[tokio::test]
    async fn line_of_maximum_length_is_whole_and_longer_line_is_dropped_alone() {
        let longest = "x".repeat(MAX_LINE);
        let request = format!("{{\"command\": \"{longest}\", \"id\": 7}}");
        let input = format!("{longest}\n{longest}y\nnext\n{request}\nnext\n{longest}zzz");
        let head = |id: Option<u64>| {
            InputLine::TooLong(RequestHead {
                id: id.map(Into::into),
                ..RequestHead::default()
            })
        };
        assert_eq!(
            read(input.as_bytes()).await,
            [
                InputLine::Whole(longest.clone().into()),
                head(None),
                whole("next"),
                head(Some(7)),
                whole("next"),
                head(None)
            ]
        );
    }

    #[tokio::test]
    async fn dropped_future_loses_no_data() {
        let (mut write, read) = tokio::io::duplex(64);
        let mut lines = InputLines::new(read);
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

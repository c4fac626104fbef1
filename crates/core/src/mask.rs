//! [`OutputMask`]: replaces secrets in output, piece by piece as the output arrives. Another crate
//! finds the secrets. This module defines the interface, and masks complete texts and parts of an
//! output through it.

use crate::StreamId;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The number of bytes that [`masked_part`] needs before and after a part of an output. With them,
/// it recognises a secret that is only partly in the part. The longest usual private key is
/// shorter.
pub const MASK_CONTEXT_BYTES: usize = 32 * 1024;

/// Masks secrets in output. Shared by all calls of a host.
pub trait OutputMask: fmt::Debug + Send + Sync {
    /// Begins to mask one stream of output.
    fn stream(&self) -> Box<dyn MaskStream>;
}

/// Masks one stream of output. The result does not depend on how the bytes were split into chunks.
pub trait MaskStream: fmt::Debug + Send {
    /// Takes a chunk and passes on everything that further output cannot change.
    fn push(&mut self, bytes: &[u8], out: &mut dyn FnMut(OutputPiece<'_>));

    /// Ends the stream: passes on the held bytes.
    fn finish(&mut self, out: &mut dyn FnMut(OutputPiece<'_>));

    /// Returns the number of bytes that were taken and not passed on yet, because they may begin a
    /// secret.
    fn held_bytes(&self) -> usize;
}

/// A piece of masked output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputPiece<'a> {
    /// Bytes as they were printed.
    Printed(&'a [u8]),
    /// A secret.
    Masked {
        /// The text that replaces the secret; empty if it continues a masked secret.
        text: &'a str,
        /// Number of bytes of the secret.
        bytes: usize,
    },
}

impl<'a> OutputPiece<'a> {
    /// Returns the bytes to show.
    pub fn shown(self) -> &'a [u8] {
        match self {
            Self::Printed(bytes) => bytes,
            Self::Masked { text, .. } => text.as_bytes(),
        }
    }

    /// Returns the part of this piece that is within `range`, a range of an output in bytes. The
    /// piece begins at byte `start` of that output. A mask that reaches into the range is shown in
    /// full.
    pub fn clipped(self, start: u64, range: Range<u64>) -> Option<Self> {
        let end = start + self.printed_bytes() as u64;
        let (from, to) = (start.max(range.start), end.min(range.end));
        let length = to.checked_sub(from).filter(|length| *length > 0)?;
        // Both numbers are at most the length of the piece, a `usize`.
        let (skipped, length) = ((from - start) as usize, length as usize);
        Some(match self {
            Self::Printed(bytes) => Self::Printed(&bytes[skipped..skipped + length]),
            Self::Masked { text, .. } => Self::Masked {
                text,
                bytes: length,
            },
        })
    }

    /// Returns the number of printed bytes.
    pub fn printed_bytes(self) -> usize {
        match self {
            Self::Printed(bytes) => bytes.len(),
            Self::Masked { bytes, .. } => bytes,
        }
    }
}

/// Returns a complete text with its secrets masked.
pub fn masked_text<'a>(mask: Option<&dyn OutputMask>, text: &'a str) -> Cow<'a, str> {
    let Some(mask) = mask else {
        return Cow::Borrowed(text);
    };
    let part = masked_part(mask, b"", text.as_bytes(), b"", true);
    if part.masks.is_empty() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(String::from_utf8_lossy(&part.bytes).into_owned())
}

/// A part of an output with masked secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskedPart {
    /// The bytes to show.
    pub bytes: Vec<u8>,
    /// The number of printed bytes at the end that are not in `bytes`, because they may begin a
    /// secret.
    pub held: usize,
    /// Ranges of `bytes` that stand for a secret, each with the secret's length in printed bytes.
    masks: Vec<(Range<usize>, usize)>,
}

impl MaskedPart {
    /// Returns a part without masks.
    pub fn unmasked(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            ..Self::default()
        }
    }

    /// Returns the pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = OutputPiece<'_>> {
        let mut from = 0;
        let masked = self.masks.iter().flat_map(move |(range, bytes)| {
            let before = OutputPiece::Printed(&self.bytes[from..range.start]);
            from = range.end;
            let text = std::str::from_utf8(&self.bytes[range.clone()]).unwrap_or_default();
            let bytes = *bytes;
            [before, OutputPiece::Masked { text, bytes }]
        });
        let end = self.masks.last().map_or(0, |(range, _)| range.end);
        masked.chain([OutputPiece::Printed(&self.bytes[end..])])
    }

    fn add(&mut self, piece: OutputPiece<'_>) {
        let start = self.bytes.len();
        match piece {
            OutputPiece::Printed(bytes) => self.bytes.extend_from_slice(bytes),
            OutputPiece::Masked { text, bytes } => {
                self.bytes.extend_from_slice(text.as_bytes());
                self.masks.push((start..self.bytes.len(), bytes));
            }
        }
    }
}

/// Masks a part of an output that is read by its offset. `before` and `after` are the printed bytes
/// around the part, up to [`MASK_CONTEXT_BYTES`] of each. `is_end` says that no output can follow
/// `after`.
pub fn masked_part(
    mask: &dyn OutputMask,
    before: &[u8],
    part: &[u8],
    after: &[u8],
    is_end: bool,
) -> MaskedPart {
    let mut masked = MaskedPart::default();
    let (start, end) = (before.len() as u64, (before.len() + part.len()) as u64);
    let mut offset = 0;
    let mut add = |piece: OutputPiece<'_>| {
        if let Some(piece) = piece.clipped(offset, start..end) {
            masked.add(piece);
        }
        offset += piece.printed_bytes() as u64;
    };
    let mut stream = mask.stream();
    for bytes in [before, part, after] {
        stream.push(bytes, &mut add);
    }
    if is_end {
        stream.finish(&mut add);
    }
    masked.held = (end - offset.clamp(start, end)) as usize;
    masked
}

/// Masks each stream of one call separately.
#[derive(Debug)]
pub struct StreamMasks {
    mask: Arc<dyn OutputMask>,
    streams: Vec<(StreamId, Box<dyn MaskStream>)>,
}

impl StreamMasks {
    /// Returns masks for streams without any output so far.
    pub fn new(mask: Arc<dyn OutputMask>) -> Self {
        Self {
            mask,
            streams: Vec::new(),
        }
    }

    /// Takes a chunk of a stream and passes on everything that further output cannot change.
    pub fn push(&mut self, stream: StreamId, bytes: &[u8], out: &mut dyn FnMut(OutputPiece<'_>)) {
        let known = self.streams.iter().position(|(id, _)| *id == stream);
        let index = known.unwrap_or_else(|| {
            self.streams.push((stream, self.mask.stream()));
            self.streams.len() - 1
        });
        self.streams[index].1.push(bytes, out);
    }

    /// Ends all streams: passes on the held bytes.
    pub fn finish(&mut self, out: &mut dyn FnMut(StreamId, OutputPiece<'_>)) {
        for (id, stream) in &mut self.streams {
            stream.finish(&mut |piece| out(*id, piece));
        }
    }
}

//! The tail of a transport's stderr, for error messages.

use agent_bash_core::{lock, visible};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Maximum number of stored bytes.
const MAX_BYTES: usize = 32 * 1024;

/// The tail of a transport's stderr. Clones share one buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    /// Reads `errors` to its end.
    pub(crate) async fn read(self, mut errors: impl AsyncRead + Unpin) {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = errors.read(&mut buffer).await {
            let mut tail = lock(&self.0);
            tail.extend(&buffer[..length]);
            let excess = tail.len().saturating_sub(MAX_BYTES);
            tail.drain(..excess);
        }
    }

    /// Returns the text without control sequences; empty without output.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = lock(&self.0).iter().copied().collect();
        // ssh ends its lines with CR LF, as for a terminal.
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        visible::shown(text.trim()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tail_has_the_last_bytes_without_control_sequences() {
        let tail = StderrTail::default();
        let flood = [
            vec![b'x'; 3 * MAX_BYTES],
            b"\r\n\x1b]0;title\x07refused\r\n".to_vec(),
        ]
        .concat();
        tail.clone().read(&*flood).await;
        let text = tail.text();
        assert!(
            text.ends_with("x\n<U+001B>]0;title<U+0007>refused"),
            "{text}"
        );
        assert!(text.len() < MAX_BYTES + 100);
    }
}

//! Our own stdin and stdout as streams.

use tokio::io::{AsyncRead, AsyncWrite};

/// Stdin and stdout. Where both are pipes they are opened anew and read without blocking, which saves two changes of thread a
/// message; else they are read and written on threads of their own. Their flags are not changed either way.
///
/// # Panics
/// Outside of a tokio runtime with I/O enabled.
pub fn stdio() -> (
    impl AsyncRead + Send + Unpin + 'static,
    impl AsyncWrite + Send + Unpin + 'static,
) {
    rmcp::transport::io::stdio_pipes()
}

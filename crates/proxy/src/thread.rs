//! A proxy in a thread of its own, which no runtime of the host can delay.

use crate::proxy::Proxy;
use crate::refusals::Refusals;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::Builder;
use tokio::sync::oneshot;

/// A proxy that runs in a thread. Dropping this value ends the proxy and its connections.
#[derive(Debug)]
pub struct ProxyThread {
    refusals: Arc<Refusals>,
    /// Dropping the sender ends the thread.
    _end: oneshot::Sender<()>,
}

impl ProxyThread {
    /// Starts a thread that waits for the listener and serves it. If there is no listener, the
    /// thread ends.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        proxy: Proxy,
        listener: impl FnOnce() -> io::Result<TcpListener> + Send + 'static,
    ) -> io::Result<Self> {
        let refusals = proxy.refusals();
        let (end_sender, end) = oneshot::channel();
        let serve = move || {
            if let Ok(listener) = listener() {
                // Without a runtime, clients see that the listener is closed.
                let _ = serve_until(end, proxy, listener);
            }
        };
        let thread = Builder::new().name("agent-bash-proxy".to_owned());
        thread.spawn(serve)?;
        Ok(Self {
            refusals,
            _end: end_sender,
        })
    }

    /// The refused targets.
    pub fn refusals(&self) -> Arc<Refusals> {
        Arc::clone(&self.refusals)
    }
}

fn serve_until(end: oneshot::Receiver<()>, proxy: Proxy, listener: TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = proxy.serve(listener) => {}
            _ = end => {}
        }
        Ok::<_, io::Error>(())
    })?;
    // A name lookup that does not end must not delay the end of the connections.
    runtime.shutdown_background();
    Ok(())
}

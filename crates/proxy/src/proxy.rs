//! The proxy: accepts connections and serves them.

use crate::dial::{Dialer, ParentProxy, Resolver};
use crate::refusals::Refusals;
use crate::relay::{HEAD_TIMEOUT, with_timeout};
use crate::rules::{AllowedHosts, InvalidEntry};
use crate::secrets::Secrets;
use crate::tls::TlsProgram;
use crate::{http, socks};
use agent_bash_core::Clock;
use agent_bash_core::sandbox::HostSecret;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The largest number of connections at a time. Further ones wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 256;

/// The pause after a failure to accept a connection, such as a lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A proxy for one list of hosts.
#[derive(Debug)]
pub struct Proxy {
    dialer: Dialer,
    secrets: Secrets,
}

impl Proxy {
    /// Returns a proxy for these hosts. `parent` is the host's own proxy, if connections are to be
    /// made through it.
    pub fn new(
        allowed: AllowedHosts,
        resolver: Box<dyn Resolver>,
        parent: Option<ParentProxy>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let dialer = Dialer {
            allowed,
            resolver,
            parent,
            refusals: Arc::default(),
            clock,
        };
        Self {
            dialer,
            secrets: Secrets::default(),
        }
    }

    /// Makes the proxy put these secrets into plain requests, in place of their placeholders. `tls`
    /// encrypts the connections to their hosts.
    ///
    /// # Errors
    /// A host of a secret is invalid.
    pub fn with_secrets(
        mut self,
        secrets: &[HostSecret],
        tls: Box<dyn TlsProgram>,
    ) -> Result<Self, InvalidEntry> {
        self.secrets = Secrets::new(secrets, Some(tls))?;
        Ok(self)
    }

    /// The refused targets.
    pub fn refusals(&self) -> Arc<Refusals> {
        Arc::clone(&self.dialer.refusals)
    }

    /// Serves connections for ever. Dropping the future ends all of them.
    pub async fn serve(self, listener: TcpListener) {
        let proxy = Arc::new(self);
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            while connections.try_join_next().is_some() {}
            match listener.accept().await {
                Ok((client, _)) => {
                    let proxy = Arc::clone(&proxy);
                    connections.spawn(async move {
                        // An error concerns this connection alone, whose client sees its end.
                        let _ = proxy.serve_client(client).await;
                        drop(slot);
                    });
                }
                Err(_) => proxy.dialer.clock.sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    /// Serves one connection. The first byte tells the protocol.
    async fn serve_client(&self, client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut first = [0];
        let peeked = client.peek(&mut first);
        with_timeout(&*self.dialer.clock, HEAD_TIMEOUT, peeked).await?;
        match first[0] {
            socks::PROTOCOL_VERSION => socks::serve(&self.dialer, client).await,
            _ => http::serve(&self.dialer, &self.secrets, client).await,
        }
    }
}

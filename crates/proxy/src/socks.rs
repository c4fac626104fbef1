//! The server side of SOCKS5 (RFC 1928): `CONNECT`, without authentication.

use crate::dial::{Dialer, NotConnected};
use crate::relay::{HEAD_TIMEOUT, relay, with_timeout};
use crate::rules::{Host, Target};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The first byte of each message.
pub(crate) const PROTOCOL_VERSION: u8 = 5;

const NO_AUTHENTICATION: u8 = 0;
const NO_ACCEPTABLE_METHOD: u8 = 0xff;
const CONNECT_COMMAND: u8 = 1;

/// The types of an address.
const IPV4_ADDRESS_KIND: u8 = 1;
const NAME_ADDRESS_KIND: u8 = 3;
const IPV6_ADDRESS_KIND: u8 = 4;

/// The codes of replies.
const SUCCEEDED_REPLY: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const HOST_UNREACHABLE: u8 = 4;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_NOT_SUPPORTED: u8 = 8;

/// Serves one connection.
pub(crate) async fn serve(dialer: &Dialer, mut client: TcpStream) -> io::Result<()> {
    let clock = &*dialer.clock;
    let target = match with_timeout(clock, HEAD_TIMEOUT, handshake(&mut client)).await? {
        Ok(target) => target,
        Err(code) => return reply(&mut client, code).await,
    };
    let mut server = match dialer.connect(&target).await {
        Ok(server) => server,
        Err(NotConnected::Refused(_)) => return reply(&mut client, NOT_ALLOWED).await,
        Err(NotConnected::Failed(_)) => return reply(&mut client, HOST_UNREACHABLE).await,
    };
    reply(&mut client, SUCCEEDED_REPLY).await?;
    relay(&mut client, &mut server, clock).await
}

/// Reads the methods and the request. Returns the target, or the code of a refusal.
async fn handshake(client: &mut TcpStream) -> io::Result<Result<Target, u8>> {
    client.read_u8().await?;
    let count = client.read_u8().await?;
    let mut methods = vec![0; usize::from(count)];
    client.read_exact(&mut methods).await?;
    if !methods.contains(&NO_AUTHENTICATION) {
        client
            .write_all(&[PROTOCOL_VERSION, NO_ACCEPTABLE_METHOD])
            .await?;
        return Err(io::ErrorKind::Unsupported.into());
    }
    client
        .write_all(&[PROTOCOL_VERSION, NO_AUTHENTICATION])
        .await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    let [version, command, _, kind] = request;
    if version != PROTOCOL_VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let host = match kind {
        IPV4_ADDRESS_KIND => Some(Host::Address(
            Ipv4Addr::from(client.read_u32().await?).into(),
        )),
        IPV6_ADDRESS_KIND => {
            let address = IpAddr::V6(Ipv6Addr::from(client.read_u128().await?));
            Some(Host::Address(address.to_canonical()))
        }
        NAME_ADDRESS_KIND => {
            let length = client.read_u8().await?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name).await?;
            String::from_utf8(name)
                .ok()
                .and_then(|name| Host::parse(&name))
        }
        _ => return Ok(Err(ADDRESS_NOT_SUPPORTED)),
    };
    let port = client.read_u16().await?;
    Ok(match (command, host) {
        (CONNECT_COMMAND, Some(host)) => Ok(Target { host, port }),
        (CONNECT_COMMAND, None) => Err(NOT_ALLOWED),
        _ => Err(COMMAND_NOT_SUPPORTED),
    })
}

async fn reply(client: &mut TcpStream, code: u8) -> io::Result<()> {
    client
        .write_all(&[
            PROTOCOL_VERSION, code, 0, IPV4_ADDRESS_KIND, 0, 0, 0, 0, 0, 0,
        ])
        .await
}

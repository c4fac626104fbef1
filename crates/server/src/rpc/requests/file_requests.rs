//! Requests about files and artifacts.

use super::files::{self, UploadPiece};
use crate::into_data::IntoData;
use crate::rpc::answer::{RpcAnswer, data, run_blocking};
use crate::rpc::dispatch::{ServedRequest, to_reply};
use crate::stored_output;
use agent_bash::sink::{MAX_PAGE_BYTES, Search};
use agent_bash_protocol::data::{ArtifactsData, FoundData, PageData};
use agent_bash_protocol::message::RpcCall;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

/// Default number of matches shown.
const DEFAULT_MATCHES: usize = 200;

impl ServedRequest {
    /// Serves the requests about files.
    pub(in crate::rpc) async fn files(&self, call: RpcCall) -> RpcAnswer {
        match call {
            RpcCall::FileRead {
                path,
                offset,
                length,
            } => {
                let path = self.path(&path);
                data(run_blocking(move || files::read(&path, offset, length)).await?)
            }
            RpcCall::FileWrite {
                path,
                data: piece,
                more,
                upload,
                mode,
            } => {
                let written = UploadPiece {
                    path: self.path(&path),
                    data: piece,
                    more,
                    upload,
                    mode,
                };
                let uploads = Arc::clone(&self.uploads);
                data(run_blocking(move || uploads.write(written)).await?)
            }
            _ => Ok(None),
        }
    }

    /// Resolves a client's path: `~` is the user's home, and a relative path starts from the
    /// session's directory.
    fn path(&self, path: &str) -> PathBuf {
        let host = self.session.host();
        let below_home = path.strip_prefix('~').zip(host.home.as_ref());
        match below_home {
            Some(("", home)) => home.clone(),
            Some((rest, home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => host.cwd.join(path),
        }
    }

    /// Serves the requests about artifacts.
    pub(in crate::rpc) async fn artifacts(&self, call: RpcCall) -> RpcAnswer {
        match call {
            RpcCall::ArtifactList => {
                let session = Arc::clone(&self.session);
                let list = move || {
                    Ok(session
                        .artifacts()
                        .map(|dir| dir.list())
                        .unwrap_or_default())
                };
                let artifacts = run_blocking(list)
                    .await?
                    .into_iter()
                    .map(IntoData::into_data)
                    .collect();
                data(ArtifactsData { artifacts })
            }
            RpcCall::ArtifactShow {
                artifact,
                offset,
                limit,
                tail,
                byte,
            } => {
                let session = Arc::clone(&self.session);
                let page = run_blocking(move || {
                    let view = stored_output::open(&session, &artifact.0).map_err(to_reply)?;
                    match (byte, tail) {
                        (Some(byte), _) => view.bytes(byte, MAX_PAGE_BYTES as u64),
                        (None, Some(lines)) => view.tail(lines.get()),
                        (None, None) => {
                            view.lines(offset.map_or(1, NonZeroU64::get), limit.map(Into::into))
                        }
                    }
                    .map_err(to_reply)
                });
                data::<PageData>(page.await?.into_data())
            }
            RpcCall::ArtifactGrep {
                artifact,
                pattern,
                context,
                offset,
                limit,
            } => {
                let session = Arc::clone(&self.session);
                let found = run_blocking(move || {
                    let view = stored_output::open(&session, &artifact.0).map_err(to_reply)?;
                    let search = Search {
                        pattern,
                        before: context,
                        after: context,
                        from_line: offset.map_or(1, NonZeroU64::get),
                        max_matches: limit.unwrap_or(DEFAULT_MATCHES),
                    };
                    view.search(&search).map_err(to_reply)
                });
                data::<FoundData>(found.await?.into_data())
            }
            _ => Ok(None),
        }
    }
}

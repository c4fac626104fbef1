//! `agent-bash cp`: copies a file to a target, or from one, in pieces over the session's channel.
//!
//! The destination is replaced in one step. The target's answers never choose a local path.

use crate::args::{ChosenSettings, CpArgs};
use crate::commands::remote_command;
use crate::process_start::StartContext;
use crate::runtime;
use crate::signals::CancelSignals;
use crate::usage::UsageError;
use agent_bash::core::{Cancel, RemoteHost};
use agent_bash::remote::protocol::RpcCall;
use agent_bash::remote::protocol::file::{Base64Bytes, FilePieceData, FileWrittenData, MAX_PIECE};
use agent_bash::session::ask;
use agent_bash::settings::Settings;
use anyhow::{Context, Error, bail, ensure};
use std::fs::{self, File, Permissions};
use std::io::{Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// One end of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CopyEnd {
    Local(PathBuf),
    Remote { target: String, path: String },
}

/// The permission bits, without setuid, setgid and the sticky bit.
const PERMISSION_BITS: u32 = 0o777;

/// Maximum bytes of a file whose reported size is 0, such as those of `/proc`.
const MAX_UNSIZED_BYTES: u64 = 64 << 20;

/// Copies one file.
pub(crate) fn cp(args: &CpArgs, start: &StartContext) -> anyhow::Result<u8> {
    let settings = start.settings(&ChosenSettings::default())?.settings;
    let ends = (
        parse_end(&args.from, &settings),
        parse_end(&args.to, &settings),
    );
    let (target, path, local, is_upload) = match ends {
        (CopyEnd::Local(from), CopyEnd::Remote { target, path }) => (target, path, from, true),
        (CopyEnd::Remote { target, path }, CopyEnd::Local(to)) => (target, path, to, false),
        (CopyEnd::Local(_), CopyEnd::Local(_)) => {
            let usage = "neither path is on a target; write one as TARGET:PATH, with a path that begins with `/`, `~/` or `./`";
            return Err(UsageError(usage.to_owned()).into());
        }
        (CopyEnd::Remote { .. }, CopyEnd::Remote { .. }) => {
            let usage = "both paths are on targets; copy to a local file first";
            return Err(UsageError(usage.to_owned()).into());
        }
    };
    let local = start.cwd(Some(&local));
    let runtime = runtime::start(Some(2))?;
    let copied = runtime.block_on(async {
        let signals = CancelSignals::listen().context("cannot listen for signals")?;
        let session = remote_command::session(&target, &ChosenSettings::default(), start).await?;
        let remote = session
            .remote_host()
            .context("the session on the target has no remote host")?;
        let cancel = signals.cancel();
        let copied = if is_upload {
            upload(&**remote, &local, &path, cancel).await
        } else {
            download(&**remote, &path, &local, cancel).await
        };
        remote.close().await;
        match signals.exit_code() {
            Some(code) => Ok(code),
            None => copied.map(|()| 0),
        }
    });
    runtime.shutdown_background();
    copied
}

/// Parses an argument: `TARGET:PATH` is on a remote host, any other path is local. A remote path
/// begins with `/`, `~/` or `./`, because a target's name may contain colons.
fn parse_end(text: &str, settings: &Settings) -> CopyEnd {
    let ends = text.match_indices(':').map(|(at, _)| text.split_at(at));
    for (target, path) in ends {
        let path = &path[1..];
        let is_path = ["/", "~/", "./"]
            .iter()
            .any(|begin| path.starts_with(begin));
        if is_path && settings.target(target).is_ok() {
            return CopyEnd::Remote {
                target: target.to_owned(),
                path: path.to_owned(),
            };
        }
    }
    CopyEnd::Local(PathBuf::from(text))
}

/// Returns `directory` followed by the file's name.
fn path_in_directory<'a>(directory: &str, file: &'a str) -> anyhow::Result<String> {
    let name: &'a str = file.rsplit('/').next().unwrap_or_default();
    ensure!(!matches!(name, "" | "." | ".."), "`{file}` names no file");
    Ok(format!("{directory}{name}"))
}

/// Returns the path of the local file that a copy of `from` to `to` creates or replaces. Refuses a
/// device or a FIFO, which would be replaced by a file.
fn local_destination(to: &Path, from: &str) -> anyhow::Result<PathBuf> {
    // Below a local directory, the file gets its name from the remote path.
    let to = if to.is_dir() {
        to.join(path_in_directory("", from)?)
    } else {
        to.to_owned()
    };
    let is_other = fs::metadata(&to).is_ok_and(|found| !found.is_file());
    ensure!(
        !is_other,
        "{} is not a regular file; name a file",
        to.display()
    );
    Ok(to)
}

/// Copies a local file to the path `to` on the remote host.
async fn upload(
    remote: &dyn RemoteHost,
    from: &Path,
    to: &str,
    cancel: &Cancel,
) -> anyhow::Result<()> {
    let shown = from.display();
    let describe_failure = || format!("{shown} cannot be read");
    let file = File::open(from).with_context(describe_failure)?;
    let metadata = file.metadata().with_context(describe_failure)?;
    ensure!(
        metadata.is_file(),
        "{shown} is not a regular file; name one"
    );
    let to = if to.ends_with('/') {
        path_in_directory(to, &from.to_string_lossy())?
    } else {
        to.to_owned()
    };
    let mut upload = None;
    loop {
        let mut piece = Vec::new();
        (&file)
            .take(MAX_PIECE as u64)
            .read_to_end(&mut piece)
            .with_context(describe_failure)?;
        let more = piece.len() == MAX_PIECE;
        let write = RpcCall::FileWrite {
            path: to.clone(),
            data: Base64Bytes(piece),
            more,
            upload,
            mode: Some(metadata.permissions().mode() & PERMISSION_BITS),
        };
        let written: FileWrittenData = ask(remote, &write, cancel).await.map_err(Error::msg)?;
        if !more {
            return Ok(());
        }
        ensure!(
            written.upload.is_some(),
            "the target `{}` acknowledged an incomplete upload",
            remote.name()
        );
        upload = written.upload;
    }
}

/// Copies the file at the path `from` on the remote host to a local path.
async fn download(
    remote: &dyn RemoteHost,
    from: &str,
    to: &Path,
    cancel: &Cancel,
) -> anyhow::Result<()> {
    let to = local_destination(to, from)?;
    let describe_failure = || format!("{} cannot be written", to.display());
    let directory = to.parent().unwrap_or(Path::new("/"));
    let mut part = tempfile::Builder::new()
        .prefix(".agent-bash-")
        .suffix(".part")
        .tempfile_in(directory)
        .with_context(describe_failure)?;
    let (mut offset, mut limit, mut mode) = (0, None, 0);
    loop {
        let read = RpcCall::FileRead {
            path: from.to_owned(),
            offset,
            length: None,
        };
        let piece: FilePieceData = ask(remote, &read, cancel).await.map_err(Error::msg)?;
        let limit = *limit.get_or_insert(match piece.size {
            0 => MAX_UNSIZED_BYTES,
            size => size,
        });
        if offset == 0 {
            mode = piece.mode & PERMISSION_BITS;
        }
        // Bytes that are appended meanwhile are not copied, so that an endless remote file cannot
        // fill the local disk.
        let rest = usize::try_from(limit - offset).unwrap_or(usize::MAX);
        let bytes = &piece.data.0[..piece.data.0.len().min(rest)];
        part.write_all(bytes).with_context(describe_failure)?;
        offset += bytes.len() as u64;
        if piece.at_end || offset == limit {
            break;
        }
        if bytes.is_empty() {
            bail!(
                "the target `{}` stopped sending {from} before its end",
                remote.name()
            );
        }
    }
    part.as_file()
        .set_permissions(Permissions::from_mode(mode))
        .with_context(describe_failure)?;
    // A symbolic link stays: the file that it leads to is replaced.
    let to = match fs::symlink_metadata(&to) {
        Ok(found) if found.is_symlink() => fs::canonicalize(&to).with_context(describe_failure)?,
        _ => to.clone(),
    };
    part.persist(&to)
        .map_err(|error| error.error)
        .with_context(describe_failure)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_remote_only_after_a_valid_target() {
        let settings = Settings::default();
        let remote = |target: &str, path: &str| CopyEnd::Remote {
            target: target.to_owned(),
            path: path.to_owned(),
        };
        for (text, want) in [
            ("ssh:dev@host:22:/a:/b", remote("ssh:dev@host:22", "/a:/b")),
            ("docker:box:~/x", remote("docker:box", "~/x")),
            ("kube:ns/pod:./x", remote("kube:ns/pod", "./x")),
        ] {
            assert_eq!(parse_end(text, &settings), want);
        }
        for text in [
            "a", "/a:/b", "./docker:box:/x", "box:/x", "docker:box", "docker:box:x", "docker:-x:/y",
        ] {
            assert_eq!(
                parse_end(text, &settings),
                CopyEnd::Local(text.into()),
                "{text}"
            );
        }
    }

    #[test]
    fn copy_replaces_regular_files_only() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink(at("socket"), at("link")).unwrap();
        for name in ["file", "missing"] {
            assert_eq!(local_destination(&at(name), "/a").unwrap(), at(name));
        }
        assert_eq!(local_destination(&at(""), "/a").unwrap(), at("a"));
        for (to, from) in [("socket", "/a"), ("link", "/a"), ("", "/socket")] {
            assert!(local_destination(&at(to), from).is_err(), "{to} {from}");
        }
    }

    #[test]
    fn copy_into_a_directory_keeps_the_files_name() {
        assert_eq!(
            path_in_directory("/d/", "/a/b").ok().as_deref(),
            Some("/d/b")
        );
        for nameless in ["/", "a/", "..", "a/.."] {
            assert!(path_in_directory("", nameless).is_err(), "{nameless}");
        }
    }
}

//! What a system call is about to change, if it succeeds.

use super::memory;
use super::paths::{ResolvedPath, named, opened};
use agent_bash_changes::Touch;
use agent_bash_notify::Waiting;
use agent_bash_sandbox::trace::{Call, Effect, FileArgument, Flags, Follow, Operand};
use nix::errno::Errno;
use rustix::fs::{AtFlags, FileType, OFlags};
use std::path::PathBuf;

/// Offset of the path in the address of a socket that has one.
const PATH_IN_ADDRESS: usize = 2;

/// The files, each with what becomes of it. Nothing where the call will fail.
pub(super) fn by(waiting: &Waiting, call: &Call) -> Result<Vec<(PathBuf, Touch)>, Errno> {
    let mut touched = Vec::new();
    for &operand in call.operands {
        let one = Operands { waiting }.touched(operand);
        match one {
            Ok(Some((path, touch))) => {
                // The directory that a directory goes from changes with it.
                let parent = path
                    .parent()
                    .filter(|_| operand.effect == Effect::Goes && touch == Touch::Attributes);
                touched.extend(parent.map(|parent| (parent.to_owned(), touch)));
                touched.push((path, touch));
            }
            // Of two names, one without the other is not changed.
            Ok(None) | Err(Errno::EFAULT) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        }
    }
    Ok(touched)
}

struct Operands<'a> {
    waiting: &'a Waiting,
}

impl Operands<'_> {
    fn argument(&self, place: u8) -> u64 {
        let argument = self.waiting.arguments.get(usize::from(place));
        argument.copied().unwrap_or_default()
    }

    /// Descriptors and flags are 32 bits of an argument.
    fn number(&self, place: u8) -> i32 {
        (self.argument(place) as u32).cast_signed()
    }

    fn touched(&self, operand: Operand) -> Result<Option<(PathBuf, Touch)>, Errno> {
        let opens = match operand.effect {
            Effect::Opens(flags) => Some(self.flags(flags)?),
            _ => None,
        };
        if opens.is_some_and(|flags| !may_change(flags)) {
            return Ok(None);
        }
        let follow = match (operand.follow, opens) {
            (_, Some(flags)) => {
                !flags.contains(OFlags::NOFOLLOW) && !flags.contains(OFlags::CREATE | OFlags::EXCL)
            }
            (Follow::Yes, None) => true,
            (Follow::No, None) => false,
            (Follow::Flags(place), None) => {
                let flags = AtFlags::from_bits_retain(self.number(place).cast_unsigned());
                !flags.contains(AtFlags::SYMLINK_NOFOLLOW)
            }
        };
        let Some(found) = self.found(operand, follow)? else {
            return Ok(None);
        };
        let touch = match (operand.effect, opens) {
            (_, Some(flags)) => of_open(flags, found.kind),
            (Effect::Appears, _) => found.kind.is_none().then_some(Touch::Name),
            (Effect::Goes, _) => removal(found.kind),
            (Effect::Moves, _) => Some(Touch::Name),
            (Effect::Content, _) => of_file(found.kind).then_some(Touch::Content),
            (Effect::Attributes | Effect::Opens(_), _) => {
                found.kind.is_some().then_some(Touch::Attributes)
            }
        };
        Ok(touch.map(|touch| (found.path, touch)))
    }

    fn found(&self, operand: Operand, follow: bool) -> Result<Option<ResolvedPath>, Errno> {
        let thread = self.waiting.thread;
        let (from, path) = match operand.argument {
            FileArgument::Open(place) => return Ok(opened(thread, self.number(place))),
            FileArgument::Address(place, length) => match self.address(place, length)? {
                Some(path) => (None, path),
                None => return Ok(None),
            },
            FileArgument::Path(place) => (None, self.path(place)?),
            FileArgument::At(directory, place) => {
                let number = self.number(directory);
                let path = match self.argument(place) {
                    0 => Vec::new(),
                    _ => self.path(place)?,
                };
                if path.is_empty() {
                    let by_descriptor = matches!(operand.effect, Effect::Attributes);
                    return Ok(opened(thread, number).filter(|_| by_descriptor));
                }
                (Some(number).filter(|number| *number >= 0), path)
            }
        };
        if path.is_empty() {
            return Ok(None);
        }
        paths_errno(named(thread, from, &path, follow))
    }

    fn path(&self, place: u8) -> Result<Vec<u8>, Errno> {
        match memory::text(self.waiting.thread, self.argument(place)) {
            // The kernel will not take it either.
            Err(Errno::ENAMETOOLONG) => Err(Errno::EFAULT),
            read => read,
        }
    }

    fn flags(&self, flags: Flags) -> Result<OFlags, Errno> {
        let bits = match flags {
            Flags::In(place) => self.number(place).cast_unsigned(),
            Flags::Behind(place) => {
                let bytes = memory::exactly::<8>(self.waiting.thread, self.argument(place))?;
                u64::from_ne_bytes(bytes) as u32
            }
            Flags::OfCreat => (OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC).bits(),
        };
        Ok(OFlags::from_bits_retain(bits))
    }

    /// The path that a socket is bound to, if it is one.
    fn address(&self, place: u8, length: u8) -> Result<Option<Vec<u8>>, Errno> {
        const LONGEST: usize = 110;
        let mut address = [0; LONGEST];
        let length = usize::try_from(self.number(length)).unwrap_or_default();
        let part = &mut address[..length.min(LONGEST)];
        let read = memory::read(self.waiting.thread, self.argument(place), part)?;
        let address = &address[..read];
        let Some((family, path)) = address.split_first_chunk::<PATH_IN_ADDRESS>() else {
            return Ok(None);
        };
        let is_unix = u16::from_ne_bytes(*family) == rustix::net::AddressFamily::UNIX.as_raw();
        let path = path.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok((is_unix && !path.is_empty()).then(|| path.to_vec()))
    }
}

fn paths_errno(
    found: Result<Option<ResolvedPath>, rustix::io::Errno>,
) -> Result<Option<ResolvedPath>, Errno> {
    found.map_err(|error| Errno::from_raw(error.raw_os_error()))
}

/// Whether an open with these flags may change what there is by a name.
fn may_change(flags: OFlags) -> bool {
    let nameless = flags.contains(OFlags::TMPFILE) || flags.contains(OFlags::PATH);
    let changing = OFlags::WRONLY | OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC;
    flags.intersects(changing) && !nameless
}

fn of_open(flags: OFlags, kind: Option<FileType>) -> Option<Touch> {
    let creates = flags.contains(OFlags::CREATE);
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
    match kind {
        None => creates.then_some(Touch::Name),
        // It is there, so that it cannot be created.
        Some(_) if creates && flags.contains(OFlags::EXCL) => None,
        kind => (writes && of_file(kind)).then_some(Touch::Content),
    }
}

fn of_file(kind: Option<FileType>) -> bool {
    kind == Some(FileType::RegularFile)
}

/// A directory that goes is empty, so that nothing below it is to be kept.
fn removal(kind: Option<FileType>) -> Option<Touch> {
    kind.map(|kind| match kind {
        FileType::Directory => Touch::Attributes,
        _ => Touch::Name,
    })
}

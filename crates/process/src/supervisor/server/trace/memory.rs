//! What arguments of a waiting call point to.

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::io::IoSliceMut;

/// The longest path that the kernel takes, with its end.
const LONGEST: usize = 4096;

/// The size of a page, at least: reads within one succeed or fail as a whole.
const PAGE: usize = 4096;

/// The text at this address of a process, up to its NUL.
pub(super) fn text(thread: i32, address: u64) -> Result<Vec<u8>, Errno> {
    let mut text = vec![0; LONGEST];
    let read = read(thread, address, &mut text)?;
    text.truncate(read);
    let end = text.iter().position(|byte| *byte == 0);
    // Without an end it is too long, or goes on where nothing is.
    text.truncate(end.ok_or(Errno::ENAMETOOLONG)?);
    Ok(text)
}

/// As many bytes as are wanted.
pub(super) fn exactly<const LENGTH: usize>(
    thread: i32,
    address: u64,
) -> Result<[u8; LENGTH], Errno> {
    let mut bytes = [0; LENGTH];
    match read(thread, address, &mut bytes)? {
        read if read == LENGTH => Ok(bytes),
        _ => Err(Errno::EFAULT),
    }
}

/// As many as there are, at most those wanted.
pub(super) fn read(thread: i32, address: u64, into: &mut [u8]) -> Result<usize, Errno> {
    let base = usize::try_from(address).map_err(|_| Errno::EFAULT)?;
    let first = (PAGE - base % PAGE).min(into.len());
    let whole = [
        RemoteIoVec { base, len: first },
        RemoteIoVec {
            base: base.wrapping_add(first),
            len: into.len() - first,
        },
    ];
    process_vm_readv(Pid::from_raw(thread), &mut [IoSliceMut::new(into)], &whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_with_its_nul_wherever_it_stands() {
        let own = std::process::id().cast_signed();
        let mut page = vec![b'x'; 3 * PAGE];
        page[PAGE..PAGE + 6].copy_from_slice(b"/a b\0c");
        let start = page.as_ptr() as u64 + PAGE as u64;
        assert_eq!(text(own, start), Ok(b"/a b".to_vec()));
        assert_eq!(text(own, page.as_ptr() as u64), Err(Errno::ENAMETOOLONG));
        assert_eq!(exactly::<2>(own, start), Ok(*b"/a"));
        assert_eq!(text(own, 0), Err(Errno::EFAULT));
    }
}

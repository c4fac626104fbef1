//! Reads the memory that arguments of a waiting system call point to.

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::pread;
use std::io::IoSliceMut;

/// The kernel's limit for a path, with the NUL.
const PATH_MAX: usize = 4096;

/// The smallest page size. A read that does not cross a page boundary succeeds or fails as a whole.
const PAGE_BYTES: usize = 4096;

/// Reads the text at this address of a process, up to its NUL.
pub fn text(thread: i32, address: u64) -> Result<Vec<u8>, Errno> {
    let mut text = vec![0; PATH_MAX];
    let read = read(thread, address, &mut text)?;
    text.truncate(read);
    let end = text.iter().position(|byte| *byte == 0);
    // Without a NUL, the text is too long, or reaches unmapped memory.
    text.truncate(end.ok_or(Errno::ENAMETOOLONG)?);
    Ok(text)
}

/// Checks whether the memory of a process can be read.
pub fn is_readable(process: i32) -> Result<(), Errno> {
    match text(process, 0) {
        // The address is not mapped, or the process has ended.
        Ok(_) | Err(Errno::EFAULT | Errno::ESRCH | Errno::ENAMETOOLONG) => Ok(()),
        Err(refused) => Err(refused),
    }
}

/// Reads `LENGTH` bytes at this address. Fails with `EFAULT` if not all are mapped.
pub fn exactly<const LENGTH: usize>(thread: i32, address: u64) -> Result<[u8; LENGTH], Errno> {
    let mut bytes = [0; LENGTH];
    match read(thread, address, &mut bytes)? {
        read if read == LENGTH => Ok(bytes),
        _ => Err(Errno::EFAULT),
    }
}

/// Reads bytes at this address until `buffer` is full or a page is unmapped. Returns the number of
/// bytes read.
pub fn read(thread: i32, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    match read_by_system_call(thread, address, buffer) {
        // If the address is not mapped, or no thread has this id, reading `/proc/PID/mem` fails as
        // well.
        Err(refused) if !matches!(refused, Errno::EFAULT | Errno::ESRCH) => {
            read_by_proc_mem(thread, address, buffer).map_err(|other| match other {
                // The file fails with `EIO` where the system call fails with `EFAULT`.
                Errno::EIO => Errno::EFAULT,
                // The thread has ended.
                Errno::ENOENT | Errno::ESRCH => Errno::ESRCH,
                _ => refused,
            })
        }
        read => read,
    }
}

fn read_by_system_call(thread: i32, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let base = usize::try_from(address).map_err(|_| Errno::EFAULT)?;
    let first = (PAGE_BYTES - base % PAGE_BYTES).min(buffer.len());
    let remote = [
        RemoteIoVec { base, len: first },
        RemoteIoVec {
            base: base.wrapping_add(first),
            len: buffer.len() - first,
        },
    ];
    process_vm_readv(
        Pid::from_raw(thread),
        &mut [IoSliceMut::new(buffer)],
        &remote,
    )
}

fn read_by_proc_mem(thread: i32, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let errno = |error: rustix::io::Errno| Errno::from_raw(error.raw_os_error());
    let path = format!("/proc/{thread}/mem");
    let memory = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let memory = memory.map_err(errno)?;
    loop {
        match pread(&memory, &mut *buffer, address) {
            Err(rustix::io::Errno::INTR) => {}
            // The process has ended.
            Ok(0) => return Err(Errno::EFAULT),
            read => return read.map_err(errno),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_up_to_its_nul() {
        let own = std::process::id().cast_signed();
        let mut page = vec![b'x'; 3 * PAGE_BYTES];
        page[PAGE_BYTES..PAGE_BYTES + 6].copy_from_slice(b"/a b\0c");
        let start = page.as_ptr() as u64 + PAGE_BYTES as u64;
        assert_eq!(text(own, start), Ok(b"/a b".to_vec()));
        assert_eq!(text(own, page.as_ptr() as u64), Err(Errno::ENAMETOOLONG));
        assert_eq!(exactly::<2>(own, start), Ok(*b"/a"));
        assert_eq!(text(own, 0), Err(Errno::EFAULT));
    }

    #[test]
    fn proc_mem_and_process_vm_readv_agree() {
        let own = std::process::id().cast_signed();
        let expected: Vec<u8> = (0..2 * PAGE_BYTES).map(|at| at.to_le_bytes()[0]).collect();
        let start = expected.as_ptr() as u64;
        let both = |address, length| {
            let (mut called, mut opened) = (vec![0; length], vec![0; length]);
            let read_by_system_call = read_by_system_call(own, address, &mut called);
            assert_eq!(
                read_by_system_call.ok(),
                read_by_proc_mem(own, address, &mut opened).ok()
            );
            assert_eq!(called, opened);
            called
        };
        assert_eq!(both(start + 7, PAGE_BYTES), expected[7..PAGE_BYTES + 7]);
        both(0, 8);
        let missing = read_by_proc_mem(i32::MAX, start, &mut [0]);
        assert_eq!(missing, Err(Errno::ENOENT));
    }
}

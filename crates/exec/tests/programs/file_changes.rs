//! Changes files of the current directory in every way that exists, from two threads; with an
//! argument, only in the way that the argument names. Tests check that the tracer sees all changes.

use rustix::fs::{
    AtFlags, CWD, FileType, IFlags, Mode, OFlags, RenameFlags, ResolveFlags, Timespec, Timestamps,
    XattrFlags, chmodat, fchmod, ftruncate, linkat, mkdirat, mknodat, open, openat2, renameat,
    renameat_with, setxattr, symlinkat, unlinkat, utimensat,
};
use rustix::mount::{OpenTreeFlags, open_tree};
use std::error::Error;
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::{fs, thread};

pub(crate) fn change_files() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    if let Some(way) = words.next() {
        return by_one_way(&way, words.next().unwrap_or_default());
    }
    let other = thread::spawn(|| change_contents().map_err(|error| error.to_string()));
    change_names()?;
    change_attributes()?;
    other.join().map_err(|_| "a thread panicked")??;
    Ok(())
}

fn by_one_way(way: &str, argument: String) -> Result<(), Box<dyn Error>> {
    let truncating = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
    let directory = || open("d", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    match way {
        // The directory is the root of the path.
        "in-root" => {
            let flags = ResolveFlags::IN_ROOT;
            openat2(directory()?, "/six", truncating, Mode::empty(), flags)?;
        }
        "changed-root" => {
            rustix::process::chroot("d")?;
            rustix::process::chdir("/")?;
            fs::write("/absolute", "through a link")?;
            fs::write("../../seven", "new")?;
        }
        // Through a mount that is in no mount table.
        "clone-write" | "clone-remove" => {
            let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
            let tree = open_tree(CWD, "d", flags)?;
            if way == "clone-write" {
                rustix::fs::openat(&tree, "six", truncating, Mode::empty())?;
            } else {
                unlinkat(&tree, "six", AtFlags::empty())?;
            }
        }
        // Through a descriptor of a file that no longer has this name.
        "other-name" => {
            let file = fs::File::open("one")?;
            fs::remove_file("one")?;
            fchmod(&file, Mode::from_raw_mode(0o600))?;
        }
        "flags" => {
            let file = fs::File::open("one")?;
            // Without its other flags, ext4 would convert the file, which sometimes fails.
            let flags = rustix::fs::ioctl_getflags(&file)?;
            rustix::fs::ioctl_setflags(&file, flags | IFlags::NODUMP)?;
        }
        "connect" => {
            let mut socket = UnixStream::connect(argument)?;
            socket.write_all(b"do")?;
            let _ = socket.read(&mut [0; 8]);
        }
        // At an abstract name, which belongs to a network namespace.
        "connect-name" => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(argument)?;
            let mut socket = UnixStream::connect_addr(&address)?;
            socket.write_all(b"do")?;
            let _ = socket.read(&mut [0; 8]);
        }
        "serve-name" => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(argument)?;
            let listener = UnixListener::bind_addr(&address)?;
            writeln!(io::stdout(), "ready")?;
            let (mut socket, _) = listener.accept()?;
            socket.read_exact(&mut [0; 2])?;
            fs::write("one", "by another process")?;
            socket.write_all(b"done")?;
        }
        "connect-own-name" => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(argument)?;
            let listener = UnixListener::bind_addr(&address)?;
            UnixStream::connect_addr(&address)?;
            drop(listener);
            fs::write("one", "changed")?;
        }
        "connect-tcp" => {
            let mut socket = TcpStream::connect(argument)?;
            socket.write_all(b"do")?;
            let _ = socket.read(&mut [0; 8]);
        }
        // The first data open the connection.
        "connect-by-message" => {
            use rustix::net::{
                AddressFamily, SendAncillaryBuffer, SendFlags, SocketType, sendmsg_addr, socket,
            };
            let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
            let address: SocketAddr = argument.parse()?;
            let flags = SendFlags::from_bits_retain(0x2000_0000);
            let data = [IoSlice::new(b"do")];
            sendmsg_addr(
                &socket,
                &address,
                &data,
                &mut SendAncillaryBuffer::default(),
                flags,
            )?;
            let _ = TcpStream::from(socket).read(&mut [0; 8]);
        }
        "listen" => drop(TcpListener::bind(argument)?),
        "listen-local" => {
            drop(UnixListener::bind(&argument)?);
            fs::remove_file(argument)?;
        }
        "connect-itself" => {
            let local = UnixListener::bind("socket")?;
            let internet = TcpListener::bind("127.0.0.1:0")?;
            UnixStream::connect("./socket")?;
            TcpStream::connect(internet.local_addr()?)?;
            drop((local, internet));
            fs::remove_file("socket")?;
            fs::write("one", "changed")?;
        }
        _ => return Err("the argument names no way".into()),
    }
    Ok(())
}

/// Changes contents, with every system call that opens files.
fn change_contents() -> Result<(), Box<dyn Error>> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
    let appended = openat2(CWD, "openat2", flags, Mode::empty(), ResolveFlags::empty())?;
    rustix::io::write(&appended, b"more")?;
    fs::write("created", "new")?;
    fs::write("truncated", "shorter")?;
    let mut file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("mapped")?;
    file.seek(SeekFrom::End(0))?;
    file.write_all(b"more")?;
    ftruncate(&file, 2)?;
    drop(open(
        "shortened",
        OFlags::RDONLY | OFlags::TRUNC,
        Mode::empty(),
    )?);
    // Through a link, and a descriptor.
    fs::write("link", "through a link")?;
    let directory = open("d", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let below = rustix::fs::openat(&directory, "inner", flags, Mode::empty())?;
    rustix::io::write(&below, b"more")?;
    // A file that gets its name only when it is complete.
    let nameless = open(".", OFlags::TMPFILE | OFlags::RDWR, Mode::RUSR | Mode::WUSR)?;
    rustix::io::write(&nameless, b"whole")?;
    let path = format!("/proc/self/fd/{}", nameless.as_raw_fd());
    linkat(CWD, path, CWD, "named", AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

/// Changes names, with every system call that takes names.
fn change_names() -> Result<(), Box<dyn Error>> {
    renameat_with(CWD, "this", CWD, "that", RenameFlags::EXCHANGE)?;
    renameat(CWD, "moved", CWD, "d/moved")?;
    renameat(CWD, "tree", CWD, "tree2")?;
    fs::write("saved.tmp", "saved")?;
    fs::rename("saved.tmp", "saved")?;
    unlinkat(CWD, "removed", AtFlags::empty())?;
    fs::remove_dir_all("gone")?;
    mkdirat(CWD, "made", Mode::from_raw_mode(0o750))?;
    symlinkat("anywhere", CWD, "made/link")?;
    linkat(CWD, "linked", CWD, "made/hard", AtFlags::empty())?;
    mknodat(CWD, "made/fifo", FileType::Fifo, Mode::RUSR, 0)?;
    drop(UnixListener::bind("socket")?);
    // These calls leave no change.
    fs::write("passing", "")?;
    fs::remove_file("passing")?;
    let there = mkdirat(CWD, "d", Mode::empty());
    let full = fs::remove_dir("d");
    (there.is_err() && full.is_err())
        .then_some(())
        .ok_or_else(|| "a call succeeded that must fail".into())
}

/// Changes all other properties of files.
fn change_attributes() -> Result<(), Box<dyn Error>> {
    chmodat(CWD, "mode", Mode::from_raw_mode(0o600), AtFlags::empty())?;
    let file = fs::File::open("mode2")?;
    fchmod(&file, Mode::from_raw_mode(0o640))?;
    let long_ago = Timespec {
        tv_sec: 1,
        tv_nsec: 2,
    };
    let times = Timestamps {
        last_access: long_ago,
        last_modification: long_ago,
    };
    utimensat(CWD, "times", &times, AtFlags::SYMLINK_NOFOLLOW)?;
    // Not every file system supports extended attributes.
    let _ = setxattr("attribute", "user.test", b"value", XattrFlags::empty());
    Ok(())
}

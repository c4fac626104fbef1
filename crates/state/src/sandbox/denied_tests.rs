use super::*;
use agent_bash_core::sandbox::WriteLevel;

#[test]
fn denied_files_names_only_files_with_a_refused_write() {
    let temp = tempfile::tempdir().unwrap();
    let cwd = temp.path().canonicalize().unwrap();
    fs::write(cwd.join("there"), "").unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(cwd.join("socket.sock")).unwrap();
    let plan = Plan::new(WriteLevel::ReadOnly, Tier::Full);
    for (line, want) in [
        ("bash: line 1: new: Read-only file system", Some("new")),
        ("bash: line 1: new: Permission denied", Some("new")),
        ("bash: line 1: there: Permission denied", Some("there")),
        ("tee: there: Read-only file system", Some("there")),
        (
            "sh: 1: cannot create new: Read-only file system",
            Some("new"),
        ),
        (
            "/bin/sh: 1: cannot create new: Permission denied",
            Some("new"),
        ),
        ("sh: 1: cannot fork: Read-only file system", None),
        ("mkdir: new/a/b: Read-only file system", Some("new")),
        (
            "chmod: changing permissions of 'there': Operation not permitted",
            Some("there"),
        ),
        ("bash: line 1: kill: (1) - Operation not permitted", None),
        ("kill: 1: Operation not permitted", None),
        ("ping: socket: Operation not permitted", None),
        ("bash: socket: Permission denied", None),
        ("nc: bind: Permission denied", None),
        ("mount: none: Operation not permitted", None),
        ("mount: there: permission denied.", None),
        ("dial unix socket.sock: connect: permission denied", None),
        ("psql: socket.sock: Permission denied", None),
        (
            "rm: socket.sock: Read-only file system",
            Some("socket.sock"),
        ),
        ("cat: /proc/1/environ: Permission denied", None),
        (
            "ls: cannot open directory '/proc/1/fd': Permission denied",
            None,
        ),
    ] {
        let message: Vec<ErrorMessage> = message_of(&[line], 0).into_iter().collect();
        let found = denied_files(&plan, &cwd, &message, &[]);
        let want = want.map(|name| cwd.join(name).display().to_string());
        assert_eq!(found.first().map(|it| it.path.clone()), want, "{line}");
    }
    let line = format!(
        "AttachNotSupportedException: Unable to open socket file {}: target process 7 doesn't",
        cwd.join("new").display()
    );
    let message: Vec<ErrorMessage> = in_message(&line).into_iter().collect();
    assert_eq!(denied_files(&plan, &cwd, &message, &[]).len(), 1, "{line}");
}

#[test]
fn relative_name_after_a_change_of_the_directory_means_the_refused_write() {
    let temp = tempfile::tempdir().unwrap();
    let cwd = temp.path().canonicalize().unwrap();
    fs::create_dir(cwd.join("sub")).unwrap();
    let plan = Plan::new(WriteLevel::ReadOnly, Tier::Full);
    let refused = [cwd.join("sub/a"), cwd.join("b")];
    for (name, want) in [("a", "sub/a"), ("../b", "b"), ("b", "b"), ("c", "c")] {
        let line = format!("tee: {name}: Read-only file system");
        let message: Vec<ErrorMessage> = in_message(&line).into_iter().collect();
        let found = denied_files(&plan, &cwd, &message, &refused);
        let want = cwd.join(want).display().to_string();
        assert_eq!(found.first().map(|it| &it.path), Some(&want), "{line}");
    }
}

#[test]
fn refused_operations_are_found_by_the_error_of_the_line() {
    use RefusedOperations::{
        FileAttributes, OutsideServers, Privileged, SocketFamilies, Unchecked, Writes,
    };
    let [base, full] = [Tier::Base, Tier::Full].map(|tier| Plan::new(WriteLevel::ReadOnly, tier));
    for (line, want) in [
        (
            "unshare: unshare failed: Operation not permitted",
            Some(Privileged),
        ),
        (
            "bwrap: No permissions to create new namespace, likely because the kernel does not",
            Some(Privileged),
        ),
        ("Error: kill EPERM", Some(Privileged)),
        (
            "chattr: Operation not supported while setting flags on f",
            Some(FileAttributes),
        ),
        ("io_uring_setup: Function not implemented", Some(Unchecked)),
        (
            "OSError: [Errno 97] Address family not supported by protocol",
            Some(SocketFamilies),
        ),
        (
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            Some(OutsideServers),
        ),
        (
            "curl: (7) Failed to connect to 127.0.0.1 port 80 after 0 ms: Couldn't connect to server",
            Some(OutsideServers),
        ),
        (
            "Fatal Error Unable to create lock file: Read-only file system (30)",
            Some(Writes),
        ),
        ("tee: /proc/version: Read-only file system", None),
        ("cat: x: No such file or directory", None),
        ("AssertionError: not permitted", None),
    ] {
        assert_eq!(refused_operations_in(line, &full), want, "{line}");
    }
    for (line, is_socket) in [
        ("Error: listen EACCES: permission denied 127.0.0.1:80", true),
        ("PermissionError: [Errno 13] Permission denied", true),
        ("bash: socket: Permission denied", true),
        ("curl: (6) Could not resolve host: example.com", true),
        ("cat: /etc/shadow: Permission denied", false),
        ("done", false),
    ] {
        let found = refused_operations_in(line, &base);
        assert_eq!(found.is_some(), is_socket, "{line}");
        assert_eq!(refused_operations_in(line, &full), None, "{line}");
    }
}

#[test]
fn refused_unix_socket_is_found_in_its_line_or_in_a_trace() {
    for (output, want) in [
        ("unix_listener: socket: Permission denied", true),
        ("Error: listen EACCES: permission denied /p/x.sock", true),
        (
            "  with socket.socket(socket.AF_UNIX) as listener:\n    ^^^^\n  File \"socket.py\"\n    \
             _socket.socket.__init__(self)\nPermissionError: [Errno 13] Permission denied",
            true,
        ),
        (
            "*** bit out of range 0 - FD_SETSIZE on fd_set ***: terminated",
            true,
        ),
        ("bash: socket: Permission denied", false),
        ("Error: listen EACCES: permission denied 0.0.0.0:80", false),
        ("listening on a Unix socket", false),
        (
            "AF_UNIX\n1\n2\n3\n4\n5\n6\n7\n8\ncat: x: Permission denied",
            false,
        ),
        (
            "[7:FATAL:chrome/browser/process_singleton_posix.cc:297] Check failed: . socket() failed: Permission denied (13)",
            true,
        ),
        (
            "[7:ERROR:chrome/browser/process_singleton_posix.cc:340] Failed to create a directory: File exists (17)",
            false,
        ),
    ] {
        assert_eq!(is_socket_refused(output.lines(), true), want, "{output}");
    }
    let output = "gpg: failed to start agent '/usr/bin/gpg-agent': General error";
    for has_streams in [true, false] {
        let is_refused = is_socket_refused(output.lines(), has_streams);
        assert_eq!(is_refused, !has_streams);
    }
}

#[test]
fn in_message_returns_the_subject_and_the_absolute_paths() {
    for (line, want) in [
        ("bash: line 1: out.txt: Permission denied", vec!["out.txt"]),
        ("touch: cannot touch 'a b': Permission denied", vec!["a b"]),
        (
            "mkdir: cannot create directory ‘x’: Read-only file system",
            vec!["x"],
        ),
        (
            "PermissionError: [Errno 13] Permission denied: '/home/u/x'",
            vec!["/home/u/x", "/home/u/x"],
        ),
        (
            "Error: EACCES: permission denied, open '/etc/x'",
            vec!["/etc/x", "/etc/x"],
        ),
        (
            "cat: /home/u/.ssh: Permission denied",
            vec!["/home/u/.ssh", "/home/u/.ssh"],
        ),
        (
            "Error: could not open x: Permission denied (os error 13)",
            vec![],
        ),
        ("error: Permission denied", vec![]),
        (
            "tar: a.tar: Cannot open: Read-only file system",
            vec!["a.tar"],
        ),
        ("ssh: host: cannot connect: Permission denied", vec![]),
        ("sh: can't create a.o: Permission denied", vec!["a.o"]),
        (
            "/usr/bin/ld: cannot open output file a: Read-only file system",
            vec!["a"],
        ),
        ("unzip: cannot create directory: Permission denied", vec![]),
        (
            "-e:1:in `write': Read-only file system @ rb_sysopen - a b (Errno::EROFS)",
            vec!["a b"],
        ),
        ("(eval):1: read-only file system: f", vec!["f"]),
        (
            "fatal: cannot copy '/usr/a' to '/p/.git/hooks/a': Read-only file system",
            vec!["/p/.git/hooks/a", "/p/.git/hooks/a", "/usr/a"],
        ),
        (
            "error: could not write config file .git/config: Device or resource busy",
            vec![".git/config"],
        ),
        (
            "cat: /home/u/.ssh/id: No such file or directory",
            vec!["/home/u/.ssh/id", "/home/u/.ssh/id"],
        ),
        (
            "error: argument dest: the destination . is not write-able at /home/u/x",
            vec!["/home/u/x"],
        ),
        (
            "warning: error running /usr/git 'config': 'error: could not write config file \
             .git/config: Device or resource busy' 'exit status 4'",
            vec![".git/config"],
        ),
        (
            "failed to open /p/x: Os { code: 13, message: \"Permission denied\" }",
            vec!["/p/x"],
        ),
        ("all of /home/u is fine", vec![]),
    ] {
        let found = in_message(line).map(|message| message.paths);
        assert_eq!(found.unwrap_or_default(), want, "{line}");
    }
}

#[test]
fn in_chain_returns_the_paths_above_an_error_that_has_its_own_line() {
    let cargo = ["error: failed to write /p/Cargo.lock", "", "Caused by:"];
    for (last, want) in [
        (
            "  Read-only file system (os error 30)",
            vec!["/p/Cargo.lock"],
        ),
        ("  the read-only file system was checked", vec![]),
        ("", vec![]),
    ] {
        let lines = [&cargo[..], &[last]].concat();
        let found = in_chain(&lines).map(|message| message.paths);
        assert_eq!(found.unwrap_or_default(), want, "{last}");
    }
}

#[test]
fn hidden_directory_is_reported_alike_for_existing_and_missing_names() {
    let temp = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(temp.path()).unwrap();
    fs::create_dir_all(root.join("home/.ssh/keys")).unwrap();
    fs::create_dir(root.join("workspace")).unwrap();
    for (link, target) in [
        ("home/.ssh/outwards", "../../elsewhere"),
        ("workspace/to_existing", "../home/.ssh/keys"),
        ("workspace/to_absent", "../home/.ssh/nothing"),
        ("workspace/to_directory", "../home/.ssh"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let hidden = root.join("home/.ssh");
    let plan = Plan {
        writable: vec![root.join("workspace")],
        hidden: vec![hidden.clone(), root.join("home/.netrc")].into(),
        ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
    };
    let named = |path: &str| {
        let message = in_message(&format!("cat: {path}: Permission denied"));
        let messages: Vec<ErrorMessage> = message.into_iter().collect();
        let denied = denied_files(&plan, &root.join("workspace"), &messages, &[]);
        denied.into_iter().map(|it| it.path).collect::<Vec<_>>()
    };
    let entry = hidden.display().to_string();
    for path in [
        "../home/.ssh", "../home/.ssh/keys", "../home/.ssh/nothing", "../home/.ssh/outwards",
        "../home/.ssh/keys/../../x", "to_existing", "to_absent", "to_directory/keys",
        "to_directory/nothing",
    ] {
        assert_eq!(named(path), std::slice::from_ref(&entry), "{path}");
    }
    for path in ["../home/.netrc", "/dev/shm/x", "/dev/shm", "missing"] {
        assert!(named(path).is_empty(), "{path}");
    }
}

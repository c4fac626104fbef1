//! Directories stand in for cgroups: the choice of a cgroup, the files that are written, and the
//! counts that are read. The kernel's part is tried by hand (docs/tried.md).

use super::*;
use tempfile::TempDir;

/// Creates a cgroup's files in `name` below `mount`.
fn make_cgroup(mount: &Path, name: &str) -> PathBuf {
    let directory = mount.join(name);
    fs::create_dir_all(&directory).unwrap();
    for (file, content) in [
        ("cgroup.controllers", "cpuset cpu io memory pids\n"),
        ("cgroup.procs", "7\n8\n"),
        ("cgroup.subtree_control", "cpu\n"),
        ("cgroup.type", "domain\n"),
    ] {
        fs::write(directory.join(file), content).unwrap();
    }
    directory
}

/// Returns the facts for a program with this `/proc/self/cgroup`. A file `marked` marks a cgroup as
/// delegated, a file `read_only` takes write access.
fn system<'a>(
    mount: &'a Path,
    membership: &'a str,
    has_systemd: bool,
    is_root: bool,
) -> CgroupSystem<'a> {
    CgroupSystem {
        mount,
        membership,
        is_root,
        has_systemd,
        is_marked: |path| path.join("marked").exists(),
        is_writable: |path| {
            let directory = if path.is_dir() {
                Some(path)
            } else {
                path.parent()
            };
            directory.is_some_and(|directory| !directory.join("read_only").exists())
        },
    }
}

fn delegated(directory: &Path, has_processes: bool) -> DelegatedCgroup {
    DelegatedCgroup {
        directory: directory.to_owned(),
        controllers: vec![MEMORY, PIDS, CPU],
        has_processes,
    }
}

#[test]
fn systemd_delegates_only_marked_cgroups() {
    let temp = TempDir::new().unwrap();
    let scope = make_cgroup(temp.path(), "app/run.scope");
    make_cgroup(&scope, HOST_NAME);
    let find = |own: &str, is_root: bool| {
        let own = format!("1:name=x:/y\n0::/{own}\n");
        DelegatedCgroup::find_in(&system(temp.path(), &own, true, is_root))
    };
    for is_root in [false, true] {
        let not_delegated = Err(NoCgroup::NotDelegated(scope.clone()));
        assert_eq!(find("app/run.scope", is_root), not_delegated);
    }
    fs::write(scope.join("marked"), "").unwrap();
    assert_eq!(find("app/run.scope", false), Ok(delegated(&scope, true)));
    let moved = format!("app/run.scope/{HOST_NAME}");
    assert_eq!(find(&moved, false), Ok(delegated(&scope, false)));
    // A program in another cgroup below would leave the limits of that cgroup.
    let below = make_cgroup(&scope, "below");
    assert_eq!(
        find("app/run.scope/below", false),
        Err(NoCgroup::NotDelegated(below))
    );
    for nested in ["agent-bash-call-7-0", "agent-bash-call-7-0/deeper"] {
        let nested = format!("app/run.scope/{nested}");
        assert_eq!(find(&nested, false), Err(NoCgroup::InCall));
    }
    fs::write(scope.join("read_only"), "").unwrap();
    assert_eq!(
        find("app/run.scope", false),
        Err(NoCgroup::NotDelegated(scope))
    );
}

#[test]
fn unit_of_systemd_run_delegates_only_with_its_option() {
    let unit = |option: &str| {
        format!(
            "# This is a transient unit file.\n[Unit]\nDescription=x Delegate=yes\n\n[Scope]\n{option}\n"
        )
    };
    for option in ["Delegate=yes", "Delegate=memory pids"] {
        assert!(is_delegating(&unit(option)), "{option}");
    }
    for option in ["", "Delegate=no", "Delegate=", "TasksMax=9"] {
        assert!(!is_delegating(&unit(option)), "{option}");
    }
}

#[test]
fn cgroup_of_user_below_foreign_one_is_delegated_without_systemd() {
    let temp = TempDir::new().unwrap();
    let group = make_cgroup(temp.path(), "group");
    let find = |has_systemd, is_root| {
        let system = system(temp.path(), "0::/group\n", has_systemd, is_root);
        DelegatedCgroup::find_in(&system)
    };
    let not_delegated = || Err(NoCgroup::NotDelegated(group.clone()));
    assert_eq!(
        find(false, false),
        not_delegated(),
        "the parent is writable"
    );
    fs::write(temp.path().join("read_only"), "").unwrap();
    assert_eq!(find(false, false), Ok(delegated(&group, true)));
    assert_eq!(find(false, true), not_delegated(), "root could write it");
    assert_eq!(find(true, false), not_delegated(), "systemd manages it");
}

#[test]
fn root_of_hierarchy_is_used_without_moving_processes() {
    let temp = TempDir::new().unwrap();
    let root = make_cgroup(temp.path(), "");
    let find = |own| DelegatedCgroup::find_in(&system(temp.path(), own, false, true));
    let root: PathBuf = root.components().collect();
    let not_delegated = || Err(NoCgroup::NotDelegated(root.clone()));
    assert_eq!(find("0::/\n"), not_delegated(), "the root of a namespace");
    fs::remove_file(root.join("cgroup.type")).unwrap();
    assert_eq!(find("0::/\n"), Ok(delegated(&root, false)));
    assert!(matches!(find("0::/../x\n"), Err(NoCgroup::NotDelegated(_))));
    assert_eq!(find("4:memory:/x\n"), Err(NoCgroup::System));
    fs::write(root.join("cgroup.controllers"), "io\n").unwrap();
    assert_eq!(find("0::/\n"), Err(NoCgroup::System));
}

#[test]
fn new_cgroup_gets_enforced_limits_after_processes_were_moved() {
    let temp = TempDir::new().unwrap();
    let directory = make_cgroup(temp.path(), "scope");
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let cgroup = delegated(&directory, true);
    let wanted = Limits {
        cpu_s: Some(3),
        memory_mb: Some(64),
        processes: Some(u64::MAX),
        cpu_percent: Some(150),
        file_mb: Some(1),
    };
    let without_pids = DelegatedCgroup {
        controllers: vec![MEMORY, CPU],
        ..cgroup.clone()
    };
    assert_eq!(without_pids.enforced(&wanted).processes, None);
    let enforced = cgroup.enforced(&wanted);
    assert_eq!((enforced.cpu_s, enforced.file_mb), (None, None));
    let call = cgroup.create(enforced).unwrap();
    // Each of the two pids was written to the file, which here holds only the last.
    assert_eq!(read(&format!("{HOST_NAME}/cgroup.procs")), "8");
    assert_eq!(read(ENABLED_FILE), "+memory +pids");
    let name = call.tree.directory.file_name().unwrap().to_str().unwrap();
    let read = |file: &str| read(&format!("{name}/{file}"));
    assert_eq!(read("memory.max"), (64 << 20).to_string());
    assert_eq!(
        (read("memory.oom.group"), read("memory.swap.max")),
        ("1".into(), "0".into())
    );
    assert_eq!(read("pids.max"), "4194304");
    assert_eq!(read("cpu.max"), "150000 100000");
    call.add(9, i32::MAX).unwrap();
    assert_eq!(read("cgroup.procs"), "9");
    // The directory is not empty, as a cgroup with processes. Another call gets another name.
    let other = cgroup
        .create(Limits {
            processes: Some(5),
            ..Limits::default()
        })
        .unwrap();
    assert_ne!(other.tree, call.tree);
    assert!(!other.tree.directory.join("memory.max").exists());
}

#[test]
fn limits_that_no_cgroup_enforces_are_named() {
    let temp = TempDir::new().unwrap();
    let directory = make_cgroup(temp.path(), "scope");
    let wanted = Limits {
        cpu_s: Some(3),
        memory_mb: Some(64),
        cpu_percent: Some(50),
        ..Limits::default()
    };
    let text = |found, limits: &Limits| {
        let (cgroup, report) = CallCgroup::start_in(found, limits, 9, i32::MAX);
        assert_eq!(
            report.tree.as_ref(),
            cgroup.as_ref().map(CallCgroup::tree),
            "the host knows the cgroup"
        );
        let text = report.missing_notice().map(|notice| notice.text);
        (cgroup.is_some(), text.unwrap_or_default())
    };
    let all = || Ok(delegated(&directory, false));
    assert_eq!(text(all(), &wanted), (true, String::new()));
    let without_cpu = DelegatedCgroup {
        controllers: vec![MEMORY],
        ..delegated(&directory, false)
    };
    let lacks = format!(
        "cpu_percent is not enforced: the cgroup {} lacks a controller",
        directory.display()
    );
    assert_eq!(text(Ok(without_cpu), &wanted), (true, lacks));
    let not_enforced = "cpu_percent is not enforced: this system has no cgroup v2 with the controllers memory, pids or cpu";
    assert_eq!(
        text(Err(NoCgroup::System), &wanted),
        (false, not_enforced.to_owned())
    );
    let memory = Limits {
        cpu_percent: None,
        ..wanted
    };
    // The documented limit of each process needs no notice.
    assert_eq!(text(Err(NoCgroup::System), &memory), (false, String::new()));
    fs::remove_file(directory.join(ENABLED_FILE)).unwrap();
    let (has_cgroup, failed) = text(all(), &wanted);
    let begins = "memory_mb holds for each process alone, cpu_percent is not enforced: cannot create a cgroup in ";
    assert!(!has_cgroup && failed.starts_with(begins), "{failed}");
}

#[test]
fn only_empty_cgroups_of_ended_supervisors_are_removed() {
    let temp = TempDir::new().unwrap();
    let directory = make_cgroup(temp.path(), "scope");
    let own = format!("{CALL_PREFIX}{}-0", std::process::id());
    let ended = |number| format!("{CALL_PREFIX}{}-{number}", i32::MAX);
    let names = [
        ended(0),
        ended(1),
        own,
        HOST_NAME.to_owned(),
        format!("{CALL_PREFIX}x"),
    ];
    for name in &names {
        fs::create_dir(directory.join(name)).unwrap();
    }
    fs::write(directory.join(&names[1]).join("process"), "").unwrap();
    delegated(&directory, true).sweep();
    let remain = names.iter().map(|name| directory.join(name).exists());
    assert_eq!(remain.collect::<Vec<_>>(), [false, true, true, true, true]);
}

#[test]
fn notices_name_limits_that_were_enforced_since_last_counts() {
    let temp = TempDir::new().unwrap();
    let tree = LimitedTree {
        directory: temp.path().to_owned(),
        limits: Limits {
            memory_mb: Some(64),
            processes: Some(20),
            cpu_percent: Some(50),
            ..Limits::default()
        },
    };
    let write = |memory: [u64; 2], refused: u64, throttled_us: u64| {
        let [oom, killed] = memory;
        let memory =
            format!("low 0\nhigh 0\nmax 9\noom {oom}\noom_kill {killed}\noom_group_kill 1\n");
        fs::write(temp.path().join("memory.events"), memory).unwrap();
        fs::write(temp.path().join("pids.events"), format!("max {refused}\n")).unwrap();
        let cpu = format!("usage_usec 5\nnr_throttled 3\nthrottled_usec {throttled_us}\n");
        fs::write(temp.path().join("cpu.stat"), cpu).unwrap();
        tree.counts()
    };
    let texts = |before, now| {
        let notices = tree.notices(before, now).into_iter();
        notices.map(|notice| notice.text).collect::<Vec<_>>()
    };
    let nothing = LimitCounts::default();
    assert_eq!(tree.counts(), nothing);
    // A kill without a failed allocation of the cgroup is one for want of memory of the machine.
    let now = write([0, 1], 0, 900_000);
    assert_eq!(texts(nothing, now), [""; 0]);
    let now = write([1, 3], 2, 2_000_000);
    assert_eq!(
        texts(nothing, now),
        [
            "The command was ended by its resource limit: memory_mb = 64",
            "The command was refused further processes by its resource limit: processes = 20",
            "The command was slowed by its resource limit: cpu_percent = 50",
        ]
    );
    assert_eq!(texts(now, now), [""; 0]);
    assert_eq!(texts(now, write([1, 3], 3, 2_000_001)).len(), 1);
    // The cgroup was removed.
    assert_eq!(texts(now, nothing), [""; 0]);
}

use super::*;
use agent_bash_settings::CacheAccess;
use std::fs;

#[test]
fn removed_private_caches_are_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let (workspace, state) = (dir.path().join("workspace"), dir.path().join("state"));
    fs::create_dir(&workspace).unwrap();
    let own = SandboxState {
        state: Some(state.clone()),
        ..SandboxState::new(SandboxSettings {
            level: SandboxLevel::WorkspaceWrite,
            caches: CacheAccess::Private,
            ..SandboxSettings::default()
        })
    };
    let facts = HostFacts::new(None, workspace, Tier::Full);
    let (clock, wall) = (agent_bash_process::SystemClock::new(), Timestamp(0));
    let mut pools = Vec::new();
    for _ in 0..2 {
        let found = own.prepare_from_cache(&facts, Duration::ZERO, false, wall);
        assert!(found.is_none());
        let prepared = own.prepare(None, facts.clone(), false, &clock).unwrap();
        let prepared = prepared.unwrap();
        let caches = &prepared.plan.caches.writable;
        assert!(!caches.is_empty() && caches.iter().all(|cache| cache.is_dir()));
        pools.push(prepared.pool);
        fs::remove_dir_all(&state).unwrap();
    }
    assert_ne!(pools[0], pools[1]);
}

#[test]
fn directories_of_change_sets_are_hidden_and_protected_from_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let [workspace, state] = ["workspace", "state"].map(|name| root.join(name));
    fs::create_dir_all(workspace.join(".git")).unwrap();
    let own = SandboxState {
        state: Some(state.clone()),
        ..SandboxState::new(SandboxSettings {
            level: SandboxLevel::WorkspaceWrite,
            ..SandboxSettings::default()
        })
    };
    let facts = HostFacts {
        state: Some(state.clone()),
        ..HostFacts::new(None, workspace.clone(), Tier::Full)
    };
    let (clock, wall) = (agent_bash_process::SystemClock::new(), Timestamp(0));
    let prepare = || {
        own.prepare(None, facts.clone(), false, &clock)
            .unwrap()
            .unwrap()
    };
    let first = prepare().plan;
    // A mount can hide them only if they exist when a shell starts.
    for name in ["changes", "journal", "targets"] {
        assert!(state.join(name).is_dir() && first.hidden.hiding(&state.join(name)).is_some());
    }
    let stored = workspace.join(".git/.agent-bash-changes");
    assert!(!first.protected.contains(&stored));
    fs::create_dir(&stored).unwrap();
    let cached = own.prepare_from_cache(&facts, Duration::ZERO, false, wall);
    assert!(cached.is_none());
    assert!(prepare().plan.protected.contains(&stored));
}

#[test]
fn hidden_directory_of_keys_is_replaced_by_a_private_one() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let [workspace, state, home] = ["workspace", "state", "home"].map(|name| root.join(name));
    let keys = home.join(".gnupg");
    fs::create_dir(&workspace).unwrap();
    fs::create_dir_all(&keys).unwrap();
    let facts = HostFacts::new(Some(home), workspace, Tier::Full);
    for (access, is_readable, is_moved) in [
        (CacheAccess::Private, false, true),
        (CacheAccess::Private, true, false),
        (CacheAccess::Shared, true, false),
    ] {
        let settings = SandboxSettings {
            level: SandboxLevel::WorkspaceWrite,
            caches: access,
            readable: is_readable.then(|| keys.clone()).into_iter().collect(),
            ..SandboxSettings::default()
        };
        let resolved = settings::resolved(&settings, &facts, Some(&state)).unwrap();
        let plan = resolved.unwrap().plan;
        let mut variables = plan.caches.variables.iter();
        let found = variables.any(|(name, _)| name == "GNUPGHOME");
        assert_eq!(found, is_moved, "{access:?} {is_readable}");
        assert!(!plan.caches.writable.contains(&keys), "{access:?}");
        let lines = ["gpg: decryption failed: No secret key"];
        let missed = missed_cache(&plan, lines.into_iter(), || facts.clone());
        let path = missed.map(|(_, path)| path);
        assert_eq!(path, (!is_readable).then(|| keys.clone()), "{access:?}");
    }
}

/// Needs Linux 5.12: older kernels cannot answer from their caches only.
#[expect(
    clippy::disallowed_methods,
    reason = "the file system's time has to pass"
)]
#[test]
fn changes_in_settled_directories_are_detected_before_and_after_a_call() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
    let own = SandboxState::new(SandboxSettings {
        level: SandboxLevel::WorkspaceWrite,
        ..SandboxSettings::default()
    });
    let facts = HostFacts::new(None, dir.path().to_owned(), Tier::Full);
    let (clock, wall) = (agent_bash_process::SystemClock::new(), Timestamp(0));
    let settled = || {
        let cached = own.cached.lock().unwrap();
        let seen = cached
            .as_ref()
            .and_then(|cached| cached.parent_state.as_ref());
        seen.is_some_and(|seen| seen.settled.is_some())
    };
    let mut now = Duration::ZERO;
    let mut ready = || {
        now += ParentDirectories::SETTLED_AGE;
        own.prepare_from_cache(&facts, now, false, wall)
    };
    for name in [".vscode", ".idea"] {
        own.prepare(None, facts.clone(), false, &clock).unwrap();
        assert!(
            own.prepare_from_cache(&facts, Duration::ZERO, false, wall)
                .is_some()
                && !settled()
        );
        assert!(ready().is_some() && settled());
        std::thread::sleep(ParentDirectories::SETTLED_AGE);
        // A file with another name does not matter.
        fs::write(dir.path().join(".git/hooks/sample"), "").unwrap();
        let before = ready().unwrap().before;
        assert_eq!(before.changed_by_cache(), Some(Vec::new()));
        let path = dir.path().join(name);
        fs::create_dir(&path).unwrap();
        assert_eq!(before.changed_by_cache(), Some(vec![path]));
        assert!(ready().is_none());
    }
}

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

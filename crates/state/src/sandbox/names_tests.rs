use super::*;
use crate::changes::{CallChanges, ChangeStore};
use agent_bash_core::changes::{ChangesLevel, ChangesState};
use agent_bash_core::sandbox::{Tier, WriteLevel};
use agent_bash_settings::ChangesSettings;
use std::fs;

/// A clock on which no time limit passes.
#[derive(Debug)]
struct StoppedClock;

#[async_trait::async_trait]
impl Clock for StoppedClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Timestamp {
        Timestamp(0)
    }

    async fn sleep(&self, _: Duration) {}
}

fn plan(root: &Path) -> Plan {
    Plan {
        writable: vec![root.to_owned()],
        ..Plan::new(WriteLevel::WorkspaceWrite, Tier::Full)
    }
}

/// Returns canonical paths of a workspace and of a state directory.
#[expect(clippy::unwrap_used, reason = "a test that fails may stop")]
fn directories(temp: &Path) -> [PathBuf; 2] {
    ["workspace", "state"].map(|name| {
        let path = temp.join(name);
        fs::create_dir(&path).unwrap();
        fs::canonicalize(path).unwrap()
    })
}

#[test]
fn exact_record_names_files_that_the_scan_does_not_reach() {
    let temp = tempfile::tempdir().unwrap();
    let [root, state] = directories(temp.path());
    let deep = root.join("src/a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let (plan, clock) = (plan(&root), StoppedClock);
    let before = NamesBeforeCall::before(&plan, &clock, &NameScan::default(), None, &[]);
    let location = Some((state, "s".to_owned()));
    let store = ChangeStore::new(ChangesSettings::default(), ChangesLevel::Undo, location);
    let opened = store.store().unwrap();
    let scan = store.scan_before(&opened, &root, &clock).unwrap();
    for number in 0..1100 {
        fs::create_dir_all(root.join(format!("many/{number}"))).unwrap();
    }
    fs::write(deep.join(".envrc"), "").unwrap();
    let mut changes = store.scan_after(&opened, &scan, &clock).unwrap();
    (changes.exact, changes.state) = (true, ChangesState::Done);
    let recorded = CallChanges {
        changes: Some(changes),
        notices: Vec::new(),
    };
    let record = ExactRecord::of(&Arc::new(store), &recorded).unwrap();
    let exact = before.changed(&plan, Vec::new(), Some(&record), None, &clock);
    assert_eq!(exact.changed, [deep.join(".envrc")]);
    assert_eq!(exact.uncompared, []);
    let scanned = before.changed(&plan, Vec::new(), None, None, &clock);
    assert_eq!(scanned.changed, [""; 0].map(PathBuf::from));
    let paths: Vec<PathBuf> = scanned
        .uncompared
        .iter()
        .map(|it| (&it.path).into())
        .collect();
    // The order of the names decides how deep the scan gets.
    assert_eq!((&*paths[0], paths.len()), (&*root.join("many"), 2));
    assert!(paths[1].starts_with(root.join("src")), "{paths:?}");
}

#[test]
fn settings_beyond_the_longest_result_do_not_count() {
    let temp = tempfile::tempdir().unwrap();
    let [root, state] = directories(temp.path());
    fs::create_dir(root.join("sub")).unwrap();
    let (plan, clock) = (plan(&root), StoppedClock);
    let before = NamesBeforeCall::before(&plan, &clock, &NameScan::default(), Some(&state), &[]);
    for number in 0..=MAX_PATHS {
        fs::write(root.join(format!(".lintstagedrc{number}")), "").unwrap();
    }
    let settings = root.join("sub").join(PROJECT_FILE);
    fs::write(&settings, "[sandbox]\nlevel = \"off\"\n").unwrap();
    let after = before.changed(&plan, Vec::new(), None, Some(&state), &clock);
    assert_eq!(after.changed.len(), MAX_PATHS);
    assert_eq!(
        GuardedSettings::read(&state).effective_text(&settings),
        None
    );
}

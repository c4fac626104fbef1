//! The environment of a command, as a value.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// The environment of a command: a base that many calls share, and the changes of one call.
///
/// Built by `agent_bash_process::environment`; the crates below `agent-bash` do not read the
/// environment of their own process. Values need not be UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The base without secrets and unwanted variables. A warm shell is started with a base, and
    /// serves only calls with an equal base.
    pub base: Arc<BTreeMap<OsString, OsString>>,
    /// Changes on top of `base`: a value sets, `None` unsets.
    pub changes: BTreeMap<OsString, Option<OsString>>,
}

impl Environment {
    /// Returns the value that the command sees.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        match self.changes.get(name) {
            Some(change) => change.as_deref(),
            None => self.base.get(name).map(OsString::as_os_str),
        }
    }

    /// Returns base and changes combined, ordered by name.
    pub fn merged(&self) -> BTreeMap<OsString, OsString> {
        let mut all = (*self.base).clone();
        for (name, change) in &self.changes {
            match change {
                Some(value) => drop(all.insert(name.clone(), value.clone())),
                None => drop(all.remove(name)),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_override_the_base() {
        let base: BTreeMap<_, _> = [("A", "1"), ("B", "2")]
            .map(|(k, v)| (k.into(), v.into()))
            .into();
        let changes = [("A".into(), None), ("C".into(), Some("3".into()))].into();
        let env = Environment {
            base: Arc::new(base),
            changes,
        };
        assert_eq!(env.get("A"), None);
        assert_eq!(env.get("B"), Some(OsStr::new("2")));
        assert_eq!(env.get("C"), Some(OsStr::new("3")));
        let names: Vec<_> = env.merged().into_keys().collect();
        assert_eq!(names, ["B", "C"]);
    }
}

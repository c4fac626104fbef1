//! Sweeps of old data in all sessions (the subdirectories of a directory), in steps of bounded
//! cost. An item is a numbered file or directory of a session. A file stores the position of the
//! sweep, so that the next process continues there.

use crate::counter::{UNKNOWN_NUMBER, lock_file};
use crate::private_dir::PrivateDir;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The largest size of the progress file in bytes.
const MAX_BYTES: usize = 512;

/// The progress of a sweep. Times are in milliseconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepProgress {
    /// When the last step began.
    pub stepped_at: u64,
    /// The size of all items in bytes: counted by the last complete sweep, and updated by
    /// [`Self::account`]. `None` before the first complete sweep.
    pub total: Option<u64>,
    /// The size in bytes of the items before the position of the current sweep.
    pub counted: u64,
    /// [`Self::total`] after items were last removed because it was too large.
    pub pruned_to: u64,
    /// The number of the next item.
    number: u64,
    /// The session of the next item.
    session: String,
}

/// The outcome of a step in one session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Visit {
    /// The number of examined items.
    pub items: u64,
    /// The size in bytes of the examined items that were not removed.
    pub bytes: u64,
    /// The first item that was not examined, if there is one.
    pub next: Option<u64>,
}

/// The bounds of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct SweepBounds {
    /// The time in milliseconds since 1970.
    pub now: u64,
    /// Milliseconds between two steps.
    pub interval: u64,
    /// The largest number of items of one step. A session without items counts as one.
    pub items: u64,
}

impl SweepProgress {
    /// Reads the progress in the file `name`. A missing or invalid file counts as a new sweep.
    pub fn read(dir: &PrivateDir, name: &str) -> Self {
        let file = dir.read(name);
        file.ok()
            .and_then(|file| Self::parse(&file))
            .unwrap_or_default()
    }

    /// Changes the progress under a lock. Returns the result of `change`.
    ///
    /// # Errors
    /// The file cannot be locked or written.
    pub fn update<T>(
        dir: &PrivateDir,
        name: &str,
        change: impl FnOnce(&mut Self) -> T,
    ) -> io::Result<T> {
        let file = lock_file(dir, name)?;
        let before = Self::parse(&file).unwrap_or_default();
        let mut progress = before.clone();
        let value = change(&mut progress);
        if progress != before {
            // The write is in place, so that a full disk does not prevent it.
            file.write_all_at(progress.text().as_bytes(), 0)?;
        }
        Ok(value)
    }

    /// True if a step is due. A last step in the future does not count: the clock was set back.
    pub fn is_due(&self, bounds: SweepBounds) -> bool {
        let age = bounds.now.checked_sub(self.stepped_at);
        age.is_none_or(|age| age >= bounds.interval)
    }

    /// Adds `bytes` to the total size, for the item `number`. `bytes` is negative for a removed
    /// item.
    pub fn account(&mut self, session: &str, number: u64, bytes: i64) {
        self.total = self.total.map(|it| it.saturating_add_signed(bytes));
        if (session, number) < (&self.session, self.number) {
            self.counted = self.counted.saturating_add_signed(bytes);
        }
    }

    /// Makes the next step of the sweep over the subdirectories of `dir`, if one is due. `visit`
    /// gets the session, the number of the first item, and the largest number of items to sweep.
    /// Returns true if the step completed a sweep of all sessions.
    ///
    /// # Errors
    /// The sessions cannot be listed, or the position cannot be stored.
    pub fn step(
        dir: &PrivateDir,
        name: &str,
        bounds: SweepBounds,
        mut visit: impl FnMut(&str, u64, u64) -> Visit,
    ) -> io::Result<bool> {
        // The time is written before the step, so that only one of several processes makes the
        // step.
        let position = Self::update(dir, name, |progress| {
            let is_due = progress.is_due(bounds);
            is_due.then(|| {
                progress.stepped_at = bounds.now;
                progress.clone()
            })
        })?;
        let Some(position) = position else {
            return Ok(false);
        };
        let mut remaining = bounds.items;
        for session in dir.directories()? {
            let first = match session.cmp(&position.session) {
                std::cmp::Ordering::Less => continue,
                std::cmp::Ordering::Equal => position.number,
                std::cmp::Ordering::Greater => 0,
            };
            if first == u64::MAX {
                continue;
            }
            if remaining == 0 {
                return Ok(false);
            }
            let visited = visit(&session, first, remaining);
            remaining = remaining.saturating_sub(visited.items.max(1));
            Self::update(dir, name, |progress| {
                progress.session = session;
                progress.number = visited.next.unwrap_or(u64::MAX);
                progress.counted += visited.bytes;
            })?;
            if visited.next.is_some() {
                return Ok(false);
            }
        }
        Self::update(dir, name, |progress| {
            progress.total = Some(std::mem::take(&mut progress.counted));
            progress.session.clear();
            progress.number = 0;
        })?;
        Ok(true)
    }

    fn text(&self) -> String {
        let total = self.total.map(|it| it.to_string());
        let total = total.as_deref().unwrap_or(UNKNOWN_NUMBER);
        let Self {
            stepped_at,
            counted,
            pruned_to,
            number,
            session,
            ..
        } = self;
        format!("{stepped_at} {total} {counted} {pruned_to} {number} {session}\n")
    }

    fn parse(file: &File) -> Option<Self> {
        let mut bytes = [0; MAX_BYTES];
        let length = file.read_at(&mut bytes, 0).ok()?;
        // The rest of a former, longer text may follow the line.
        let (line, _) = str::from_utf8(&bytes[..length]).ok()?.split_once('\n')?;
        let mut words = line.splitn(6, ' ');
        let mut number = || words.next()?.parse().ok();
        let stepped_at = number()?;
        let total = words.next()?.parse().ok();
        let mut number = || words.next()?.parse().ok();
        Some(Self {
            stepped_at,
            total,
            counted: number()?,
            pruned_to: number()?,
            number: number()?,
            session: words.next()?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "progress";

    /// Makes one step over sessions, each with this number of items of ten bytes.
    fn step(dir: &PrivateDir, now: u64, sessions: &[(&str, u64)]) -> (bool, Vec<(String, u64)>) {
        let bounds = SweepBounds {
            now,
            interval: 10,
            items: 4,
        };
        let mut visited = Vec::new();
        let visit = |session: &str, from, most| {
            let (_, items) = sessions.iter().find(|(name, _)| *name == session).unwrap();
            let end = *items.min(&(from + most));
            visited.extend((from..end).map(|number| (session.to_owned(), number)));
            Visit {
                items: end - from,
                bytes: (end - from) * 10,
                next: (end < *items).then_some(end),
            }
        };
        let is_complete = SweepProgress::step(dir, FILE, bounds, visit).unwrap();
        (is_complete, visited)
    }

    #[test]
    fn steps_are_bounded_and_a_sweep_visits_each_item_once() {
        let root = tempfile::tempdir().unwrap();
        let dir = PrivateDir::create(root.path(), &["a"]).unwrap();
        let sessions = [("z", 3), ("a", 6), ("empty", 0), ("b c", 2)];
        for (name, _) in sessions.iter().chain(&[(".hidden", 9)]) {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let (mut all, mut steps) = (Vec::new(), 0);
        for now in (100..).step_by(10) {
            let (is_complete, visited) = step(&dir, now, &sessions);
            assert!(visited.len() <= 4);
            all.extend(visited);
            steps += 1;
            assert_eq!(
                step(&dir, now + 9, &sessions),
                (false, Vec::new()),
                "too early"
            );
            if is_complete {
                break;
            }
        }
        let mut wanted = Vec::new();
        for (name, items) in [("a", 6), ("b c", 2), ("z", 3)] {
            wanted.extend((0..items).map(|number| (name.to_owned(), number)));
        }
        assert_eq!((all, steps), (wanted, 3));
        let read = || SweepProgress::read(&dir, FILE);
        assert_eq!((read().total, read().counted), (Some(110), 0));
        // The clock was set back.
        assert_eq!(step(&dir, 1, &sessions).1.len(), 4);
        // Items that are added during a sweep count once, before the position and after it.
        SweepProgress::update(&dir, FILE, |it| it.account("a", 0, 5)).unwrap();
        assert_eq!((read().total, read().counted), (Some(115), 45));
        SweepProgress::update(&dir, FILE, |it| it.account("a", 4, 7)).unwrap();
        SweepProgress::update(&dir, FILE, |it| it.account("b", 0, -2)).unwrap();
        assert_eq!((read().total, read().counted), (Some(120), 45));
        std::fs::write(dir.path().join(FILE), "12 nonsense").unwrap();
        assert_eq!(read(), SweepProgress::default());
    }
}

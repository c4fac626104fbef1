//! Records changes by jobs and by processes that outlive their call. No call waits for these
//! processes, so the recorder closes their change set itself.

use crate::error::ChangesError;
use crate::files::rooted_dir::RootedDir;
use crate::plan::steps::Precautions;
use crate::sources::recorder::{OutsideFile, RecordOutcome, Recorder, Touch};
use crate::sources::traced;
use crate::store::create_set;
use crate::store::meta::{Meta, SetKind};
use crate::store::set::{ChangeSet, SetState};
use agent_bash_core::changes::ChangesId;
use agent_bash_core::sandbox::HiddenPaths;
use agent_bash_os::PrivateDir;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The changes of processes that outlive a call: a separate change set, created before the first
/// change below the root.
#[derive(Debug)]
pub struct BackgroundChanges {
    /// The description of the call's change set.
    meta: Meta,
    root: PathBuf,
    /// The directory of the session's change sets.
    session: PathBuf,
    /// The number of the call's change set.
    after: Option<u64>,
    /// True if an earlier call of the same shell may have started the processes instead.
    maybe_earlier: bool,
    /// The lowest number of the next change set, even if the directory is removed or replaced.
    lowest: u64,
    hidden: HiddenPaths,
    recorder: Option<Box<Recorder>>,
}

impl Recorder {
    /// Returns the recorder for processes that outlive this call.
    pub fn background(&self) -> BackgroundChanges {
        let path = self.set.path();
        let number = path.file_name().and_then(OsStr::to_str);
        let after: Option<u64> = number.and_then(|number| number.parse().ok());
        BackgroundChanges {
            meta: self.meta.clone(),
            root: self.root().to_owned(),
            session: path.parent().unwrap_or(path).to_owned(),
            after,
            maybe_earlier: false,
            lowest: after.map_or(0, |call| call.saturating_add(1)),
            hidden: self.hidden.clone(),
            recorder: None,
        }
    }

    /// True if the recorder must call [`Self::conclude`], because no call closes the change set.
    pub fn closes_itself(&self) -> bool {
        matches!(self.meta.kind, SetKind::Background { .. })
    }

    /// Closes the change set: compares the records with the tree at once, so that later changes by
    /// other processes are not included.
    ///
    /// # Errors
    /// The comparison failed: the change set is interrupted.
    pub fn conclude(mut self) -> Result<(), ChangesError> {
        self.end()?;
        let path = self.set.path().to_owned();
        let session = path.parent().unwrap_or(&path);
        let number = path.file_name().and_then(OsStr::to_str);
        let number = number.and_then(|number| number.parse().ok());
        let id = ChangesId(number.unwrap_or_default());
        let opened =
            PrivateDir::open(session, &[]).map_err(ChangesError::io("opening", session))?;
        let set = ChangeSet::read(&opened, id)?;
        let mut set = set.ok_or(ChangesError::Unknown { id })?;
        let concluded = traced::conclude(
            &mut set,
            Precautions::default(),
            SetState::Done,
            SetState::Done,
        );
        if concluded.is_err() {
            set.set_state(SetState::Interrupted)?;
        }
        concluded
    }
}

impl BackgroundChanges {
    /// Returns the recorder for processes that this call or an earlier call of the same shell
    /// started. Which call it was is unknown.
    #[must_use]
    pub fn maybe_earlier(&self) -> Self {
        Self {
            meta: self.meta.clone(),
            root: self.root.clone(),
            session: self.session.clone(),
            after: self.after,
            maybe_earlier: true,
            lowest: self.lowest,
            hidden: self.hidden.clone(),
            recorder: None,
        }
    }

    /// Records a path before a background process changes it, as [`Recorder::before`] does.
    ///
    /// # Errors
    /// See [`Recorder::before`]; or a change set could not be created.
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<RecordOutcome, ChangesError> {
        if !path.starts_with(&self.root) {
            return Ok(RecordOutcome::Outside);
        }
        self.recorder()?.before(path, touch)
    }

    /// Records a path outside of the root, as [`Recorder::before_outside`] does.
    ///
    /// # Errors
    /// See [`BackgroundChanges::before`].
    pub fn before_outside(
        &mut self,
        file: &OutsideFile<'_>,
        touch: Touch,
    ) -> Result<RecordOutcome, ChangesError> {
        if !file.may_be_below() {
            return Ok(RecordOutcome::Outside);
        }
        self.recorder()?.before_outside(file, touch)
    }

    /// Returns the root of the change set.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn recorder(&mut self) -> Result<&mut Recorder, ChangesError> {
        let recorder = match &mut self.recorder {
            Some(recorder) => recorder,
            none => {
                let kind = SetKind::Background {
                    after: self.after,
                    maybe_earlier: self.maybe_earlier,
                };
                let (recorder, id) = begin(&self.meta, &self.session, kind, self.lowest)?;
                self.lowest = id.0.saturating_add(1);
                none.insert(Box::new(recorder.with_hidden_paths(self.hidden.clone())))
            }
        };
        Ok(recorder)
    }

    /// Marks the record as incomplete, as [`Recorder::mark_incomplete`] does, if anything below the
    /// root was changed.
    ///
    /// # Errors
    /// See [`Recorder::mark_incomplete`].
    pub fn mark_incomplete(&mut self) -> Result<(), ChangesError> {
        self.recorder
            .as_mut()
            .map_or(Ok(()), |recorder| recorder.mark_incomplete())
    }

    /// Closes the change set, because the processes that changed files have ended. Later changes
    /// get another change set.
    ///
    /// # Errors
    /// See [`Recorder::conclude`].
    pub fn conclude(&mut self) -> Result<(), ChangesError> {
        self.recorder
            .take()
            .map_or(Ok(()), |recorder| recorder.conclude())
    }
}

/// Creates a change set, and returns its recorder and its number, which is at least `lowest`.
fn begin(
    meta: &Meta,
    session: &Path,
    kind: SetKind,
    lowest: u64,
) -> Result<(Recorder, ChangesId), ChangesError> {
    let root = meta.root();
    let tree = RootedDir::open_same(&root, meta.identity)?;
    let opened = PrivateDir::open(session, &[]).map_err(ChangesError::io("opening", session))?;
    let meta = Meta::new(kind, root, meta.level, meta.limits);
    let set = create_set(&opened, &tree, meta, lowest)?;
    // The recorder has its own lock, so the lock of `set` can be released.
    Ok((Recorder::open(set.dir())?, set.id))
}

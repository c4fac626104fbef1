//! What goes on when nobody waits for it: in a job, or in what outlives a call. Whoever records it ends it, too.

use crate::error::ChangesError;
use crate::meta::{Meta, SetKind};
use crate::recorder::{KeepOutcome, Recorder, Touch};
use crate::rooted_dir::RootedDir;
use crate::set::{ChangeSet, SetState};
use crate::steps::Care;
use crate::store::make;
use crate::traced;
use agent_bash_core::changes::ChangesId;
use agent_bash_os::PrivateDir;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What outlives a call: a set of its own in the same session, made when the first file of the root is about to be changed.
#[derive(Debug)]
pub struct BackgroundChanges {
    /// As that of the call's set.
    meta: Meta,
    session: PathBuf,
    after: Option<u64>,
    or_earlier: bool,
    hidden: Vec<PathBuf>,
    recorder: Option<Box<Recorder>>,
}

impl Recorder {
    /// For what goes on when this one's call has ended.
    pub fn background(&self) -> BackgroundChanges {
        let path = self.set.path();
        let number = path.file_name().and_then(OsStr::to_str);
        BackgroundChanges {
            meta: self.meta.clone(),
            session: path.parent().unwrap_or(path).to_owned(),
            after: number.and_then(|number| number.parse().ok()),
            or_earlier: false,
            hidden: self.hidden.clone(),
            recorder: None,
        }
    }

    /// Whether nobody waits for it, so that it has to be concluded here.
    pub fn is_concluded_here(&self) -> bool {
        matches!(self.meta.kind, SetKind::Background { .. })
    }

    /// All that was to be recorded was, and nobody waits for it: compares that with what there is, at once, as what others change
    /// from here on is theirs.
    ///
    /// # Errors
    /// It could not be compared: the set is interrupted.
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
        let concluded = traced::conclude(&mut set, Care::default(), SetState::Done, SetState::Done);
        if concluded.is_err() {
            set.set_state(SetState::Interrupted)?;
        }
        concluded
    }
}

impl BackgroundChanges {
    /// For what that call has left running, or an earlier one of its shell, where it is not known which.
    #[must_use]
    pub fn or_earlier(&self) -> Self {
        Self {
            meta: self.meta.clone(),
            session: self.session.clone(),
            after: self.after,
            or_earlier: true,
            hidden: self.hidden.clone(),
            recorder: None,
        }
    }

    /// As [`Recorder::before`].
    ///
    /// # Errors
    /// As there; or a set could not be made.
    pub fn before(&mut self, path: &Path, touch: Touch) -> Result<KeepOutcome, ChangesError> {
        if !path.starts_with(self.meta.root()) {
            return Ok(KeepOutcome::Outside);
        }
        let recorder = match &mut self.recorder {
            Some(recorder) => recorder,
            none => {
                let kind = SetKind::Background {
                    after: self.after,
                    or_earlier: self.or_earlier,
                };
                let recorder = begun(&self.meta, &self.session, kind)?;
                none.insert(Box::new(recorder.hiding(self.hidden.clone())))
            }
        };
        recorder.before(path, touch)
    }

    /// As [`Recorder::lacks`]. Of what has changed nothing in the root, nothing is said.
    ///
    /// # Errors
    /// As there.
    pub fn lacks(&mut self) -> Result<(), ChangesError> {
        self.recorder
            .as_mut()
            .map_or(Ok(()), |recorder| recorder.lacks())
    }

    /// Those that have changed something have ended, for now: what comes gets another set.
    ///
    /// # Errors
    /// As [`Recorder::conclude`].
    pub fn conclude(&mut self) -> Result<(), ChangesError> {
        self.recorder
            .take()
            .map_or(Ok(()), |recorder| recorder.conclude())
    }
}

fn begun(meta: &Meta, session: &Path, kind: SetKind) -> Result<Recorder, ChangesError> {
    let root = meta.root();
    let tree = RootedDir::open_same(&root, meta.identity)?;
    let opened = PrivateDir::open(session, &[]).map_err(ChangesError::io("opening", session))?;
    let meta = Meta::new(kind, root, meta.level, meta.limits);
    let set = make(&opened, &tree, meta)?;
    // Its lock is let go once the recorder has its own.
    Recorder::open(set.dir())
}

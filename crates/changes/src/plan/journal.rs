//! The journal of a commit, an undo or a redo. The plan is written and synced before it is applied.
//! The inverse plan is written at the end, into space that was reserved before.

use crate::error::ChangesError;
use crate::files::codec::Wire;
use crate::plan::ApplyPlan;
use crate::plan::steps::{Precautions, Step, Steps};
use agent_bash_os::PrivateDir;
use rustix::fs::{FallocateFlags, fallocate, fsync};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

/// The file name in the change set's directory.
pub(crate) const FILE_NAME: &str = "journal";
/// The file name until the journal is synced.
const DRAFT_NAME: &str = ".journal.new";
const MAGIC: &[u8; 8] = b"changes1";
/// Magic, status, and offset of the inverse plan.
const HEADER_BYTES: u64 = 8 + 1 + 8;

/// The progress of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// The plan is being applied.
    Applying,
    /// The plan was applied.
    Done,
    /// The plan failed and is being rolled back.
    RollingBack,
    /// The plan was rolled back.
    RolledBack,
}

impl Status {
    const fn byte(self) -> u8 {
        match self {
            Self::Applying => b'a',
            Self::Done => b'd',
            Self::RollingBack => b'b',
            Self::RolledBack => b'r',
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        [
            Self::Applying,
            Self::Done,
            Self::RollingBack,
            Self::RolledBack,
        ]
        .into_iter()
        .find(|status| status.byte() == byte)
    }
}

/// A journal on disk.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    pub(crate) status: Status,
    pub(crate) plan: ApplyPlan,
    /// The inverse plan, once the plan is applied.
    pub(crate) inverse: Option<ApplyPlan>,
    inverse_offset: u64,
}

impl Journal {
    /// Writes the journal. Afterwards every process that opens the store finds it.
    pub(crate) fn begin(
        dir: &PrivateDir,
        plan: ApplyPlan,
        steps: &dyn Steps,
        precautions: Precautions,
    ) -> Result<Self, ChangesError> {
        let path = dir.path().join(FILE_NAME);
        let written = (|| -> io::Result<(File, u64)> {
            let mut body = Vec::new();
            plan.put(&mut body);
            let inverse_offset = HEADER_BYTES + body.len() as u64;
            let mut bytes = MAGIC.to_vec();
            bytes.push(Status::Applying.byte());
            inverse_offset.put(&mut bytes);
            bytes.append(&mut body);
            dir.remove(DRAFT_NAME)?;
            let file = dir.open_or_create(DRAFT_NAME)?;
            // The inverse plan has as many operations, and may name each path once more.
            reserve(&file, bytes.len() as u64 * 3 + 1024)?;
            (&file).write_all(&bytes)?;
            steps.at(Step::Drafted)?;
            if precautions.synced {
                fsync(&file)?;
            }
            steps.at(Step::Synced)?;
            dir.rename(DRAFT_NAME, FILE_NAME)?;
            if precautions.synced {
                fsync(dir.as_fd())?;
            }
            Ok((file, inverse_offset))
        })();
        match written {
            Ok((file, inverse_offset)) => Ok(Self {
                file,
                status: Status::Applying,
                plan,
                inverse: None,
                inverse_offset,
            }),
            Err(error) => {
                // The first error is reported.
                let _ = dir.remove(DRAFT_NAME);
                Err(ChangesError::io("writing", path)(error))
            }
        }
    }

    /// Reads the journal of a change set; `None` if it does not exist.
    pub(crate) fn read(dir: &PrivateDir) -> Result<Option<Self>, ChangesError> {
        let path = || dir.path().join(FILE_NAME);
        match dir.metadata(FILE_NAME) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ChangesError::io("opening", path())(error)),
            Ok(_) => {}
        }
        let mut file = dir
            .open_or_create(FILE_NAME)
            .map_err(ChangesError::io("opening", path()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(ChangesError::io("reading", path()))?;
        let damaged = |why| ChangesError::Damaged { path: path(), why };
        let (status, inverse_offset, plan, inverse) =
            parse(&bytes).ok_or_else(|| damaged("it is cut off, or not a journal"))?;
        Ok(Some(Self {
            file,
            status,
            plan,
            inverse,
            inverse_offset,
        }))
    }

    /// Records that the plan was applied, and stores its inverse.
    pub(crate) fn record_done(&mut self, inverse: ApplyPlan, steps: &dyn Steps) -> io::Result<()> {
        self.write_inverse(inverse)?;
        fsync(&self.file)?;
        steps.at(Step::Recorded)?;
        self.write_status(Status::Done)
    }

    /// Records a plan that a call applied before the journal was written, and stores its inverse.
    /// Does not sync, because the tree is not synced either.
    pub(crate) fn record_applied(&mut self, inverse: ApplyPlan) -> io::Result<()> {
        self.write_inverse(inverse)?;
        let done = [Status::Done.byte()];
        self.file.write_all_at(&done, MAGIC.len() as u64)?;
        self.status = Status::Done;
        Ok(())
    }

    /// Records that the plan was rolled back. `inverse` is the plan with the files as they are now;
    /// its skipped paths are those that another process changed.
    pub(crate) fn record_rolled_back(&mut self, inverse: ApplyPlan) -> io::Result<()> {
        self.write_inverse(inverse)?;
        self.write_status(Status::RolledBack)
    }

    fn write_inverse(&mut self, inverse: ApplyPlan) -> io::Result<()> {
        let mut body = Vec::new();
        inverse.put(&mut body);
        self.file.write_all_at(&body, self.inverse_offset)?;
        self.inverse = Some(inverse);
        Ok(())
    }

    /// Writes and syncs the status.
    pub(crate) fn write_status(&mut self, status: Status) -> io::Result<()> {
        self.file
            .write_all_at(&[status.byte()], MAGIC.len() as u64)?;
        fsync(&self.file)?;
        self.status = status;
        Ok(())
    }
}

/// Decodes status, offset of the inverse plan, plan, and inverse plan.
fn parse(bytes: &[u8]) -> Option<(Status, u64, ApplyPlan, Option<ApplyPlan>)> {
    let rest = &mut bytes.strip_prefix(MAGIC)?;
    let status = Status::from_byte(u8::get(rest)?)?;
    let inverse_offset = u64::get(rest)?;
    let plan = ApplyPlan::get(rest)?;
    let inverse = match status {
        Status::Done | Status::RolledBack => {
            let at = usize::try_from(inverse_offset).ok()?;
            Some(ApplyPlan::get(&mut bytes.get(at..)?)?)
        }
        _ => None,
    };
    Some((status, inverse_offset, plan, inverse))
}

fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        // Some file systems cannot reserve space. A full disk is then detected by the write.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

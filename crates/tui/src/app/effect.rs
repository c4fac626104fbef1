//! The actions that the interface asks the event loop for.

use crate::change_work::ChangeWork;
use crate::pager_source::{PatternSearch, SharedText};
use crate::transcript::EntryId;
use agent_bash::core::changes::ChangesId;
use agent_bash::core::{ArtifactId, JobId, Request};
use agent_bash::sink::LiveUpdates;
use std::path::PathBuf;

/// An action to be carried out by the event loop.
#[derive(Debug)]
pub(crate) enum Effect {
    Call {
        entry: EntryId,
        request: Box<Request>,
        live: LiveUpdates,
        /// True if the call may change functions, aliases or options of its shell.
        defines: bool,
    },
    Bang {
        entry: EntryId,
        command: String,
        excluded: bool,
        live: LiveUpdates,
    },
    CancelCall,
    /// Cancels the running call, so that the queue runs its command again. `gently`: interrupts the
    /// call first, so that the next call starts with the state of the same shell.
    ReplaceCall {
        gently: bool,
    },
    CancelBang,
    /// Interrupts the call's programs, so that its shell survives. Cancels the call if that takes
    /// too long.
    InterruptCall,
    InterruptBang,
    ListJobs,
    KillJob(JobId),
    /// Opens a full output in the pager.
    OpenOutput {
        artifact: ArtifactId,
        command: String,
    },
    /// Opens a file in the pager.
    OpenFile {
        path: PathBuf,
        title: String,
        command: String,
    },
    /// Loads a page of a full output for a card.
    CardPage {
        entry: EntryId,
        artifact: ArtifactId,
        from: u64,
    },
    FindPattern {
        text: SharedText,
        search: PatternSearch,
    },
    /// Puts a text into the clipboard of the host's terminal.
    Copy(String),
    /// Acts on a card's change set, or looks at it.
    Changes {
        entry: EntryId,
        id: ChangesId,
        work: ChangeWork,
    },
    /// Finds the change sets of background processes, by the change sets of the commands that
    /// started them.
    FindBackgroundChanges(Vec<(EntryId, ChangesId)>),
    /// Finds out whether these trials still await a decision.
    ReadUndecided(Vec<(EntryId, ChangesId)>),
    /// Reads trials of earlier runs, which become cards.
    ReadHeldTrials(Vec<ChangesId>),
    /// Stores a typed command in the history. The command has started, or will never start and has
    /// no card.
    StoreTyped {
        entry: Option<EntryId>,
        command: String,
    },
    /// Opens the search of the history.
    OpenSearch,
    /// Finds completions of the text in front of the cursor.
    Complete {
        before: String,
    },
    /// Finds out whether this path is a program.
    LookUp(String),
    /// Opens the user's editor on the prompt's text.
    Edit(String),
    Suspend,
    /// Leaves the interface.
    Quit {
        ends_jobs: bool,
    },
}

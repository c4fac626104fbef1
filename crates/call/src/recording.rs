//! Recording what one call changes: begun before its script is handed over, ended when its processes have.

use agent_bash_core::RunSpec;
use agent_bash_core::changes::Traced;
use agent_bash_process::supervisor::Supervised;

/// Whether that was begun, or why not; nothing if nothing was to be recorded.
#[derive(Debug)]
pub struct Recording(Option<Result<(), Traced>>);

impl Recording {
    /// Begins in a new shell, if the spec asks for it. `unwatched`: why nobody watches it, if so.
    pub fn begin(spec: &RunSpec, supervised: &Supervised, unwatched: Option<&String>) -> Self {
        Self(spec.trace.as_ref().map(|set| {
            match unwatched {
                Some(reason) => Err(Traced::unwatched(reason)),
                None => supervised
                    .record(set)
                    .map_err(|error| Traced::incomplete(error.to_string())),
            }
        }))
    }

    /// The same in a shell that has run something before.
    pub async fn begin_again(
        spec: &RunSpec,
        supervised: &mut Supervised,
        unwatched: Option<&String>,
    ) -> Self {
        match (&spec.trace, unwatched) {
            (Some(set), None) => {
                let begun = supervised.record_at_once(set).await;
                Self(Some(
                    begun.map_err(|error| Traced::incomplete(error.to_string())),
                ))
            }
            _ => Self::begin(spec, supervised, unwatched),
        }
    }

    /// Ends it, once. How complete the record is; `None` if there is none.
    pub async fn end(&mut self, supervised: &mut Supervised) -> Option<Traced> {
        Some(match self.0.take()? {
            Ok(()) => supervised.stop_recording().await,
            Err(traced) => traced,
        })
    }
}

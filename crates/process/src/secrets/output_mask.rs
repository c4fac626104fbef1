//! [`SecretMask`]: masks the host's secrets in output while it arrives: the values of secret
//! variables, and texts with the form of a secret.
//!
//! In contrast to [`Masks`](super::Masks), the names and words around a text are not considered: a
//! model must read everything else as it was printed.

mod forms;
mod found;
mod key_block;
mod known;
mod prefixes;
mod stream;

use super::SecretFilter;
use agent_bash_core::{MaskStream, OutputMask};
use forms::FormMatcher;
use known::KnownValues;
use std::ffi::OsStr;
use std::sync::Arc;
use stream::{SecretFinder, SecretMaskStream};

/// Masks secrets in output. Clones share the matcher.
#[derive(Debug, Clone)]
pub struct SecretMask {
    finder: Arc<SecretFinder>,
}

impl SecretMask {
    /// Creates a mask for the variables of `environment` that `filter` classifies as secrets, and
    /// with `forms` also for texts with the form of a secret.
    pub fn new<'a>(
        environment: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
        filter: &SecretFilter,
        forms: bool,
    ) -> Self {
        let variables = environment.into_iter();
        let secrets = variables.filter(|(name, value)| filter.is_secret(name, value));
        Self {
            finder: Arc::new(SecretFinder {
                known: KnownValues::new(secrets),
                forms: forms.then(FormMatcher::new).flatten(),
            }),
        }
    }
}

impl OutputMask for SecretMask {
    fn stream(&self) -> Box<dyn MaskStream> {
        Box::new(SecretMaskStream::new(Arc::clone(&self.finder)))
    }
}

#[cfg(test)]
#[path = "output_mask/output_mask_tests.rs"]
mod tests;

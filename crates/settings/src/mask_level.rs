//! The setting for masking secrets in output, and the mask for that setting.

use agent_bash_core::OutputMask;
use agent_bash_process::environment::{SecretFilter, SecretMask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

/// The secrets that are masked in output.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum MaskLevel {
    /// No secrets.
    #[default]
    Off,
    /// The values of the host's secret variables.
    Known,
    /// These values, and texts with the form of a secret, such as a token of GitHub.
    Forms,
}

impl MaskLevel {
    /// Returns the mask of a host with these variables; `None` if nothing is masked.
    pub fn mask(
        self,
        variables: &BTreeMap<OsString, OsString>,
        secrets: Option<&SecretFilter>,
    ) -> Option<Arc<dyn OutputMask>> {
        if self == Self::Off {
            return None;
        }
        let default = SecretFilter::default();
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let filter = secrets.unwrap_or(&default);
        let mask = SecretMask::new(variables, filter, self == Self::Forms);
        Some(Arc::new(mask))
    }
}

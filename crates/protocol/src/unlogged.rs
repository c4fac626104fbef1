//! Values that appear in no log: environments, secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value that `Debug` prints as `…`. It is serialised like the value itself.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Unlogged<T>(pub T);

impl<T> fmt::Debug for Unlogged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

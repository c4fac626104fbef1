//! Values that appear in no log: environments, secrets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value whose `Debug` says nothing of it. On the wire it is the value.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Unlogged<T>(pub T);

impl<T> fmt::Debug for Unlogged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

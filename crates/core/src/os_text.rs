//! Arguments, environments and paths in messages: strings, which are shorter than serde's arrays of
//! bytes, and are read and written faster. A text that is not UTF-8 is an array of bytes.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A text to be written.
struct Written<'t>(&'t OsStr);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_seq(self.0.as_bytes()),
        }
    }
}

/// A text that was read.
struct Read(OsString);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor)
    }
}

struct ReadVisitor;

impl<'de> Visitor<'de> for ReadVisitor {
    type Value = Read;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string or an array of bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Read, E> {
        Ok(Read(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Read, E> {
        Ok(Read(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Read, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        Ok(Read(OsString::from_vec(bytes)))
    }
}

/// Arguments.
pub mod list {
    use super::{Deserialize, Deserializer, OsString, Read, Serializer, Written};

    /// Writes the texts.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(list: &[OsString], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(|text| Written(text)))
    }

    /// Reads the texts.
    ///
    /// # Errors
    /// The deserializer failed, or the value has another type.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<OsString>, D::Error> {
        let list = Vec::<Read>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|Read(text)| text).collect())
    }
}

/// Paths.
pub mod paths {
    use super::{Deserialize, Deserializer, PathBuf, Read, Serializer, Written};

    /// Writes the paths.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Written(path.as_os_str())))
    }

    /// Reads the paths.
    ///
    /// # Errors
    /// The deserializer failed, or the value has another type.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<Read>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(|Read(path)| path.into()).collect())
    }
}

/// Changes to an environment.
pub mod changes {
    use super::{Deserialize, Deserializer, OsString, Read, Serializer, Written};

    type Change = (OsString, Option<OsString>);

    /// Writes the changes.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(changes: &[Change], serializer: S) -> Result<S::Ok, S::Error> {
        let changes = changes.iter();
        serializer.collect_seq(
            changes.map(|(name, value)| (Written(name), value.as_deref().map(Written))),
        )
    }

    /// Reads the changes.
    ///
    /// # Errors
    /// The deserializer failed, or the value has another type.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Change>, D::Error> {
        let changes = Vec::<(Read, Option<Read>)>::deserialize(deserializer)?;
        let change = |(Read(name), value): (Read, Option<Read>)| (name, value.map(|Read(it)| it));
        Ok(changes.into_iter().map(change).collect())
    }
}

/// Variables and their values.
pub mod variables {
    use super::{Deserialize, Deserializer, OsString, Read, Serializer, Written};

    type Variable = (OsString, OsString);

    /// Writes the variables.
    ///
    /// # Errors
    /// The serializer failed.
    pub fn serialize<S: Serializer>(
        variables: &[Variable],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let variables = variables.iter();
        serializer.collect_seq(variables.map(|(name, value)| (Written(name), Written(value))))
    }

    /// Reads the variables.
    ///
    /// # Errors
    /// The deserializer failed, or the value has another type.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Variable>, D::Error> {
        let variables = Vec::<(Read, Read)>::deserialize(deserializer)?;
        let variable = |(Read(name), Read(value)): (Read, Read)| (name, value);
        Ok(variables.into_iter().map(variable).collect())
    }
}

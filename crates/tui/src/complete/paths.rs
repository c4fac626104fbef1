//! Paths: the files of a directory that begin as what is written.

use super::candidate::{Begun, Candidate, MOST};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Most files of a directory that are looked at.
const MOST_FILES: usize = 200_000;

/// What is looked for.
pub(super) struct Look<'a> {
    pub(super) written: Begun<'a>,
    pub(super) directory: &'a Path,
    /// What a `~` in front stands for.
    pub(super) home: Option<&'a Path>,
    pub(super) directories_only: bool,
    /// Directories, and files that can be run.
    pub(super) executables_only: bool,
}

impl Look<'_> {
    /// The candidates, and whether there are more.
    pub(super) fn candidates(&self) -> (Vec<Candidate>, bool) {
        let Begun { written, folds } = self.written;
        if self.home.is_some() && written == "~" {
            let home = Candidate {
                word: "~/".to_owned(),
                label: "~/".to_owned(),
                goes_on: true,
            };
            return (vec![home], false);
        }
        let (above, written) = match written.rfind('/') {
            Some(at) => written.split_at(at + 1),
            None => ("", written),
        };
        let begun = Begun { written, folds };
        let Ok(entries) = fs::read_dir(self.within(above)) else {
            return (Vec::new(), false);
        };
        let (mut found, mut looked_at) = (Vec::new(), 0);
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MOST_FILES || found.len() > MOST {
                return (found, true);
            }
            // What is no text cannot be typed.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_hidden = name.starts_with('.') && !written.starts_with('.');
            if is_hidden || !begun.fits(&name) {
                continue;
            }
            // Only links and what may be run are looked at closer.
            let kind = entry.file_type().ok();
            let is_link = kind.is_some_and(|kind| kind.is_symlink());
            let closer = (is_link || self.executables_only)
                .then(|| fs::metadata(entry.path()).ok())
                .flatten();
            let is_directory = match &closer {
                Some(metadata) => metadata.is_dir(),
                None => kind.is_some_and(|kind| kind.is_dir()),
            };
            let runs = closer.is_some_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
            if !is_directory && (self.directories_only || self.executables_only && !runs) {
                continue;
            }
            let slash = if is_directory { "/" } else { "" };
            found.push(Candidate {
                word: format!("{above}{name}{slash}"),
                label: format!("{name}{slash}"),
                goes_on: is_directory,
            });
        }
        (found, false)
    }

    /// The directory that `above` leads to.
    fn within(&self, above: &str) -> PathBuf {
        match (self.home, above.strip_prefix("~/")) {
            (Some(home), Some(rest)) => home.join(rest),
            _ => self.directory.join(above),
        }
    }
}

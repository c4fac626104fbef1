//! Paths: the files of a directory whose names begin with the typed text.

use super::candidate::{Candidate, MAX_CANDIDATES, NamePrefix};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Limit of files read per directory.
const MAX_FILES: usize = 200_000;

pub(super) struct PathSearch<'a> {
    pub(super) written: NamePrefix<'a>,
    pub(super) directory: &'a Path,
    /// The expansion of a leading `~`.
    pub(super) home: Option<&'a Path>,
    pub(super) directories_only: bool,
    /// True if only directories and executable files are candidates.
    pub(super) executables_only: bool,
}

impl PathSearch<'_> {
    /// Returns the candidates, and true if there are more.
    pub(super) fn candidates(&self) -> (Vec<Candidate>, bool) {
        let NamePrefix {
            written,
            ignores_case,
        } = self.written;
        if self.home.is_some() && written == "~" {
            let home = Candidate {
                word: "~/".to_owned(),
                label: "~/".to_owned(),
                continues: true,
            };
            return (vec![home], false);
        }
        let (above, written) = match written.rfind('/') {
            Some(at) => written.split_at(at + 1),
            None => ("", written),
        };
        let prefix = NamePrefix {
            written,
            ignores_case,
        };
        let Ok(entries) = fs::read_dir(self.searched_directory(above)) else {
            return (Vec::new(), false);
        };
        let (mut found, mut file_count) = (Vec::new(), 0);
        for entry in entries.flatten() {
            file_count += 1;
            if file_count > MAX_FILES || found.len() > MAX_CANDIDATES {
                return (found, true);
            }
            // A name that is not UTF-8 cannot be typed.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let is_hidden = name.starts_with('.') && !written.starts_with('.');
            if is_hidden || !prefix.fits(&name) {
                continue;
            }
            // Only links and possible programs need a `stat`.
            let kind = entry.file_type().ok();
            let is_link = kind.is_some_and(|kind| kind.is_symlink());
            let target = (is_link || self.executables_only)
                .then(|| fs::metadata(entry.path()).ok())
                .flatten();
            let is_directory = match &target {
                Some(metadata) => metadata.is_dir(),
                None => kind.is_some_and(|kind| kind.is_dir()),
            };
            let is_executable =
                target.is_some_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
            if !is_directory && (self.directories_only || self.executables_only && !is_executable) {
                continue;
            }
            let slash = if is_directory { "/" } else { "" };
            found.push(Candidate {
                word: format!("{above}{name}{slash}"),
                label: format!("{name}{slash}"),
                continues: is_directory,
            });
        }
        (found, false)
    }

    /// The directory to read for a path that begins with `above`.
    fn searched_directory(&self, above: &str) -> PathBuf {
        match (self.home, above.strip_prefix("~/")) {
            (Some(home), Some(rest)) => home.join(rest),
            _ => self.directory.join(above),
        }
    }
}

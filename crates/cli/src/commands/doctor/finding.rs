//! The result of one check of `doctor`.

/// The result of one check.
pub(super) struct Finding {
    pub(super) grade: FindingGrade,
    /// The checked thing: `settings`, `sandbox`.
    pub(super) subject: &'static str,
    pub(super) detail: String,
}

impl Finding {
    pub(super) fn new(
        grade: FindingGrade,
        subject: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            grade,
            subject,
            detail: detail.into(),
        }
    }
}

/// The grade of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingGrade {
    /// Works as it should.
    Works,
    /// Works, but probably not as the user expects.
    Note,
    /// Does not work.
    Problem,
}

impl FindingGrade {
    /// Returns [`Self::Works`] or [`Self::Problem`].
    pub(super) fn of(works: bool) -> Self {
        if works { Self::Works } else { Self::Problem }
    }

    /// The printed form.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Works => "ok",
            Self::Note => "note",
            Self::Problem => "PROBLEM",
        }
    }
}

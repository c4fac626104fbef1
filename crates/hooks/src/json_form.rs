//! The forms of JSON that agents accept in their settings files.

/// Extensions of standard JSON that an agent accepts in a settings file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonForm {
    pub(crate) comments: bool,
    /// A comma after the last item.
    pub(crate) trailing_commas: bool,
    /// Text that the agent itself inserts after the opening bracket of a file, once it starts.
    pub(crate) inserted_at_start: Option<&'static str>,
}

/// Standard JSON.
pub(crate) const STRICT: JsonForm = JsonForm {
    comments: false,
    trailing_commas: false,
    inserted_at_start: None,
};

/// JSON with comments.
pub(crate) const COMMENTS: JsonForm = JsonForm {
    comments: true,
    trailing_commas: false,
    inserted_at_start: None,
};

/// JSON with comments and trailing commas.
pub(crate) const LENIENT: JsonForm = JsonForm {
    comments: true,
    trailing_commas: true,
    inserted_at_start: None,
};

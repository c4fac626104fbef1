//! The programs that need a terminal: a table of data (`programs.conf`).

use crate::syntax::table::Table;

/// The way a program uses the terminal. `programs.conf` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalUse {
    Screen,
    Lines,
    Answer,
    Text,
    Terminal,
}

/// A form in which programs need a terminal. `programs.conf` explains the fields.
#[derive(Debug)]
pub(super) struct ProgramForm {
    pub(super) verbs: Vec<&'static str>,
    pub(super) with: Vec<&'static str>,
    pub(super) without: Vec<&'static str>,
    pub(super) valued: &'static str,
    pub(super) operands: usize,
    pub(super) wants: TerminalUse,
}

/// The head of the file explains its format.
pub(super) static PROGRAM_FORMS: Table<ProgramForm> = crate::syntax::table!(
    include_str!("programs.conf"),
    "",
    ProgramForm,
    ProgramForm::from_row
);

impl ProgramForm {
    pub(super) fn from_row(row: &'static str) -> Self {
        let mut form = Self {
            verbs: Vec::new(),
            with: Vec::new(),
            without: Vec::new(),
            valued: "",
            operands: usize::MAX,
            wants: TerminalUse::Screen,
        };
        for field in row.split(" ; ").skip(1) {
            let (key, value) = field.split_once(' ').unwrap_or_default();
            let words = || -> Vec<&'static str> { value.split(' ').collect() };
            match key {
                "verbs" => form.verbs = words(),
                "with" => form.with = words(),
                "without" => form.without = words(),
                "valued" => form.valued = value,
                "operands" => form.operands = value.parse().unwrap_or(usize::MAX),
                _ => {
                    form.wants = match value {
                        "lines" => TerminalUse::Lines,
                        "answer" => TerminalUse::Answer,
                        "text" => TerminalUse::Text,
                        _ => TerminalUse::Terminal,
                    }
                }
            }
        }
        form
    }
}

//! The stages of a call, one file per stage. [`crate::pipeline`] defines their order. The stages do
//! not depend on each other.

pub(crate) mod approve;
pub(crate) mod artifact;
pub(crate) mod askpass;
pub(crate) mod audit;
pub(crate) mod background;
pub(crate) mod changes;
pub(crate) mod exception;
pub(crate) mod holders;
pub(crate) mod intercept;
pub(crate) mod journal;
pub(crate) mod last_pipeline;
pub(crate) mod limits;
pub(crate) mod normalise;
pub(crate) mod offer;
pub(crate) mod parse_input;
pub(crate) mod parsed_script;
pub(crate) mod policy;
pub(crate) mod remote;
pub(crate) mod run;
pub(crate) mod safe_mode;
pub(crate) mod safety;
pub(crate) mod sandbox;
pub(crate) mod shape;
pub(crate) mod terminal;
pub(crate) mod timeout;
pub(crate) mod working_directory;

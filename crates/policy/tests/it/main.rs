//! The policy by its public interface: corpora, generated scripts, real bash and git as oracles.

mod corpora;
mod corpus;
mod differential;
mod limits;
mod multibyte;
mod normalise;
mod paths;
mod predefined;
mod properties;
mod rules;
mod safe_mode_listed;
mod zsh;

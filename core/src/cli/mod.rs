//! The command.
pub mod project;

//! An agent engine that gives a language model tools without giving it the house.

pub mod agent;
pub mod approval;
#[cfg(feature = "cli")]
pub mod cli;
pub mod context;
pub mod env;
pub mod error;
pub mod guard;
pub mod hooks;
pub mod limits;
pub mod message;
pub mod prompt;
pub mod provider;
pub mod run;
pub mod schema;
pub mod screening;
pub mod skills;
pub mod tool;

pub use agent::{Agent, AgentResponse};
pub use error::{Error, ErrorKind};

//! An agent engine that gives a language model tools without giving it the house.
//!
//! Build an [`Agent`] with a provider and tools, send it a message, read the answer:
//!
//! ```
//! use cheliped::Agent;
//! use cheliped::provider::ScriptedProvider;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let agent = Agent::builder().provider(ScriptedProvider::new().reply("Hello.")).build()?;
//! assert_eq!(agent.send("Hi").await?.text, "Hello.");
//! # Ok::<(), cheliped::Error>(()) }).unwrap();
//! ```
//!
//! How it is built inside is told in [`docs::architecture`].

pub mod agent;
pub mod approval;
#[cfg(feature = "cli")]
pub mod cli;
pub mod context;
pub mod env;
pub mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod guard;
pub mod hooks;
#[cfg(feature = "host")]
pub mod host;
pub mod limits;
pub mod message;
pub mod prompt;
pub mod provider;
pub mod run;
pub mod sandbox;
pub mod schema;
pub mod screening;
pub mod skills;
pub mod tool;

pub use agent::{Agent, AgentResponse};
pub use error::{Error, ErrorKind};

/// How the engine is built, and how to use it.
pub mod docs {
    #[doc = include_str!("docs/architecture.md")]
    pub mod architecture {}
    #[doc = include_str!("docs/guide/guards.md")]
    pub mod guards {}
}

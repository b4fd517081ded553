//! An agent engine that gives a language model tools without giving it the house.

pub mod env;
pub mod error;
pub mod limits;
pub mod message;
pub mod provider;
pub mod schema;
pub mod tool;

pub use error::{Error, ErrorKind};

//! Tools.

mod profile;
mod select;

pub use select::Routing;

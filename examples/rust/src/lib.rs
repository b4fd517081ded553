//! What the example programs share: two read-only tools, and the project that they look at.
//!
//! Each file in `examples/` is a whole program: `cargo run -p cheliped-examples --example quickstart`. None of them
//! needs a key or a network.

pub use cheliped::cli::project::{ProjectRoot, tools as project_tools};

use std::path::Path;

/// The folder of the sample project, a made-up tea shop.
pub fn sample_project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../sample"))
}

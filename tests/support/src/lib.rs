//! What the tests of cheliped share: a loopback HTTP server whose every byte is scripted.
//!
//! [`Server`] answers on 127.0.0.1 with what a test tells it, keeps what it was asked, and counts the connections
//! that are still open. It writes HTTP/1.1 by hand, because tests decide where each write ends, where the
//! connection breaks and when the server falls silent; an HTTP library would not let them.

mod answer;
pub mod model;
mod request;
mod server;

pub use answer::{Answer, Cut, Ending};
pub use request::Request;
pub use server::Server;

//! The threads on which runs work: one pool for the process, made for the first run.
//!
//! It belongs to no JavaScript environment and holds nothing of one.

use std::io;
use std::sync::{Mutex, OnceLock, PoisonError};
use tokio::runtime::{Builder, Runtime};

static RUNTIME: OnceLock<Runtime> = OnceLock::new();
static MAKING: Mutex<()> = Mutex::new(());

/// The pool.
///
/// # Errors
/// The system gives no thread. The next call tries again.
pub(crate) fn runtime() -> io::Result<&'static Runtime> {
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let _one_at_a_time = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    // Runs wait far more than they work: JavaScript does the work of tools.
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let made = Builder::new_multi_thread().worker_threads(threads).thread_name("cheliped").enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}

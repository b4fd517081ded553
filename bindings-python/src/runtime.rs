//! The threads that runs go on in: one set for each process, made when the first run starts.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// Threads that drive runs. They wait for models and for Python; two keep each other from standing in line for the
/// interpreter.
const THREADS: usize = 1;
/// Time that the end of the interpreter waits for what cannot be stopped, such as a name look-up.
const END: Duration = Duration::from_millis(300);

/// The runtime, with the process that made it. Locked only by threads that are attached to the interpreter and never
/// detach meanwhile, so that a fork never copies a locked lock.
static RUNTIME: Mutex<Option<(u32, Runtime)>> = Mutex::new(None);

/// The runtime of this process.
///
/// # Errors
/// The system gives no more threads.
pub(crate) fn handle() -> PyResult<Handle> {
    let mut slot = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    let here = std::process::id();
    if let Some((process, runtime)) = slot.as_ref()
        && *process == here
    {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("cheliped")
        .enable_all()
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start the threads of cheliped: {error}")))?;
    let handle = runtime.handle().clone();
    if let Some((_, of_parent)) = slot.replace((here, runtime)) {
        // A fork has no threads of its parent; dropping would wait for them for ever.
        std::mem::forget(of_parent);
    }
    Ok(handle)
}

/// Ends the threads. Runs that go on are dropped, and with them what they started.
pub(crate) fn shutdown(py: Python<'_>) {
    let taken = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner).take();
    match taken {
        // Detached, because threads that are about to attach must be able to.
        Some((process, runtime)) if process == std::process::id() => py.detach(|| runtime.shutdown_timeout(END)),
        Some((_, of_parent)) => std::mem::forget(of_parent),
        None => {}
    }
}

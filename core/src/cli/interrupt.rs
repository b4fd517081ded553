//! Ctrl-C: stops a run, and when there is none, or for the second time, the process.

use super::failure::Exit;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// What Ctrl-C means now. Cloning shares it.
#[derive(Clone, Default)]
pub(super) struct Interrupts(Arc<Mutex<Meaning>>);

#[derive(Default)]
enum Meaning {
    /// The process ends.
    #[default]
    Leave,
    /// The run is cancelled; when it is already, the process ends.
    Cancel(CancellationToken),
    /// A line is edited; the editor gets the key itself.
    Editing,
}

/// Until it is dropped, Ctrl-C has another meaning than to leave.
pub(super) struct Held(Interrupts);

impl Interrupts {
    /// Watches for Ctrl-C on a thread of the runtime.
    ///
    /// # Errors
    /// The system does not let the process watch.
    pub(super) fn watch(runtime: &Runtime) -> io::Result<Self> {
        let interrupts = Self::default();
        let watched = interrupts.clone();
        let _guard = runtime.enter();
        #[cfg(unix)]
        let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        #[cfg(windows)]
        let mut signals = tokio::signal::windows::ctrl_c()?;
        runtime.spawn(async move {
            while signals.recv().await.is_some() {
                if watched.leaves() {
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
            }
        });
        Ok(interrupts)
    }

    /// Lets Ctrl-C cancel a run, and gives the signal for it.
    pub(super) fn cancels(&self) -> (CancellationToken, Held) {
        let token = CancellationToken::new();
        self.set(Meaning::Cancel(token.clone()));
        (token, Held(self.clone()))
    }

    /// Leaves Ctrl-C to an editor.
    pub(super) fn edits(&self) -> Held {
        self.set(Meaning::Editing);
        Held(self.clone())
    }

    fn set(&self, meaning: Meaning) -> Meaning {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), meaning)
    }

    /// Takes one Ctrl-C; tells whether the process ends.
    fn leaves(&self) -> bool {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Meaning::Leave => true,
            Meaning::Editing => false,
            Meaning::Cancel(token) => {
                let again = token.is_cancelled();
                token.cancel();
                again
            }
        }
    }
}

impl Held {
    /// Gives Ctrl-C its first meaning back, and tells whether a run was to be cancelled meanwhile: one that came too
    /// late for the run is not lost.
    pub(super) fn release(self) -> bool {
        match self.0.set(Meaning::Leave) {
            Meaning::Cancel(token) => token.is_cancelled(),
            Meaning::Leave | Meaning::Editing => false,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.set(Meaning::Leave);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stops_the_run_and_the_second_the_process() {
        let interrupts = Interrupts::default();
        assert!(interrupts.leaves());
        let (token, held) = interrupts.cancels();
        assert!(!token.is_cancelled());
        assert!(!interrupts.leaves());
        assert!(token.is_cancelled());
        assert!(interrupts.leaves());
        assert!(held.release(), "it was to be cancelled");
        assert!(interrupts.leaves());
        let (_, held) = interrupts.cancels();
        assert!(!held.release());
        let _held = interrupts.edits();
        assert!(!interrupts.leaves());
    }
}

//! Runs in the background, each with the Python object that its callbacks find.

use crate::agent::Conversation;
use crate::failure::exception;
use crate::function::RUN;
use crate::runtime;
use cheliped::Error;
use cheliped::host::{self, Batch, Demand, Request, Resumption};
use pyo3::prelude::*;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A message on its way to an agent.
pub(crate) struct Message {
    request: Request,
    conversation: Option<cheliped::agent::Conversation>,
    run: Py<PyAny>,
}

impl Message {
    pub(crate) fn new(
        py: Python<'_>,
        request: &str,
        conversation: Option<&Conversation>,
        run: Py<PyAny>,
    ) -> PyResult<Self> {
        let request = host::request(request).map_err(|error| exception(py, &error))?;
        Ok(Self { request, conversation: conversation.map(|conversation| conversation.0.clone()), run })
    }
}

/// A run under way.
#[pyclass(frozen, module = "cheliped._native")]
pub(crate) struct Handle {
    signal: CancellationToken,
    demand: Demand,
}

#[pymethods]
impl Handle {
    /// Ends the run; does nothing when it is over.
    fn cancel(&self) {
        self.signal.cancel();
    }

    /// Asks for another batch of a stream.
    fn more(&self) {
        self.demand.more();
    }
}

/// Starts a future that belongs to a run, and tells Python its output. What the run held is let go before that.
fn spawn<T: Send + 'static>(
    run: Py<PyAny>,
    future: impl Future<Output = T> + Send + 'static,
    tell: impl FnOnce(Python<'_>, T) + Send + 'static,
) -> PyResult<()> {
    runtime::spawn(async move {
        let output = RUN.scope(Arc::new(run), future).await;
        // Without an interpreter there is nobody to tell.
        let _ = Python::try_attach(|py| tell(py, output));
    })
}

pub(crate) fn send(agent: cheliped::Agent, message: Message, done: Py<PyAny>) -> PyResult<Handle> {
    let Message { request, conversation, run } = message;
    let handle = Handle { signal: request.context.signal.clone(), demand: Demand::default() };
    let sending = async move { host::send(&agent, request, conversation.as_ref()).await };
    spawn(run, sending, |py, finished| finish(py, done, finished))?;
    Ok(handle)
}

pub(crate) fn resume(
    agent: cheliped::Agent,
    resumption: Resumption,
    run: Py<PyAny>,
    done: Py<PyAny>,
) -> PyResult<Handle> {
    let handle = Handle { signal: resumption.options.context.signal.clone(), demand: Demand::default() };
    let going_on = async move { host::resume(&agent, resumption).await.map(|response| (response, None)) };
    spawn(run, going_on, |py, finished| finish(py, done, finished))?;
    Ok(handle)
}

type Finished = Result<(String, Option<cheliped::agent::Conversation>), Error>;

fn finish(py: Python<'_>, done: Py<PyAny>, finished: Finished) {
    // What goes wrong in telling has nobody to hear it.
    let _ = match finished {
        Ok((response, conversation)) => done.call1(py, (response, conversation.map(Conversation), py.None())),
        Err(error) => done.call1(py, (py.None(), py.None(), exception(py, &error).into_value(py))),
    };
}

pub(crate) fn stream(agent: cheliped::Agent, message: Message, plain: bool, deliver: Py<PyAny>) -> PyResult<Handle> {
    let Message { request, conversation, run } = message;
    let handle = Handle { signal: request.context.signal.clone(), demand: Demand::default() };
    let demand = handle.demand.clone();
    let streaming = async move {
        host::stream(&agent, request, conversation.as_ref(), plain, demand, |batch| {
            // Without an interpreter there is nobody to tell.
            let _ = Python::try_attach(|py| match batch {
                Batch::Events(events) => deliver.call1(py, (events, false, py.None(), py.None())),
                Batch::Finished(events, conversation) => {
                    deliver.call1(py, (events, true, conversation.map(Conversation), py.None()))
                }
                Batch::Failed(events, error) => {
                    deliver.call1(py, (events, true, py.None(), exception(py, &error).into_value(py)))
                }
            });
        })
        .await;
    };
    spawn(run, streaming, |_, ()| {})?;
    Ok(handle)
}

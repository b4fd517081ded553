//! The one way from the engine's threads into a JavaScript environment, and back.
//!
//! There is one border for each environment (the main thread and every worker have their own). Messages go out through one
//! threadsafe function, in order; answers come back by the number of the call.

use crate::run::Conversation;
use crate::runtime::runtime;
use crate::wire::Thrown;
use cheliped::context::CancellationToken;
use cheliped::error::BoxError;
use cheliped::host::{Function, HostCall, HostFunction, Progress};
use futures::future::BoxFuture;
use napi::bindgen_prelude::{FnArgs, Function as JsFunction};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};
use napi_derive::napi;
use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What JavaScript gets: what happened, the run, the call, the function, a text, a conversation.
type Arguments = FnArgs<(&'static str, u32, u32, u32, Option<String>, Option<Conversation>)>;

/// Weak: it does not keep the process alive. Messages cannot fail there: JavaScript catches everything.
type Dispatch = ThreadsafeFunction<Message, (), Arguments, Status, false, true>;

/// What is told to JavaScript.
pub(crate) enum Message {
    /// A function is to be called.
    Call { run: u32, call: u32, function: u32, payload: String },
    /// Nobody waits for a call any more.
    Cancel { run: u32, call: u32 },
    /// Events of a stream.
    Events { run: u32, events: String },
    /// A run is over.
    Done { run: u32, outcome: String, conversation: Option<Conversation> },
}

impl Message {
    fn arguments(self) -> Arguments {
        match self {
            Self::Call { run, call, function, payload } => ("call", run, call, function, Some(payload), None),
            Self::Cancel { run, call } => ("cancel", run, call, 0, None, None),
            Self::Events { run, events } => ("events", run, 0, 0, Some(events), None),
            Self::Done { run, outcome, conversation } => ("done", run, 0, 0, Some(outcome), conversation),
        }
        .into()
    }
}

tokio::task_local! {
    /// The run that is polled, so that a function finds the environment and the run that it is called for.
    static RUN: Place;
}

/// A run and where it belongs.
#[derive(Clone)]
struct Place {
    border: Arc<Border>,
    run: u32,
}

/// A call that JavaScript works on.
struct Pending {
    answer: oneshot::Sender<Result<String, Thrown>>,
    progress: Option<Progress>,
}

/// What the threads of the engine hold of an environment.
pub(crate) struct Border {
    dispatch: Dispatch,
    pending: Mutex<HashMap<u32, Pending>>,
    calls: AtomicU32,
    /// Cancelled when the environment ends: its runs end with it.
    ended: CancellationToken,
}

impl Border {
    /// Tells JavaScript something; whether the environment is still there.
    pub(crate) fn tell(&self, message: Message) -> bool {
        self.dispatch.call(message, ThreadsafeFunctionCallMode::NonBlocking) == Status::Ok
    }

    /// Works on a run until it is over, or the environment is.
    pub(crate) fn spawn(
        self: Arc<Self>,
        run: u32,
        work: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let ended = self.ended.clone();
        let work = RUN.scope(Place { border: self, run }, work);
        runtime()?.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = work => {}
            }
        });
        Ok(())
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<u32, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    async fn ask(self, function: u32, HostCall { payload, progress }: HostCall) -> Result<String, BoxError> {
        let Self { border, run } = &self;
        let call = border.calls.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        border.pending().insert(call, Pending { answer, progress });
        let waiting = Waiting { place: &self, call };
        let told = border.tell(Message::Call { run: *run, call, function, payload });
        let gone = || BoxError::from("the JavaScript environment has ended");
        let answer = if told { answered.await.map_err(|_| gone())? } else { return Err(gone()) };
        drop(waiting);
        answer.map_err(BoxError::from)
    }
}

/// Tells JavaScript to stop when nobody waits for the answer any more.
struct Waiting<'a> {
    place: &'a Place,
    call: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Place { border, run } = self.place;
        let unanswered = border.pending().remove(&self.call).is_some();
        if unanswered {
            border.tell(Message::Cancel { run: *run, call: self.call });
        }
    }
}

/// A function of JavaScript, by its number there.
pub(crate) fn function(number: u32) -> Function {
    Arc::new(Numbered(number))
}

struct Numbered(u32);

impl HostFunction for Numbered {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<String, BoxError>> {
        let place = RUN.try_with(Place::clone);
        let function = self.0;
        Box::pin(async move { place?.ask(function, call).await })
    }
}

/// The border as its environment holds it.
#[napi]
pub struct Bridge {
    pub(crate) border: Arc<Border>,
}

#[napi]
impl Bridge {
    /// Connects an environment. `dispatch` must never throw.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, dispatch: JsFunction<'_, Arguments, ()>) -> napi::Result<Self> {
        let dispatch = dispatch
            .build_threadsafe_function::<Message>()
            .callee_handled::<false>()
            .weak::<true>()
            .build_callback(|context| Ok(context.value.arguments()))?;
        let border = Arc::new(Border {
            dispatch,
            pending: Mutex::default(),
            calls: AtomicU32::new(0),
            ended: CancellationToken::new(),
        });
        env.add_env_cleanup_hook(Arc::clone(&border), |border| {
            border.ended.cancel();
            border.pending().clear();
        })?;
        Ok(Self { border })
    }

    /// A call has its answer, as JSON text. Does nothing when nobody waits for it any more.
    #[napi(catch_unwind)]
    pub fn settle(&self, call: u32, answer: String) {
        self.answered(call, Ok(answer));
    }

    /// A call threw something, which JavaScript keeps under a number.
    #[napi(catch_unwind)]
    pub fn fail(&self, call: u32, number: u32, text: String) {
        self.answered(call, Err(Thrown { number, text }));
    }

    /// A tool tells how far it is.
    #[napi(catch_unwind)]
    pub fn progress(&self, call: u32, text: String) {
        if let Some(progress) = self.border.pending().get(&call).and_then(|pending| pending.progress.as_ref()) {
            progress.tell(text);
        }
    }

    fn answered(&self, call: u32, answer: Result<String, Thrown>) {
        let pending = self.border.pending().remove(&call);
        if let Some(pending) = pending {
            // The run may have been dropped between the two lines.
            let _ = pending.answer.send(answer);
        }
    }
}

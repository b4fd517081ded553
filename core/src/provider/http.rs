//! A model behind an HTTP API: sends what a wire format writes and gives it back what came.
//!
//! Checks the status before anything else, bounds time and size, and turns every way in which a connection can fail
//! into a typed error. What bodies mean is the wire format's business; retries are made elsewhere.

use super::client::{ClientSettings, client};
use super::sse::Splitter;
use super::wire::{Decoder, Framing, Wire, failure};
use super::{ModelReply, ModelRequest, Provider, ProviderError, ProviderErrorKind, StreamPart, retry_hint};
use crate::env::{Clock, SystemClock};
use crate::limits::MAX_REPLY_BYTES;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Response, Url};
use secrecy::{ExposeSecret, SecretString};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// Bytes of an error's body that are read.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Shorter secrets than this are not looked for in messages: they would match by chance.
const SHORTEST_SECRET: usize = 6;
/// Characters of a secret that give it away.
const SECRET_HEAD: usize = 8;
/// What stands in place of a secret.
const REDACTED: &str = "[redacted]";
/// Pieces of a stream that one poll takes at most.
const STEPS_A_POLL: usize = 64;

/// How long a call may take. `None` switches a limit off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// Until the head of the answer.
    pub(crate) first_byte: Option<Duration>,
    /// Silence between two pieces of the answer.
    pub(crate) idle: Option<Duration>,
    /// A whole call that is not streamed.
    pub(crate) call: Option<Duration>,
}

/// What an [`HttpProvider`] needs besides its wire format.
pub(crate) struct HttpSettings {
    /// Name of the provider.
    pub(crate) name: String,
    /// The model.
    pub(crate) model: String,
    /// Headers that are sent besides, or instead of, the wire format's.
    pub(crate) headers: HeaderMap,
    /// Settings of the connection.
    pub(crate) client: Arc<ClientSettings>,
    /// Time limits.
    pub(crate) timeouts: Timeouts,
    /// What must never show up in an error.
    pub(crate) secrets: Vec<SecretString>,
}

/// A provider that speaks one wire format over HTTP.
pub(crate) struct HttpProvider<W> {
    wire: W,
    settings: HttpSettings,
}

impl<W: Wire + 'static> HttpProvider<W> {
    pub(crate) fn new(wire: W, settings: HttpSettings) -> Self {
        Self { wire, settings }
    }

    async fn call(&self, request: &ModelRequest) -> Result<ModelReply, ProviderError> {
        let answer = self.open(request, false).await?;
        let reply = self.read_whole(answer).await?;
        Ok(self.wire.settle(request, reply))
    }

    /// Reads and decodes an answer that is taken as one piece.
    async fn read_whole(&self, answer: Response) -> Result<ModelReply, ProviderError> {
        let status = answer.status().as_u16();
        let events = content_type(&answer).starts_with("text/event-stream");
        let body = self.read_body(answer).await?;
        // Some servers stream whether asked to or not.
        let reply = if events { self.decode_events(body) } else { self.wire.decode(&body) };
        reply.map_err(|mut error| {
            error.status = error.status.or(Some(status));
            error
        })
    }

    fn decode_events(&self, body: Bytes) -> Result<ModelReply, ProviderError> {
        let mut splitter = Splitter::new(Framing::Sse, MAX_REPLY_BYTES);
        let mut decoder = self.wire.decoder();
        let mut parts = Vec::new();
        splitter.push(body);
        while let Some(event) = splitter.next().map_err(too_long)? {
            if !event.data.is_empty() {
                decoder.event(event.name, event.data, &mut parts)?;
            }
        }
        if let Some(event) = splitter.finish().map_err(too_long)?
            && !event.data.is_empty()
        {
            decoder.event(event.name, event.data, &mut parts)?;
        }
        decoder.finish()
    }

    /// Sends the request and waits for the head of a 2xx answer.
    async fn open(&self, request: &ModelRequest, stream: bool) -> Result<Response, ProviderError> {
        let body = self.wire.encode(request, stream)?;
        let address = self.wire.url(stream);
        let url = Url::parse(&address).map_err(|error| {
            ProviderError::new(ProviderErrorKind::InvalidRequest, format!("the base URL is no address: {error}"))
        })?;
        let client = client(&self.settings.client, &url)?;
        let place = place_of(&url);
        let sent = client.post(url).headers(self.headers(request, stream)?).body(body).send();
        let answer = match within(self.settings.timeouts.first_byte, sent).await {
            None => return Err(timed_out(format!("no answer from {place}"), self.settings.timeouts.first_byte)),
            Some(Err(error)) => return Err(connection_error(error, &place)),
            Some(Ok(answer)) => answer,
        };
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(self.refused(answer).await)
    }

    fn headers(&self, request: &ModelRequest, stream: bool) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = match (stream, self.wire.framing()) {
            (true, Framing::Sse) => "text/event-stream, application/json",
            (true, Framing::Lines) => "application/x-ndjson, application/json",
            (false, _) => "application/json",
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in self.wire.headers(request) {
            // The value is a secret, so only the name is told.
            let bad = || ProviderError::new(ProviderErrorKind::InvalidRequest, format!("header {name} cannot be sent"));
            let mut value = HeaderValue::try_from(value).map_err(|_| bad())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
        }
        headers.extend(self.settings.headers.clone());
        Ok(headers)
    }

    /// The error of an answer that is no 2xx.
    async fn refused(&self, answer: Response) -> ProviderError {
        let status = answer.status().as_u16();
        if (300..400).contains(&status) {
            let target = answer.headers().get(LOCATION).and_then(|target| target.to_str().ok());
            let target = target.and_then(|target| answer.url().join(target).ok()).map(|url| place_of(&url));
            let target = target.unwrap_or_else(|| "an unknown place".to_owned());
            let message = format!("the server redirects to {target}, which is not followed; set that as the base URL");
            return ProviderError::new(ProviderErrorKind::InvalidRequest, message).with_status(status);
        }
        let retry_after = retry_hint::from_headers(status, answer.headers(), SystemClock.now_ms());
        let mut body = Vec::new();
        let mut pieces = answer.bytes_stream();
        // Whatever of the body came: the status must not be lost because the rest did not.
        while let Some(Some(Ok(piece))) = within(self.settings.timeouts.idle, pieces.next()).await {
            let room = MAX_ERROR_BYTES.saturating_sub(body.len());
            body.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
            if body.len() >= MAX_ERROR_BYTES {
                break;
            }
        }
        let mut error = self.wire.decode_error(status, &body, retry_after);
        error.status = error.status.or(Some(status));
        error
    }

    async fn read_body(&self, answer: Response) -> Result<Bytes, ProviderError> {
        let expected = answer.content_length().unwrap_or(0);
        let place = place_of(answer.url());
        let mut pieces = answer.bytes_stream();
        let mut body: Option<Bytes> = None;
        let mut joined = Vec::new();
        loop {
            let piece = match within(self.settings.timeouts.idle, pieces.next()).await {
                None => return Err(timed_out(format!("{place} stopped sending"), self.settings.timeouts.idle)),
                Some(Some(Err(error))) => return Err(broken(error)),
                Some(Some(Ok(piece))) => piece,
                Some(None) => break,
            };
            let length = body.as_ref().map_or(joined.len(), Bytes::len) + piece.len();
            if length > MAX_REPLY_BYTES {
                return Err(reply_too_long());
            }
            tokio::task::coop::consume_budget().await;
            // A reply in one piece, the usual case, is not copied.
            match (body.take(), joined.is_empty()) {
                (None, true) => body = Some(piece),
                (first, _) => {
                    if let Some(first) = first {
                        joined.reserve(usize::try_from(expected).unwrap_or(0).clamp(length, MAX_REPLY_BYTES));
                        joined.extend_from_slice(&first);
                    }
                    joined.extend_from_slice(&piece);
                }
            }
        }
        Ok(body.unwrap_or_else(|| joined.into()))
    }

    /// Names the model and takes secrets out that a server may have sent back.
    fn sign(&self, mut error: ProviderError) -> ProviderError {
        for secret in &self.settings.secrets {
            let secret = secret.expose_secret();
            if secret.len() < SHORTEST_SECRET {
                continue;
            }
            let texts = [Some(&mut error.message), error.code.as_mut(), error.failed_generation.as_mut()];
            texts.into_iter().flatten().for_each(|text| redact(text, secret));
        }
        error.from_model(&self.settings.name, &self.settings.model)
    }
}

impl<W: Wire + 'static> Provider for HttpProvider<W> {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn model(&self) -> &str {
        &self.settings.model
    }

    fn send<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ProviderError>> {
        Box::pin(async move {
            let limit = self.settings.timeouts.call;
            within(limit, self.call(request))
                .await
                .unwrap_or_else(|| Err(timed_out("the call did not end".to_owned(), limit)))
                .map_err(|error| self.sign(error))
        })
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> BoxStream<'a, Result<StreamPart, ProviderError>> {
        let opening = Box::pin(async move {
            let answer = self.open(request, true).await?;
            match content_type(&answer) {
                // A server without streaming, or one that reports an error this way.
                whole if whole.starts_with("application/json") && self.wire.framing() == Framing::Sse => {
                    self.open_json(answer).await
                }
                page if page.starts_with("text/html") => Ok(Opened::Whole(Box::new(self.read_whole(answer).await?))),
                _ => Ok(Opened::stream(None, answer)),
            }
        });
        Box::pin(ReplyStream {
            provider: self,
            request,
            parts: VecDeque::new(),
            given: 0,
            phase: Phase::Opening(opening),
        })
    }

    fn is_real(&self) -> bool {
        true
    }
}

impl<W: Wire + 'static> HttpProvider<W> {
    /// An answer to a streamed call that calls itself JSON: its first byte tells whether that is true.
    async fn open_json(&self, answer: Response) -> Result<Opened, ProviderError> {
        let status = answer.status().as_u16();
        let mut body = Vec::new();
        let mut is_json = false;
        let mut pieces = answer.bytes_stream();
        while let Some(piece) = within(self.settings.timeouts.idle, pieces.next())
            .await
            .ok_or_else(|| timed_out("the server stopped sending".to_owned(), self.settings.timeouts.idle))?
        {
            let piece = piece.map_err(broken)?;
            if body.len() + piece.len() > MAX_REPLY_BYTES {
                return Err(reply_too_long());
            }
            body.extend_from_slice(&piece);
            // Only the new piece is looked at, and only until the first byte that is no white space.
            if !is_json {
                match piece.trim_ascii_start().first() {
                    None => {}
                    Some(b'{' | b'[') => is_json = true,
                    Some(_) => return Ok(Opened::Stream { first: Some(body.into()), rest: pieces.boxed() }),
                }
            }
            // A server that never stops sending must not keep the caller's signal and deadline from being looked at.
            tokio::task::coop::consume_budget().await;
        }
        let reply = self.wire.decode(&body).map_err(|error| {
            let status = error.status.unwrap_or(status);
            error.with_status(status)
        })?;
        Ok(Opened::Whole(Box::new(reply)))
    }
}

type Pieces = BoxStream<'static, Result<Bytes, reqwest::Error>>;

/// A streamed call whose answer has begun.
enum Opened {
    Stream { first: Option<Bytes>, rest: Pieces },
    Whole(Box<ModelReply>),
}

impl Opened {
    fn stream(first: Option<Bytes>, answer: Response) -> Self {
        Self::Stream { first, rest: answer.bytes_stream().boxed() }
    }
}

/// A streamed reply. Dropping it at any point closes the connection.
struct ReplyStream<'a, W: Wire> {
    provider: &'a HttpProvider<W>,
    request: &'a ModelRequest,
    /// Pieces that wait for the reader.
    parts: VecDeque<StreamPart>,
    /// Bytes of text that the pieces held so far.
    given: usize,
    phase: Phase<'a, W>,
}

enum Phase<'a, W: Wire> {
    Opening(BoxFuture<'a, Result<Opened, ProviderError>>),
    Reading(Box<Reading<W>>),
    /// The error that comes after the pieces that wait.
    Failed(Box<ProviderError>),
    Done,
}

struct Reading<W: Wire> {
    pieces: Pieces,
    splitter: Splitter,
    decoder: W::Decoder,
    received: usize,
    /// Ends a wait that is too long. It is set anew only when it rings, since most waits are short.
    idle: Option<(Duration, Pin<Box<Sleep>>)>,
    /// When the present wait began.
    waiting: Option<Instant>,
    /// Scratch space of the decoder.
    found: Vec<StreamPart>,
}

/// What one look at the connection gave.
enum Step {
    More,
    End,
}

impl<W: Wire> Reading<W> {
    fn new(provider: &HttpProvider<W>, pieces: Pieces) -> Self {
        let idle = provider.settings.timeouts.idle;
        Self {
            pieces,
            splitter: Splitter::new(provider.wire.framing(), MAX_REPLY_BYTES),
            decoder: provider.wire.decoder(),
            received: 0,
            idle: idle.map(|limit| (limit, Box::pin(sleep_until(Instant::now() + limit)))),
            waiting: None,
            found: Vec::new(),
        }
    }

    /// Takes a piece of the body; `End` when the decoder has its whole reply.
    fn take(&mut self, piece: Bytes) -> Result<Step, ProviderError> {
        self.received += piece.len();
        if self.received > MAX_REPLY_BYTES {
            return Err(reply_too_long());
        }
        self.splitter.push(piece);
        while let Some(event) = self.splitter.next().map_err(too_long)? {
            if !event.data.is_empty() {
                self.decoder.event(event.name, event.data, &mut self.found)?;
            }
            if self.decoder.is_done() {
                return Ok(Step::End);
            }
        }
        Ok(Step::More)
    }

    /// The body is over: takes what has no line end.
    fn take_rest(&mut self) -> Result<Step, ProviderError> {
        if let Some(event) = self.splitter.finish().map_err(too_long)?
            && !event.data.is_empty()
        {
            self.decoder.event(event.name, event.data, &mut self.found)?;
        }
        Ok(Step::End)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, ProviderError>> {
        match self.pieces.poll_next_unpin(cx) {
            Poll::Ready(piece) => {
                self.waiting = None;
                Poll::Ready(match piece {
                    Some(Ok(piece)) => self.take(piece),
                    Some(Err(error)) => Err(broken(error)),
                    None => self.take_rest(),
                })
            }
            Poll::Pending => {
                let Some((limit, idle)) = &mut self.idle else { return Poll::Pending };
                let since = *self.waiting.get_or_insert_with(Instant::now);
                while idle.as_mut().poll(cx).is_ready() {
                    if since.elapsed() >= *limit {
                        return Poll::Ready(Err(timed_out("the stream fell silent".to_owned(), Some(*limit))));
                    }
                    idle.as_mut().reset(since + *limit);
                }
                Poll::Pending
            }
        }
    }

    /// Ends reading. A body that has been read to its end leaves its connection for the next call.
    fn finish(mut self, cx: &mut Context<'_>) -> Result<ModelReply, ProviderError> {
        let _ = self.pieces.poll_next_unpin(cx);
        self.decoder.finish()
    }
}

impl<W: Wire + 'static> ReplyStream<'_, W> {
    fn fail(&mut self, error: ProviderError) {
        self.phase = Phase::Failed(Box::new(self.provider.sign(error)));
    }

    fn advance(&mut self, step: Result<Step, ProviderError>, cx: &mut Context<'_>) {
        if let Phase::Reading(reading) = &mut self.phase {
            for part in reading.found.drain(..) {
                if let StreamPart::Text(text) = &part {
                    self.given += text.len();
                }
                self.parts.push_back(part);
            }
        }
        match step {
            Ok(Step::More) => {}
            Err(error) => self.fail(error),
            Ok(Step::End) => {
                if let Phase::Reading(reading) = std::mem::replace(&mut self.phase, Phase::Done) {
                    match reading.finish(cx) {
                        Ok(reply) => {
                            let reply = self.provider.wire.settle(self.request, reply);
                            // Text that was held back, or that only the last event told.
                            if let Some(rest) = reply.text.get(self.given..).filter(|rest| !rest.is_empty()) {
                                self.parts.push_back(StreamPart::Text(rest.to_owned()));
                            }
                            self.parts.push_back(StreamPart::Reply(Box::new(reply)));
                        }
                        Err(error) => self.fail(error),
                    }
                }
            }
        }
    }
}

// Nothing of it is ever pinned in place: what has to be is boxed.
impl<W: Wire> Unpin for ReplyStream<'_, W> {}

impl<W: Wire + 'static> Stream for ReplyStream<'_, W> {
    type Item = Result<StreamPart, ProviderError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        for _ in 0..STEPS_A_POLL {
            if let Some(part) = this.parts.pop_front() {
                return Poll::Ready(Some(Ok(part)));
            }
            match &mut this.phase {
                Phase::Opening(opening) => match opening.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(error)) => this.fail(error),
                    Poll::Ready(Ok(Opened::Whole(reply))) => {
                        this.phase = Phase::Done;
                        let reply = this.provider.wire.settle(this.request, *reply);
                        this.parts.extend(super::parts_of(Ok(reply)).into_iter().flatten());
                    }
                    Poll::Ready(Ok(Opened::Stream { first, rest })) => {
                        let mut reading = Box::new(Reading::new(this.provider, rest));
                        let step = first.map_or(Ok(Step::More), |first| reading.take(first));
                        this.phase = Phase::Reading(reading);
                        this.advance(step, cx);
                    }
                },
                Phase::Reading(reading) => match reading.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(step) => this.advance(step, cx),
                },
                Phase::Failed(_) => {
                    if let Phase::Failed(error) = std::mem::replace(&mut this.phase, Phase::Done) {
                        return Poll::Ready(Some(Err(*error)));
                    }
                }
                Phase::Done => return Poll::Ready(None),
            }
        }
        // A server that sends without end and says nothing must not keep others from being polled.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Takes a secret out of a text, also one of which only the beginning is there because the text was cut.
fn redact(text: &mut String, secret: &str) {
    let head = crate::limits::prefix(secret, SECRET_HEAD);
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(head)) {
        let start = from + found;
        let rest = text.get(start..).unwrap_or_default();
        let length: usize =
            rest.chars().zip(secret.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        text.replace_range(start..start + length, REDACTED);
        from = start + REDACTED.len();
    }
}

/// Waits at most `limit`; `None` when that was not enough.
async fn within<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => timeout(limit, future).await.ok(),
        None => Some(future.await),
    }
}

fn content_type(answer: &Response) -> &str {
    answer.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Scheme, host and port of an address: what an error may tell of it.
fn place_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

fn timed_out(what: String, limit: Option<Duration>) -> ProviderError {
    let seconds = limit.unwrap_or_default().as_secs_f64();
    ProviderError::new(ProviderErrorKind::Timeout, format!("{what} within {seconds} s"))
}

fn connection_error(error: reqwest::Error, place: &str) -> ProviderError {
    let error = error.without_url();
    let cause = innermost(&error);
    let mut problem = if error.is_timeout() {
        ProviderError::new(ProviderErrorKind::Timeout, format!("cannot connect to {place} in time: {cause}"))
    } else if error.is_connect() {
        ProviderError::new(ProviderErrorKind::Server, format!("cannot connect to {place}: {cause}"))
    } else if error.is_builder() {
        ProviderError::new(ProviderErrorKind::InvalidRequest, format!("the request to {place} cannot be made: {cause}"))
    } else {
        ProviderError::new(ProviderErrorKind::Server, format!("the connection to {place} broke: {cause}"))
    };
    // A certificate that is wrong now is wrong at the next try too.
    if cause.contains("certificate") {
        problem.retryable = false;
        problem.code = Some("certificate".to_owned());
    }
    problem.with_source(error)
}

fn broken(error: reqwest::Error) -> ProviderError {
    let error = error.without_url();
    let message = format!("the connection broke before the reply was complete: {}", innermost(&error));
    failure::unusable(None, message).with_source(error)
}

fn too_long(error: super::sse::EventTooLong) -> ProviderError {
    let mut problem = failure::unusable(None, error.to_string());
    problem.retryable = false;
    problem
}

fn reply_too_long() -> ProviderError {
    let mut problem = failure::unusable(None, format!("the reply has more than {MAX_REPLY_BYTES} bytes"));
    problem.retryable = false;
    problem
}

/// The words of the error that started it.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests;

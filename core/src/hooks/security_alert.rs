//! A hook that tells a web address when a guard has refused a message.

use super::debug_log::written;
use super::{Hook, RunEvent};
use crate::env::Variables;
use crate::error::{BoxError, Error};
use crate::provider::client::pinned;
use crate::sandbox::url::Target;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretBox};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The environment variable that names the address.
const VARIABLE: &str = "CHELIPED_SECURITY_WEBHOOK";
/// Time for a whole alert, when nothing else is said.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Alerts under way at once; what comes beside them is dropped, with a warning.
const UNDER_WAY: usize = 32;
/// Its place among the hooks.
const PRIORITY: i32 = 50;

/// Makes the body of an alert: gets the name of the event, `{"guard", "reason"}`, and the time.
pub type AlertFormat = dyn Fn(&str, &Map<String, Value>, &str) -> Value + Send + Sync;

/// Sends `{"alert", "guard", "reason", "at"}` to a web address when a guard has refused a message. What the user wrote is
/// not sent.
///
/// The address must begin with `https://`, and every address that its host has must be public; the connection goes to one
/// of those that were looked at, redirects are not followed, and no proxy is used. Otherwise nothing is sent, with a
/// warning. No run waits for an alert, and none fails for it.
///
/// Each request carries the headers of Standard Webhooks: `webhook-id`, new each time, `webhook-timestamp` in seconds, and
/// with a signing secret `webhook-signature`, `v1,` and the Base64 of the HMAC-SHA-256 of id, time and body, joined by full
/// stops. `content-digest` is the SHA-256 of the body (RFC 9530). A receiver should refuse ids that it has seen and times
/// that are minutes away.
///
/// ```
/// use cheliped::hooks::{HookSet, SecurityAlertHook};
/// let alerts = SecurityAlertHook::new("https://alerts.example.com/cheliped")?.signing_secret("whsec_c2VjcmV0IGtleQ==")?;
/// let mut hooks = HookSet::default();
/// alerts.add_to(&mut hooks);
/// assert_eq!(hooks.len(), 1);
/// # Ok::<(), cheliped::Error>(())
/// ```
#[derive(Clone)]
pub struct SecurityAlertHook {
    target: Option<Target>,
    secret: Option<Arc<SecretBox<Vec<u8>>>>,
    events: Vec<String>,
    timeout: Duration,
    format: Option<Arc<AlertFormat>>,
    network: Arc<dyn Network>,
    under_way: Arc<Semaphore>,
}

impl SecurityAlertHook {
    /// Alerts to an address.
    ///
    /// # Errors
    /// `configuration` when it is no address, or not an `https` one.
    pub fn new(url: &str) -> Result<Self, Error> {
        Ok(Self { target: Some(https(url, "the address")?), ..Self::silent() })
    }

    /// Alerts to the address in `CHELIPED_SECURITY_WEBHOOK`; without one it does nothing.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn from_env(variables: &dyn Variables) -> Result<Self, Error> {
        let target = variables.get(VARIABLE).map(|url| https(&url, VARIABLE)).transpose()?;
        Ok(Self { target, ..Self::silent() })
    }

    fn silent() -> Self {
        Self {
            target: None,
            secret: None,
            events: vec!["guard.blocked".into()],
            timeout: TIMEOUT,
            format: None,
            network: Arc::new(Internet),
            under_way: Arc::new(Semaphore::new(UNDER_WAY)),
        }
    }

    /// Signs alerts. `whsec_` before Base64 is how Standard Webhooks write a secret; any other text is taken as it is.
    ///
    /// # Errors
    /// `configuration` when the secret is empty, or no Base64 follows `whsec_`.
    pub fn signing_secret(mut self, secret: &str) -> Result<Self, Error> {
        let bytes = match secret.strip_prefix("whsec_") {
            Some(coded) => STANDARD
                .decode(coded)
                .map_err(|_| Error::configuration("the signing secret begins with whsec_, but no Base64 follows"))?,
            None => secret.as_bytes().to_vec(),
        };
        if bytes.is_empty() {
            return Err(Error::configuration("the signing secret is empty"));
        }
        self.secret = Some(Arc::new(SecretBox::new(Box::new(bytes))));
        Ok(self)
    }

    /// Sets the events that are told. Default `guard.blocked`.
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.events = events.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the time for a whole alert. Default 3 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets who makes the body.
    #[must_use]
    pub fn format(mut self, format: impl Fn(&str, &Map<String, Value>, &str) -> Value + Send + Sync + 'static) -> Self {
        self.format = Some(Arc::new(format));
        self
    }

    /// Adds it for each of its events, at priority 50.
    pub fn add_to(self, hooks: &mut super::HookSet) {
        let hook = Arc::new(self);
        for event in &hook.events {
            hooks.add(Some(event), PRIORITY, Arc::clone(&hook) as Arc<dyn Hook>);
        }
    }

    /// Waits until every alert under way is sent or given up: for the end of a process.
    pub async fn flush(&self) {
        let all = u32::try_from(UNDER_WAY).unwrap_or(u32::MAX);
        // It is never closed; then there would be nothing to wait for.
        let _ = self.under_way.acquire_many(all).await;
    }

    fn body(&self, event: &RunEvent) -> String {
        let payload = event.payload();
        let text = |key: &str| payload.get(key).and_then(Value::as_str).unwrap_or("unknown").to_owned();
        let about: Map<String, Value> =
            ["guard", "reason"].into_iter().map(|key| (key.to_owned(), text(key).into())).collect();
        let at = written(event.at_ms);
        match &self.format {
            Some(format) => format(event.name(), &about, &at).to_string(),
            None => {
                let mut body = Map::new();
                body.insert("alert".into(), "cheliped: attack blocked".into());
                body.extend(about);
                body.insert("at".into(), at.into());
                Value::Object(body).to_string()
            }
        }
    }

    fn headers(&self, id: &str, seconds: u64, body: &str) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("content-digest", format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", seconds.to_string()),
        ];
        // A key of any length is one for HMAC.
        if let Some(mut mac) =
            self.secret.as_ref().and_then(|secret| Hmac::<Sha256>::new_from_slice(secret.expose_secret()).ok())
        {
            mac.update(format!("{id}.{seconds}.{body}").as_bytes());
            headers.push(("webhook-signature", format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))));
        }
        headers
    }
}

impl Hook for SecurityAlertHook {
    fn handle<'a>(&'a self, event: &'a RunEvent) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let Some(target) = self.target.clone().filter(|_| self.events.iter().any(|name| name == event.name()))
            else {
                return Ok(());
            };
            let Ok(permit) = Arc::clone(&self.under_way).try_acquire_owned() else {
                tracing::warn!("a security alert was dropped: {UNDER_WAY} are under way");
                return Ok(());
            };
            let body = self.body(event);
            let headers = self.headers(&ulid::Ulid::generate().to_string(), event.at_ms / 1000, &body);
            let (network, timeout) = (Arc::clone(&self.network), self.timeout);
            tokio::spawn(async move {
                let _permit = permit;
                let sending = send(network.as_ref(), Alert { target, headers, body, timeout });
                let problem = match tokio::time::timeout(timeout, sending).await {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "it took too long".to_owned(),
                };
                tracing::warn!(problem, "a security alert was not sent");
            });
            Ok(())
        })
    }
}

impl std::fmt::Debug for SecurityAlertHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path may hold a token.
        let host = self.target.as_ref().map(Target::host).unwrap_or_default();
        f.debug_struct("SecurityAlertHook").field("host", &host).field("events", &self.events).finish_non_exhaustive()
    }
}

fn https(url: &str, source: &str) -> Result<Target, Error> {
    match Target::read(url) {
        Ok(target) if target.url().scheme() == "https" => Ok(target),
        Ok(_) => Err(Error::configuration(format!(
            "security alerts go to https addresses only, {source} has another scheme"
        ))),
        Err(refused) => Err(Error::configuration(format!("{source} for security alerts cannot be used: {refused}"))),
    }
}

/// One alert, ready to go.
struct Alert {
    target: Target,
    headers: Vec<(&'static str, String)>,
    body: String,
    timeout: Duration,
}

/// What an alert needs of the outside, so that tests see where it would go.
trait Network: Send + Sync {
    /// The addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Vec<SocketAddr>, BoxError>>;
    /// Posts to one of the addresses, under the name of the host; gives the status of the answer.
    fn post<'a>(&'a self, alert: &'a Alert, checked: &'a [SocketAddr]) -> BoxFuture<'a, Result<u16, BoxError>>;
}

async fn send(network: &dyn Network, alert: Alert) -> Result<(), BoxError> {
    let target = &alert.target;
    let host = target.host();
    let addresses = match target.literal() {
        Some(ip) => vec![SocketAddr::new(ip, target.port())],
        None => network.resolve(host, target.port()).await?,
    };
    target.check(&addresses.iter().map(SocketAddr::ip).collect::<Vec<_>>())?;
    match network.post(&alert, &addresses).await? {
        200..300 => Ok(()),
        status => Err(format!("{host} answered {status}").into()),
    }
}

struct Internet;

impl Network for Internet {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<Vec<SocketAddr>, BoxError>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }

    fn post<'a>(&'a self, alert: &'a Alert, checked: &'a [SocketAddr]) -> BoxFuture<'a, Result<u16, BoxError>> {
        Box::pin(async move {
            let client = pinned(alert.target.host(), checked, alert.timeout)?;
            let mut request = client.post(alert.target.url().clone()).body(alert.body.clone());
            for (name, value) in &alert.headers {
                request = request.header(*name, value);
            }
            // The answer is not read, and its address, which may hold a token, is not told.
            let answer = request.send().await.map_err(reqwest::Error::without_url)?;
            Ok(answer.status().as_u16())
        })
    }
}

#[cfg(test)]
mod tests;

//! The HTTP clients of this process: made at the first call that needs one, shared by every provider with the same
//! settings.
//!
//! https runs on rustls with ring, handed to the client ready-made, so no process-wide default is ever installed.
//! Redirects are never followed: a key must not travel to another host.

use super::{ProviderError, ProviderErrorKind};
use crate::error::Error;
use reqwest::{Client, Url};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Clients that are kept; the oldest goes when there are more.
const KEPT: usize = 32;
/// An idle connection is closed after this time: before most servers close it, which could meet the next request.
const POOL_IDLE: Duration = Duration::from_secs(50);

/// What tells one client from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// Proxies; none is used that is not named here.
    pub(crate) proxies: Proxies,
    /// A PEM bundle that replaces the platform's root certificates.
    pub(crate) ca_file: Option<PathBuf>,
    /// Time to reach the server.
    pub(crate) connect_timeout: Duration,
}

/// Proxies by the scheme of the target. Debug shows neither address, for they may hold passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Proxies {
    /// For `http` targets.
    pub(crate) http: Option<Url>,
    /// For `https` targets.
    pub(crate) https: Option<Url>,
    /// Hosts that are reached directly, as in `NO_PROXY`.
    pub(crate) direct: Option<String>,
}

impl std::fmt::Debug for Proxies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |url: &Option<Url>| url.as_ref().map(|url| url.host_str().unwrap_or_default().to_owned());
        f.debug_struct("Proxies")
            .field("http", &shown(&self.http))
            .field("https", &shown(&self.https))
            .field("direct", &self.direct)
            .finish()
    }
}

/// A proxy address that can be used.
///
/// # Errors
/// A configuration error that says what is wrong with it.
pub(crate) fn proxy_url(text: &str, source: &str) -> Result<Url, Error> {
    // `host:port` is how many write it.
    let text = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(url) => Err(Error::configuration(format!(
            "the proxy in {source} must be an http or https address, got scheme {:?}",
            url.scheme()
        ))),
        Err(error) => Err(Error::configuration(format!("the proxy in {source} is no address: {error}"))),
    }
}

struct Kept {
    settings: Arc<ClientSettings>,
    https: bool,
    // Idle connections are driven by the runtime that opened them; on another one they would hang.
    runtime: Option<tokio::runtime::Id>,
    client: Client,
}

static CLIENTS: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// The client for these settings.
///
/// # Errors
/// When https is wanted and no root certificates are found, or the crate was built without `tls`.
pub(crate) fn client(settings: &Arc<ClientSettings>, target: &Url) -> Result<Client, ProviderError> {
    let proxy = if target.scheme() == "https" { &settings.proxies.https } else { &settings.proxies.http };
    let https = target.scheme() == "https" || proxy.as_ref().is_some_and(|proxy| proxy.scheme() == "https");
    let runtime = tokio::runtime::Handle::try_current().ok().map(|handle| handle.id());
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |kept: &&Kept| {
        kept.https == https
            && kept.runtime == runtime
            && (Arc::ptr_eq(&kept.settings, settings) || kept.settings == *settings)
    };
    if let Some(kept) = clients.iter().find(same) {
        return Ok(kept.client.clone());
    }
    let client = build(settings, https)?;
    if clients.len() >= KEPT {
        clients.pop_front();
    }
    clients.push_back(Kept { settings: Arc::clone(settings), https, runtime, client: client.clone() });
    Ok(client)
}

fn build(settings: &ClientSettings, https: bool) -> Result<Client, ProviderError> {
    let mut builder = Client::builder()
        .user_agent(concat!("cheliped/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(settings.connect_timeout)
        .pool_idle_timeout(POOL_IDLE)
        .tcp_nodelay(true)
        .no_proxy();
    let Proxies { http, https: for_https, direct } = &settings.proxies;
    let direct = direct.as_deref().and_then(reqwest::NoProxy::from_string);
    let not_usable = |error: reqwest::Error| setup_error("proxy", "the proxy cannot be used").with_source(error);
    if let Some(url) = http {
        builder = builder.proxy(reqwest::Proxy::http(url.clone()).map_err(not_usable)?.no_proxy(direct.clone()));
    }
    if let Some(url) = for_https {
        builder = builder.proxy(reqwest::Proxy::https(url.clone()).map_err(not_usable)?.no_proxy(direct));
    }
    tls::add(builder, settings, https)?
        .build()
        .map_err(|error| setup_error("client", "the HTTP client cannot be made").with_source(error))
}

/// A client for one host that connects to the given addresses only, whatever the host's name leads to by then: through no
/// proxy, and without following redirects.
///
/// # Errors
/// When no root certificates are found, or the crate was built without `tls`.
pub(crate) fn pinned(host: &str, addresses: &[SocketAddr], timeout: Duration) -> Result<Client, ProviderError> {
    let builder = Client::builder()
        .user_agent(concat!("cheliped/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .timeout(timeout)
        .pool_max_idle_per_host(0)
        .no_proxy()
        .resolve_to_addrs(host, addresses);
    tls::add(builder, &ClientSettings::default(), true)?
        .build()
        .map_err(|error| setup_error("client", "the HTTP client cannot be made").with_source(error))
}

/// An error of this machine's set-up, which no retry helps.
fn setup_error(code: &str, message: impl Into<String>) -> ProviderError {
    let mut error = ProviderError::new(ProviderErrorKind::Server, message);
    error.retryable = false;
    error.code = Some(code.to_owned());
    error
}

#[cfg(feature = "tls")]
mod tls {
    use super::{ClientSettings, ProviderError, setup_error};
    use reqwest::ClientBuilder;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::{ClientConfig, RootCertStore};
    use std::path::Path;
    use std::sync::Arc;

    /// Root certificates are read for https only, so that a plain endpoint works on a machine without any.
    pub(super) fn add(
        builder: ClientBuilder,
        settings: &ClientSettings,
        https: bool,
    ) -> Result<ClientBuilder, ProviderError> {
        let roots = match (https, &settings.ca_file) {
            (false, _) => RootCertStore::empty(),
            (true, Some(file)) => from_bundle(file)?,
            (true, None) => from_platform()?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| setup_error("tls", "TLS cannot be set up").with_source(error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(builder.tls_backend_preconfigured(config))
    }

    fn from_bundle(file: &Path) -> Result<RootCertStore, ProviderError> {
        let problem = |what: String| setup_error("ca_file", format!("the CA bundle {}: {what}", file.display()));
        let certificates = CertificateDer::pem_file_iter(file)
            .and_then(|found| found.collect::<Result<Vec<_>, _>>())
            .map_err(|error| problem(format!("cannot be read: {error}")))?;
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(certificates);
        if added == 0 {
            return Err(problem("holds no certificate in PEM form".to_owned()));
        }
        Ok(roots)
    }

    fn from_platform() -> Result<RootCertStore, ProviderError> {
        let found = rustls_native_certs::load_native_certs();
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            let reason = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
            return Err(setup_error(
                "no_root_certificates",
                format!(
                    "no root certificates were found on this machine{reason}, so https cannot be trusted; install \
                     the package ca-certificates, or name a PEM bundle with ca_file"
                ),
            ));
        }
        Ok(roots)
    }
}

#[cfg(not(feature = "tls"))]
mod tls {
    use super::{ClientSettings, ProviderError, setup_error};

    pub(super) fn add(
        builder: reqwest::ClientBuilder,
        _settings: &ClientSettings,
        https: bool,
    ) -> Result<reqwest::ClientBuilder, ProviderError> {
        if https {
            return Err(setup_error("tls", "https needs the cargo feature `tls`, which this build leaves out"));
        }
        Ok(builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(connect: u64, ca_file: Option<&str>) -> Arc<ClientSettings> {
        Arc::new(ClientSettings {
            connect_timeout: Duration::from_millis(connect),
            ca_file: ca_file.map(PathBuf::from),
            proxies: Proxies::default(),
        })
    }

    #[test]
    fn the_same_settings_share_one_client() {
        let count = || {
            let clients = CLIENTS.lock().unwrap();
            clients.iter().filter(|kept| kept.settings.connect_timeout == Duration::from_millis(70_001)).count()
        };
        let plain = Url::parse("http://127.0.0.1:1").unwrap();
        for _ in 0..3 {
            client(&settings(70_001, None), &plain).unwrap();
        }
        assert_eq!(count(), 1);
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_missing_bundle_stops_https_only() {
        let settings = settings(70_002, Some("/nowhere/ca.pem"));
        client(&settings, &Url::parse("http://127.0.0.1:1").unwrap()).unwrap();
        let error = client(&settings, &Url::parse("https://127.0.0.1:1").unwrap()).unwrap_err();
        assert_eq!(error.code.as_deref(), Some("ca_file"));
        assert!(error.message.contains("/nowhere/ca.pem"), "{}", error.message);
        assert!(!error.retryable);
    }

    #[test]
    fn proxies_are_checked() {
        assert_eq!(proxy_url("proxy:3128", "HTTP_PROXY").unwrap().as_str(), "http://proxy:3128/");
        for bad in ["socks5://proxy:1", "http://", "http://a b"] {
            assert!(proxy_url(bad, "HTTP_PROXY").unwrap_err().to_string().contains("HTTP_PROXY"), "{bad}");
        }
        let proxies = Proxies { http: Some(proxy_url("http://me:secret@proxy", "x").unwrap()), ..Proxies::default() };
        assert!(!format!("{proxies:?}").contains("secret"));
    }
}

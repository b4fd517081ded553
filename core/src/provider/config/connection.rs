//! Where the server of a [`ProviderConfig`] is and how it is reached: address, headers, times and proxies, from the
//! settings or else the environment.
//!
//! Nothing is connected here; what cannot be used is told in the list of problems.

use super::{Api, ProviderConfig, read};
use crate::env::Variables;
use crate::limits::{CONNECT_TIMEOUT, FIRST_BYTE_TIMEOUT, IDLE_TIMEOUT, MODEL_CALL_TIMEOUT};
use crate::provider::client::{Proxies, proxy_url};
use crate::provider::endpoint::{self, is_loopback};
use crate::provider::http::Timeouts;
use crate::provider::presets::Preset;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Seconds for a whole call, the first byte and silence.
const TIMEOUT_VARIABLE: &str = "CHELIPED_HTTP_TIMEOUT";
/// Seconds to reach the server.
const CONNECT_VARIABLE: &str = "CHELIPED_HTTP_CONNECT_TIMEOUT";

impl ProviderConfig {
    pub(super) fn target(
        &self,
        preset: Option<&Preset>,
        api: Api,
        variables: &dyn Variables,
        problems: &mut Vec<String>,
    ) -> Option<Url> {
        let variable = preset.and_then(|preset| preset.base_variable);
        let set = self.base_url.clone().or_else(|| variable.and_then(|name| read(variables, name)));
        let source = if self.base_url.is_some() { "base_url" } else { variable.unwrap_or("base_url") };
        let base = match set {
            Some(host) if self.name == "ollama" => endpoint::ollama_base(&host),
            Some(url) => url,
            None => match preset.and_then(|preset| preset.base) {
                // Google keeps its compatible side in a folder.
                Some(base) if self.name == "gemini" && api == Api::Chat => format!("{base}/openai"),
                Some(base) => base.to_owned(),
                None => {
                    problems.push(format!(
                        "provider {:?} needs an address: set {source} to the server's base URL, such as \
                         http://127.0.0.1:8080/v1",
                        self.name
                    ));
                    return None;
                }
            },
        };
        let address = match api {
            Api::Messages | Api::GenerateContent => endpoint::parse(&base),
            Api::Chat | Api::Responses | Api::OllamaChat => endpoint::address(&base, api),
        };
        address.map_err(|problem| problems.push(format!("the address in {source} cannot be used: {problem}"))).ok()
    }

    pub(super) fn header_map(&self, problems: &mut Vec<String>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let read = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::from_str(value.expose_secret()).ok());
            match read {
                Some((name, mut value)) => {
                    value.set_sensitive(true);
                    headers.insert(name, value);
                }
                None => problems.push(format!(
                    "header {name:?} cannot be sent: a name has letters, digits and dashes, a value no line break and \
                     no other control character"
                )),
            }
        }
        headers
    }

    /// Values of headers that look like credentials.
    pub(super) fn secret_headers(&self) -> impl Iterator<Item = SecretString> {
        self.headers
            .iter()
            .filter(|(name, _)| {
                let name = name.to_ascii_lowercase();
                ["auth", "key", "token", "secret", "cookie"].iter().any(|word| name.contains(word))
            })
            .map(|(_, value)| value.clone())
    }

    pub(super) fn timeouts(&self, variables: &dyn Variables, problems: &mut Vec<String>) -> Timeouts {
        let common = seconds(variables, TIMEOUT_VARIABLE);
        let mut limit = |name: &str, own: Option<Option<Duration>>, default: Duration| {
            if own == Some(Some(Duration::ZERO)) {
                problems.push(format!("{name} is zero, which no call can keep; give no limit to switch it off"));
            }
            own.unwrap_or(Some(common.unwrap_or(default)))
        };
        Timeouts {
            first_byte: limit("first_byte_timeout", self.first_byte_timeout, FIRST_BYTE_TIMEOUT),
            idle: limit("idle_timeout", self.idle_timeout, IDLE_TIMEOUT),
            call: limit("call_timeout", self.call_timeout, MODEL_CALL_TIMEOUT),
        }
    }

    pub(super) fn connect(&self, variables: &dyn Variables, problems: &mut Vec<String>) -> Duration {
        if self.connect_timeout == Some(Duration::ZERO) {
            problems.push("connect_timeout is zero, which no call can keep".to_owned());
        }
        self.connect_timeout.or_else(|| seconds(variables, CONNECT_VARIABLE)).unwrap_or(CONNECT_TIMEOUT)
    }

    pub(super) fn proxies(
        &self,
        target: Option<&Url>,
        variables: &dyn Variables,
        problems: &mut Vec<String>,
    ) -> Proxies {
        let mut url = |text: &str, source: &str| match proxy_url(text, source) {
            Ok(url) => Some(url),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        };
        if let Some(proxy) = &self.proxy {
            let url = url(proxy.expose_secret(), "proxy");
            return Proxies { http: url.clone(), https: url, direct: None };
        }
        // Only the one that the target needs is looked at, so that another one's fault stops nobody.
        let Some(target) = target.filter(|target| !is_loopback(target)) else { return Proxies::default() };
        let direct = ["NO_PROXY", "no_proxy"].iter().find_map(|name| read(variables, name));
        let mut first = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| read(variables, name).map(|text| (text, *name)))
                .and_then(|(text, name)| url(&text, name))
        };
        if target.scheme() == "https" {
            let https = first(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]);
            return Proxies { https, http: None, direct };
        }
        // Under CGI a visitor's `Proxy` header becomes HTTP_PROXY.
        let names: &[&str] = if read(variables, "REQUEST_METHOD").is_some() {
            &["http_proxy", "ALL_PROXY", "all_proxy"]
        } else {
            &["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
        };
        Proxies { http: first(names), https: None, direct }
    }
}

/// A number of seconds from a variable. What is no positive number is told and ignored.
fn seconds(variables: &dyn Variables, name: &str) -> Option<Duration> {
    let text = read(variables, name)?;
    let limit = text.trim().parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let limit = limit.filter(|limit| !limit.is_zero());
    if limit.is_none() {
        tracing::warn!(variable = name, value = text, "not a positive number of seconds; the default is used");
    }
    limit
}

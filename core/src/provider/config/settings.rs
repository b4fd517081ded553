//! [`ProviderConfig`] as JSON, for hosts that write settings as data.

use super::{Api, ProviderConfig};
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    provider: Option<String>,
    model: Option<String>,
    api_key: Option<String>,
    base_url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    proxy: Option<String>,
    ca_file: Option<PathBuf>,
    connect_timeout_ms: Option<u64>,
    first_byte_timeout_ms: Option<u64>,
    idle_timeout_ms: Option<u64>,
    call_timeout_ms: Option<u64>,
    api: Option<String>,
    text_calls: Option<bool>,
}

/// An object with `provider` (a name, or `provider:model`), `model`, `api_key`, `base_url`, `headers`, `proxy`, `ca_file`,
/// `connect_timeout_ms`, `first_byte_timeout_ms`, `idle_timeout_ms`, `call_timeout_ms` (0 is no limit for the last
/// three), `api` (`messages`, `chat`, `responses`, `generate_content`, `ollama_chat`) and `text_calls`; all but
/// `provider` may be left out.
impl<'de> Deserialize<'de> for ProviderConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let name = raw.provider.ok_or_else(|| de::Error::missing_field("provider"))?;
        let mut config = Self::parse(&name);
        let limit = |limit: u64| Some(limit).filter(|limit| *limit > 0).map(Duration::from_millis);
        if let Some(model) = raw.model {
            config = config.model(model);
        }
        if let Some(key) = raw.api_key {
            config = config.api_key(key);
        }
        if let Some(url) = raw.base_url {
            config = config.base_url(url);
        }
        for (name, value) in raw.headers {
            config = config.header(name, value);
        }
        if let Some(proxy) = raw.proxy {
            config = config.proxy(proxy);
        }
        if let Some(file) = raw.ca_file {
            config = config.ca_file(file);
        }
        if let Some(time) = raw.connect_timeout_ms {
            config = config.connect_timeout(Duration::from_millis(time));
        }
        if let Some(time) = raw.first_byte_timeout_ms {
            config = config.first_byte_timeout(limit(time));
        }
        if let Some(time) = raw.idle_timeout_ms {
            config = config.idle_timeout(limit(time));
        }
        if let Some(time) = raw.call_timeout_ms {
            config = config.call_timeout(limit(time));
        }
        if let Some(api) = raw.api {
            let known = Api::ALL.iter().find(|known| known.as_str() == api);
            let api = known.ok_or_else(|| {
                let names: Vec<_> = Api::ALL.iter().map(|api| api.as_str()).collect();
                de::Error::custom(format!("unknown api {api:?}: known are {}", names.join(", ")))
            })?;
            config = config.api(*api);
        }
        if let Some(read) = raw.text_calls {
            config = config.text_calls(read);
        }
        Ok(config)
    }
}

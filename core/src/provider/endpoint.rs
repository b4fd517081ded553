//! From a base URL, as people write it, to the address that requests go to.
//!
//! A base may have its version or not, end with a slash, or already be the whole address; nothing is ever doubled.

use super::config::Api;
use reqwest::Url;

/// Ends of addresses that stand for an API.
const ENDS: &[(&str, Api)] = &[
    ("/chat/completions", Api::Chat),
    ("/responses", Api::Responses),
    ("/messages", Api::Messages),
    ("/api/chat", Api::OllamaChat),
];

/// The address for requests, or what is wrong with the base.
pub(crate) fn address(base: &str, api: Api) -> Result<Url, String> {
    let mut url = parse(base)?;
    let mut path = url.path().trim_end_matches('/').to_owned();
    let end = ENDS.iter().find(|(_, own)| *own == api).map_or("", |(end, _)| end);
    if let Some(whole) = ENDS.iter().find_map(|(end, _)| path.strip_suffix(end)) {
        path.truncate(whole.len());
        // The address of the other API of an Ollama server has no version.
        if path.is_empty() && api != Api::OllamaChat {
            path.push_str(if url.path().trim_end_matches('/').ends_with(end) { "" } else { "/v1" });
        }
    } else if path.is_empty() && api != Api::OllamaChat {
        path.push_str("/v1");
    }
    if api == Api::OllamaChat {
        let root = ["/v1", "/api"].iter().find_map(|end| path.strip_suffix(end)).map_or(path.len(), str::len);
        path.truncate(root);
    }
    path.push_str(end);
    url.set_path(&path);
    Ok(url)
}

/// A base that a provider's own wire format completes.
pub(crate) fn parse(base: &str) -> Result<Url, String> {
    let url = Url::parse(base.trim()).map_err(|error| format!("{error}; it should look like https://host/v1"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme {:?} is not http or https", url.scheme()));
    }
    if !url.has_host() {
        return Err("it names no host".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it holds a user name or password; use api_key or a header for them".to_owned());
    }
    if url.fragment().is_some() {
        return Err("it has a part after #".to_owned());
    }
    Ok(url)
}

/// The address of an Ollama server as its own tools accept it: `host`, `host:port`, `:port` or a whole address.
pub(crate) fn ollama_base(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    if host.contains("://") {
        return host.replace("://0.0.0.0", "://127.0.0.1");
    }
    let (name, rest) = host.split_once('/').map_or((host, String::new()), |(name, path)| (name, format!("/{path}")));
    let (name, port) = match name.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        Some(_) | None => (name, "11434"),
    };
    // A server listens on every address; a client needs one.
    let name = if matches!(name, "" | "0.0.0.0") { "127.0.0.1" } else { name };
    format!("http://{name}:{port}{rest}")
}

/// Whether the target is this machine, which no proxy of the environment stands before.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_doubled() {
        for (base, api, expected) in [
            ("https://h", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/v1", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/v1/", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/v1/chat/completions", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/v1/chat/completions/", Api::Chat, "https://h/v1/chat/completions"),
            ("https://h/chat/completions", Api::Chat, "https://h/chat/completions"),
            ("https://h/openai/v1", Api::Chat, "https://h/openai/v1/chat/completions"),
            ("https://h/v1?api-version=2", Api::Chat, "https://h/v1/chat/completions?api-version=2"),
            (" http://127.0.0.1:8080/v1 ", Api::Responses, "http://127.0.0.1:8080/v1/responses"),
            ("https://h/v1/chat/completions", Api::Responses, "https://h/v1/responses"),
            ("https://h", Api::Responses, "https://h/v1/responses"),
            ("http://h:11434", Api::OllamaChat, "http://h:11434/api/chat"),
            ("http://h:11434/v1", Api::OllamaChat, "http://h:11434/api/chat"),
            ("http://h:11434/api", Api::OllamaChat, "http://h:11434/api/chat"),
            ("http://h:11434/api/chat", Api::OllamaChat, "http://h:11434/api/chat"),
            ("http://h/p/api/chat/", Api::OllamaChat, "http://h/p/api/chat"),
            ("http://h:11434/api/chat", Api::Chat, "http://h:11434/v1/chat/completions"),
        ] {
            assert_eq!(address(base, api).as_ref().map(Url::as_str), Ok(expected), "{base} {api:?}");
        }
    }

    #[test]
    fn bad_bases_are_told() {
        for base in ["", "api.openai.com", "ftp://h", "https://", "https://me:pw@h/v1", "https://h/#x"] {
            let error = address(base, Api::Chat).unwrap_err();
            assert!(!error.contains("pw"), "{error}");
        }
    }

    #[test]
    fn ollama_hosts() {
        for (host, base) in [
            ("localhost", "http://localhost:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            (":8000", "http://127.0.0.1:8000"),
            ("box:8000/", "http://box:8000"),
            ("https://box/", "https://box"),
            ("http://0.0.0.0:11434", "http://127.0.0.1:11434"),
        ] {
            assert_eq!(ollama_base(host), base);
        }
    }

    #[test]
    fn loopback_is_known() {
        for (url, expected) in
            [("http://localhost:1", true), ("http://127.0.0.2", true), ("http://[::1]:1", true), ("http://h", false)]
        {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected);
        }
    }
}

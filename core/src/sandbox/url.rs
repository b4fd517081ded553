//! Where a request may go: http and https to hosts whose every address is on the public internet.
//!
//! A URL that two parsers could read in two ways is refused, never guessed.

use super::address::is_public;
use std::net::{IpAddr, Ipv4Addr};
use url::{Host, Url};

/// Beginnings of hosts that are never asked, whatever follows: names with them are made to look like addresses.
const PREFIXES: [&str; 8] = ["localhost", "127.", "0.", "10.", "169.254.", "192.168.", "::1", "fc00:"];
/// Carriers' shared addresses (RFC 6598), which have a message of their own.
const CARRIERS: (u32, u32) = (0x6440_0000, 10);

/// Why a request may not be made, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: String,
    port: u16,
    literal: Option<IpAddr>,
}

impl Target {
    /// Reads a URL.
    ///
    /// ```
    /// use cheliped::sandbox::url::Target;
    /// let target = Target::read("https://B\u{fc}cher.example:8443/a?b=c")?;
    /// assert_eq!((target.host(), target.port(), target.literal()), ("xn--bcher-kva.example", 8443, None));
    /// for refused in ["ftp://example.com/", "http://0x7f000001/", "http://localhost/", "http://[::1]/", "http://a\\\\@b/"] {
    ///     assert!(Target::read(refused).is_err(), "{refused}");
    /// }
    /// # Ok::<(), cheliped::sandbox::url::Refused>(())
    /// ```
    ///
    /// # Errors
    /// Why the URL is refused: its scheme, an address in an unusual notation or one that is not public, or a form that
    /// parsers read differently.
    pub fn read(text: &str) -> Result<Self, Refused> {
        let malformed = |why: &str| Refused(format!("The URL is not valid: {why}."));
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Err(Refused(format!(
                "URL scheme '{scheme}' is not allowed. Only http:// and https:// are permitted."
            )));
        }
        if text.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(malformed("it holds a space, a control character or a backslash"));
        }
        let no_host = || Refused("Could not extract host from URL.".into());
        let authority = rest.strip_prefix("//").ok_or_else(no_host)?;
        let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
        let written = authority.rsplit('@').next().unwrap_or_default();
        let raw = match written.strip_prefix('[') {
            Some(literal) => literal.split_once(']').ok_or_else(|| malformed("a bracket is not closed"))?.0,
            None => written.split(':').next().unwrap_or_default(),
        };
        if raw.is_empty() {
            return Err(no_host());
        }
        let raw = raw.trim_end_matches('.').to_lowercase();
        let blocked = |why: &str| Refused(format!("Requests to '{raw}' are blocked ({why})."));
        if let Some(why) = looks_internal(&raw) {
            return Err(blocked(why));
        }
        let mut url = Url::parse(text).map_err(|error| malformed(&error.to_string()))?;
        let port = url.port_or_known_default().ok_or_else(|| malformed("it has no port"))?;
        let (host, literal) = match url.host().ok_or_else(no_host)? {
            Host::Domain(name) => (name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase(), None::<IpAddr>),
            // Names that fold to an address, and short forms of one.
            Host::Ipv4(ip) if ip.to_string() != raw => return Err(blocked("non-standard IP encoding")),
            Host::Ipv4(ip) => (ip.to_string(), Some(IpAddr::V4(ip))),
            Host::Ipv6(ip) => (ip.to_string(), Some(IpAddr::V6(ip))),
        };
        if literal.is_none() {
            if host.split('.').any(str::is_empty) {
                return Err(malformed("a part of its host is empty"));
            }
            // Letters of other scripts can fold to what was looked for.
            if let Some(why) = looks_internal(&host) {
                return Err(blocked(why));
            }
            // One name for one host: whoever pins addresses to a name must find it in the URL.
            url.set_host(Some(&host)).map_err(|error| malformed(&error.to_string()))?;
        }
        let target = Self { url, host, port, literal };
        match literal {
            Some(ip) => target.check(&[ip]).map(|()| target),
            None => Ok(target),
        }
    }

    /// Whether the addresses of the host may be connected to: every one of them, or none.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, addresses: &[IpAddr]) -> Result<(), Refused> {
        let host = &self.host;
        if addresses.is_empty() {
            return Err(Refused(format!("Could not resolve host '{host}': unresolvable hosts are blocked.")));
        }
        match addresses.iter().find(|ip| !is_public(**ip)) {
            None => Ok(()),
            Some(ip) => Err(Refused(format!("Requests to '{host}' are blocked ({}).", what(*ip)))),
        }
    }

    /// The whole URL.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host in ASCII and small letters, without brackets and without a full stop at its end.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port: the one that is written, or that of the scheme.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address, when the host is one.
    pub fn literal(&self) -> Option<IpAddr> {
        self.literal
    }
}

/// Why a host as it is written is refused.
fn looks_internal(host: &str) -> Option<&'static str> {
    if is_coded(host) {
        Some("non-standard IP encoding")
    } else if PREFIXES.iter().any(|prefix| host.starts_with(prefix)) || is_link_local(host) {
        Some("private/internal address")
    } else {
        None
    }
}

/// Whether a host is an address in a notation that hides it: a number, hexadecimal or octal parts, percent signs.
fn is_coded(host: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let coded = |part: &str| {
        part.strip_prefix("0x").is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
            || part.len() > 1 && part.starts_with('0') && digits(part)
    };
    // Names may begin with digits; only where all parts are numbers an address is meant.
    let numbers = host.split('.').all(|part| digits(part) || coded(part));
    let odd = numbers && !host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.to_string() == host);
    host.contains('%') || digits(host) || coded(host) || odd
}

/// Link-local addresses: their second byte may be `8` to `b` and more.
fn is_link_local(host: &str) -> bool {
    host.contains(':') && ["fe8", "fe9", "fea", "feb"].iter().any(|prefix| host.starts_with(prefix))
}

fn what(ip: IpAddr) -> String {
    let (first, bits) = CARRIERS;
    match ip {
        IpAddr::V4(v4) if (v4.to_bits() ^ first) >> (32 - bits) == 0 => format!("resolves to CGNAT address {ip}"),
        IpAddr::V6(v6) if v6.is_loopback() => "resolves to IPv6 loopback".into(),
        ip => format!("resolves to private IP {ip}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn said(url: &str) -> String {
        Target::read(url).unwrap_err().to_string()
    }

    #[test]
    fn the_documented_messages() {
        for (url, message) in [
            ("ftp://example.com/", "URL scheme 'ftp' is not allowed. Only http:// and https:// are permitted."),
            ("example.com", "URL scheme '' is not allowed. Only http:// and https:// are permitted."),
            ("http:///path", "Could not extract host from URL."),
            ("http://2130706433/", "Requests to '2130706433' are blocked (non-standard IP encoding)."),
            ("http://0177.0.0.1/", "Requests to '0177.0.0.1' are blocked (non-standard IP encoding)."),
            ("http://localhost:80/", "Requests to 'localhost' are blocked (private/internal address)."),
            ("http://[::1]/", "Requests to '::1' are blocked (private/internal address)."),
            ("http://127\u{3002}a/", "Requests to '127\u{3002}a' are blocked (private/internal address)."),
            ("http://100.64.0.1/", "Requests to '100.64.0.1' are blocked (resolves to CGNAT address 100.64.0.1)."),
            ("http://172.16.0.1/", "Requests to '172.16.0.1' are blocked (resolves to private IP 172.16.0.1)."),
        ] {
            assert_eq!(said(url), message, "{url}");
        }
        let target = Target::read("http://a.example/").unwrap();
        let check = |ips: &[&str]| {
            let ips: Vec<IpAddr> = ips.iter().map(|ip| ip.parse().unwrap()).collect();
            target.check(&ips).unwrap_err().to_string()
        };
        assert_eq!(check(&[]), "Could not resolve host 'a.example': unresolvable hosts are blocked.");
        assert_eq!(check(&["8.8.8.8", "::1"]), "Requests to 'a.example' are blocked (resolves to IPv6 loopback).");
    }

    #[test]
    fn every_line_of_the_corpus() {
        let path = format!("{}/../tests/corpora/ssrf.jsonl", env!("CARGO_MANIFEST_DIR"));
        let (mut lines, mut wrong) = (0, Vec::new());
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let expect = line["expect"].as_str().unwrap();
            // What a whole exchange shows is the fetcher's.
            if !matches!(expect, "refuse" | "allow") || line.get("method").is_some() {
                continue;
            }
            lines += 1;
            let read = Target::read(line["input"].as_str().unwrap()).and_then(|target| match target.literal() {
                Some(_) => Ok(()),
                None => {
                    let first = line["dns_sequence"][target.host()][0].as_array();
                    let known = first.or_else(|| line["dns"][target.host()].as_array()).cloned().unwrap_or_default();
                    let ips: Vec<IpAddr> = known.iter().map(|ip| ip.as_str().unwrap().parse().unwrap()).collect();
                    target.check(&ips)
                }
            });
            if read.is_ok() != (expect == "allow") {
                wrong.push(format!("{}: {} {read:?}", line["id"], line["input"]));
            }
        }
        assert!(wrong.is_empty() && lines > 150, "{lines} lines\n{}", wrong.join("\n"));
    }

    #[test]
    fn a_full_stop_at_the_end_is_no_other_host() {
        let target = Target::read("https://A.example.:8443/x?y").unwrap();
        assert_eq!((target.host(), target.url().as_str()), ("a.example", "https://a.example:8443/x?y"));
    }

    #[test]
    fn names_that_begin_like_numbers_are_names() {
        for url in ["https://007.example.com/", "https://1password.example/", "https://2130706433.example/"] {
            assert_eq!(Target::read(url).unwrap().literal(), None, "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_url_leads_to_an_address_that_is_not_public(
            url in "https?://([a-z0-9@:.\\[\\]%x①。]{1,20}|[0-9]{1,3}(\\.[0-9]{1,3}){0,3}|0x[0-9a-f]{1,8}|\\[[0-9a-f:.]{2,20}\\])(:[0-9]{1,5})?/?"
        ) {
            if let Ok(target) = Target::read(&url) {
                // Whoever connects reads the same text with the same parser.
                match target.url().host().unwrap() {
                    Host::Ipv4(ip) => prop_assert!(is_public(ip.into()), "{url}"),
                    Host::Ipv6(ip) => prop_assert!(is_public(ip.into()), "{url}"),
                    Host::Domain(name) => prop_assert!(name.parse::<IpAddr>().is_err(), "{url}"),
                }
            }
        }
    }
}

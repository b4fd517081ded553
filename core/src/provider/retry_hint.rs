//! How long a provider asks to wait before the next try: read from headers, or from the words of an error.
//!
//! Nothing waits here, and nothing is capped: whoever retries decides what wait is worth it.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, HeaderName, RETRY_AFTER};
use std::time::Duration;

/// The longest wait that is read at all; a hint beyond it is taken as this one.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// Limits whose reset is announced as a duration.
const DURATION_LIMITS: &[(&str, &str)] = &[
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

/// Limits whose reset is announced as a point in time.
const INSTANT_LIMITS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// The wait that the headers of an answer ask for. `now_ms` is the time since 1970 for waits given as a date, used
/// where the answer has no `Date` header of its own.
pub(crate) fn from_headers(status: u16, headers: &HeaderMap, now_ms: u64) -> Option<Duration> {
    let now = text(headers, "date").and_then(instant).unwrap_or_else(|| {
        i64::try_from(now_ms)
            .ok()
            .and_then(|now| Timestamp::from_millisecond(now).ok())
            .unwrap_or(Timestamp::UNIX_EPOCH)
    });
    let exact = text(headers, "retry-after-ms").and_then(|wait| seconds(wait, 1e-3));
    let asked = headers
        .get(RETRY_AFTER)
        .and_then(|wait| wait.to_str().ok())
        .and_then(|wait| seconds(wait, 1.0).or_else(|| instant(wait).map(|at| until(at, now))));
    match (exact, asked) {
        // Zero milliseconds stand next to a real wait on some servers.
        (Some(exact), asked) if exact.is_zero() => Some(asked.unwrap_or(exact)),
        (Some(exact), _) => Some(exact),
        (None, Some(asked)) => Some(asked),
        (None, None) if status == 429 => limit_reset(headers, now),
        (None, None) => None,
    }
}

/// When the limit that is used up comes back. Limits that say they have something left are not the reason.
fn limit_reset(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let used_up = |remaining: &str| text(headers, remaining).is_none_or(|left| left.trim() == "0");
    let durations = DURATION_LIMITS
        .iter()
        .filter(|(remaining, _)| used_up(remaining))
        .filter_map(|(_, reset)| text(headers, reset).and_then(duration));
    let instants = INSTANT_LIMITS
        .iter()
        .filter(|(remaining, _)| used_up(remaining))
        .filter_map(|(_, reset)| text(headers, reset).and_then(instant).map(|at| until(at, now)));
    durations.chain(instants).max()
}

/// The wait in an error's own words, such as "Please try again in 7.66s".
pub(crate) fn from_text(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    ["try again in ", "retry in ", "retry after ", "try again after "]
        .iter()
        .find_map(|lead| lower.find(lead).and_then(|at| duration_prefix(lower.get(at + lead.len()..)?)))
}

/// A duration such as `48s`, `34.4s`, `12ms`, `6m0s` or `1h2m3.5s`; a bare number counts as seconds.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim().to_ascii_lowercase();
    seconds(&text, 1.0).or_else(|| duration_prefix(&text))
}

/// The duration that `text` starts with. `text` is in lower case.
fn duration_prefix(text: &str) -> Option<Duration> {
    let mut total: Option<Duration> = None;
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let factor = match unit {
            "ms" | "millisecond" | "milliseconds" => 1e-3,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            _ => return total,
        };
        // A sentence may end right behind the number: "in 3.s" does not happen, "in 3s." does.
        let Some(part) = seconds(number, factor) else { return total };
        total = Some(total.unwrap_or_default().saturating_add(part).min(LONGEST));
        rest = tail;
    }
}

/// A non-negative decimal number of `unit` seconds.
fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    if number.is_nan() {
        return None;
    }
    let limit = LONGEST.as_secs_f64();
    // Microseconds, so that "7.66s" is 7,660 ms and not a little less.
    Some(Duration::from_micros(((number * unit).clamp(0.0, limit) * 1e6).round() as u64))
}

/// A time as HTTP dates or RFC 3339 write it.
fn instant(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| rfc2822::DateTimeParser::new().parse_timestamp(text).ok())
}

fn until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or_default().min(LONGEST)
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let name: HeaderName = name.parse().ok()?;
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn hint(status: u16, pairs: &[(&str, &str)]) -> Option<u128> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap());
        }
        // 2026-01-01T00:00:00Z
        from_headers(status, &headers, 1_767_225_600_000).map(|wait| wait.as_millis())
    }

    #[test]
    fn reads_every_header() {
        assert_eq!(hint(429, &[]), None);
        assert_eq!(hint(503, &[("retry-after", "20")]), Some(20_000));
        assert_eq!(hint(429, &[("retry-after", "1.5")]), Some(1_500));
        assert_eq!(hint(429, &[("retry-after", "1"), ("retry-after-ms", "600")]), Some(600));
        assert_eq!(hint(429, &[("retry-after", "1"), ("retry-after-ms", "0")]), Some(1_000));
        assert_eq!(hint(429, &[("retry-after", "Thu, 01 Jan 2026 00:00:30 GMT")]), Some(30_000));
        assert_eq!(hint(429, &[("retry-after", "Thu, 01 Jan 2015 00:00:30 GMT")]), Some(0));
        assert_eq!(hint(429, &[("retry-after", "-3")]), Some(0));
        assert_eq!(hint(429, &[("retry-after", "soon")]), None);
        let by_own_clock =
            [("retry-after", "Thu, 01 Jan 2026 01:00:05 GMT"), ("date", "Thu, 01 Jan 2026 01:00:00 GMT")];
        assert_eq!(hint(429, &by_own_clock), Some(5_000));
        assert_eq!(hint(429, &[("retry-after", "1e300")]), Some(LONGEST.as_millis()));
    }

    #[test]
    fn asks_the_limit_that_is_used_up() {
        let both = [("x-ratelimit-reset-requests", "6m0s"), ("x-ratelimit-reset-tokens", "12ms")];
        assert_eq!(hint(429, &both), Some(360_000));
        assert_eq!(hint(500, &both), None);
        let tokens = [both[0], both[1], ("x-ratelimit-remaining-requests", "9"), ("x-ratelimit-remaining-tokens", "0")];
        assert_eq!(hint(429, &tokens), Some(12));
        assert_eq!(hint(429, &[("anthropic-ratelimit-tokens-reset", "2026-01-01T00:00:42Z")]), Some(42_000));
    }

    #[test]
    fn reads_durations_and_words() {
        for (text, ms) in
            [("48s", 48_000), ("34.4s", 34_400), ("12ms", 12), ("6m0s", 360_000), ("1h2m3.5s", 3_723_500), ("3", 3_000)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "1x", "soon", "NaN"] {
            assert_eq!(duration(text), None, "{text}");
        }
        let words = |text| from_text(text).map(|wait| wait.as_millis());
        assert_eq!(words("Rate limit reached. Please try again in 7.66s. Need more? Visit"), Some(7_660));
        assert_eq!(words("Please retry in 48.2s."), Some(48_200));
        assert_eq!(words("Try again in 2 minutes, please"), Some(120_000));
        assert_eq!(words("please try again in 1h20m."), Some(4_800_000));
        assert_eq!(words("please try again later"), None);
    }
}

//! Images and files as the wire formats of the OpenAI family carry them: data addresses, or text.

use crate::message::Data;
use base64::Engine as _;
use std::borrow::Cow;

/// What stands in a tool result for media that cannot be sent. An error instead would stop every later call of the run.
pub(crate) const LEFT_OUT: &str = "[left out: an image or a file that this model cannot read]";

/// The address of the data: its own, or one that holds the bytes.
pub(crate) fn address<'a>(media_type: &str, data: &'a Data) -> Cow<'a, str> {
    match data {
        Data::Url(url) => Cow::Borrowed(url),
        Data::Base64(bytes) => Cow::Owned(format!("data:{media_type};base64,{bytes}")),
    }
}

/// The text of a file that is text; `None` when it is anything else or lies elsewhere.
pub(crate) fn text_of(media_type: &str, data: &Data) -> Option<String> {
    let kind = media_type.split(';').next().unwrap_or_default().trim();
    let is_text = kind.starts_with("text/")
        || matches!(kind, "application/json" | "application/xml" | "application/yaml" | "application/toml")
        || kind.ends_with("+json")
        || kind.ends_with("+xml");
    match data {
        Data::Base64(bytes) if is_text => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(bytes.as_bytes()).ok()?;
            String::from_utf8(bytes).ok()
        }
        Data::Base64(_) | Data::Url(_) => None,
    }
}

/// A text file as part of a message.
pub(crate) fn quoted(name: &str, text: &str) -> String {
    format!("[file {name}]\n{text}\n[end of {name}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_text_from_bytes() {
        let data = Data::Base64("aMOp".into());
        assert_eq!(text_of("text/plain; charset=utf-8", &data).as_deref(), Some("hé"));
        assert_eq!(text_of("application/pdf", &data), None);
        assert_eq!(text_of("text/plain", &Data::Base64("/w==".into())), None);
        assert_eq!(text_of("text/plain", &Data::Url("https://x/y.txt".into())), None);
        assert_eq!(address("image/png", &data), "data:image/png;base64,aMOp");
    }
}

//! What the server was asked, read from the connection.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Most bytes that a request may have.
const MAX_REQUEST: usize = 64 << 20;

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// For example `POST`.
    pub method: String,
    /// Path with the query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The first header of this name (given in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Reads the next request; `None` when the peer closed the connection instead. `unread` keeps what came behind it.
    pub(crate) async fn read<S>(socket: &mut S, unread: &mut Vec<u8>) -> std::io::Result<Option<Self>>
    where
        S: AsyncReadExt + AsyncWriteExt + Unpin,
    {
        let head_end = loop {
            if let Some(at) = unread.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if !fill(socket, unread).await? {
                return Ok(None);
            }
        };
        let head: Vec<u8> = unread.drain(..head_end).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, path) = (first.next().unwrap_or_default().into(), first.next().unwrap_or_default().into());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut request = Self { method, path, headers, body: Vec::new() };
        if request.header("expect").is_some() {
            socket.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        if request.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            request.body = read_chunks(socket, unread).await?;
        } else if let Some(length) = request.header("content-length").and_then(|length| length.parse().ok()) {
            request.body = take(socket, unread, length).await?;
        }
        Ok(Some(request))
    }
}

async fn read_chunks<S: AsyncReadExt + Unpin>(socket: &mut S, unread: &mut Vec<u8>) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line_end = loop {
            if let Some(at) = unread.windows(2).position(|two| two == b"\r\n") {
                break at;
            }
            if !fill(socket, unread).await? {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        };
        let line: Vec<u8> = unread.drain(..line_end + 2).collect();
        let line = String::from_utf8_lossy(&line);
        let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)
            .map_err(|_| std::io::Error::other(format!("bad chunk size {line:?}")))?;
        body.extend(take(socket, unread, size).await?);
        take(socket, unread, 2).await?;
        if size == 0 {
            return Ok(body);
        }
    }
}

async fn take<S>(socket: &mut S, unread: &mut Vec<u8>, length: usize) -> std::io::Result<Vec<u8>>
where
    S: AsyncReadExt + Unpin,
{
    while unread.len() < length {
        if !fill(socket, unread).await? {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(unread.drain(..length).collect())
}

async fn fill<S: AsyncReadExt + Unpin>(socket: &mut S, unread: &mut Vec<u8>) -> std::io::Result<bool> {
    if unread.len() > MAX_REQUEST {
        return Err(std::io::Error::other("request too large"));
    }
    Ok(socket.read_buf(unread).await? > 0)
}

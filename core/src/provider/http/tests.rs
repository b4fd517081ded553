use crate::env::Variables;
use crate::message::{History, Message};
use crate::provider::{
    Api, ModelOptions, ModelRequest, Provider, ProviderConfig, ProviderError, ProviderErrorKind, StreamPart, ToolChoice,
};
use futures::StreamExt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

struct Nothing;

impl Variables for Nothing {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

/// What the server does with one request.
#[derive(Clone)]
enum Answer {
    /// Sends the bytes and closes.
    Send(Vec<u8>),
    /// Sends the bytes one by one and closes.
    Drip(Vec<u8>),
    /// Sends the bytes and stays silent until the client goes away.
    Hang(Vec<u8>),
    /// Sends the bytes and waits for the next request on the same connection.
    KeepAlive(Vec<u8>),
    /// Sends the first bytes, then the second again and again until the client goes away.
    Endless(&'static str, &'static str),
}

/// What the server saw.
#[derive(Debug)]
enum Seen {
    Connection,
    Request(String),
    ClientGone,
}

/// A server on loopback that gives the same answer to every request.
fn serve(answer: Answer) -> (SocketAddr, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, seen) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let (answer, tell) = (answer.clone(), tell.clone());
            let _ = tell.send(Seen::Connection);
            std::thread::spawn(move || {
                while let Some(request) = read_request(&mut connection) {
                    let _ = tell.send(Seen::Request(request));
                    match &answer {
                        Answer::Send(bytes) => {
                            let _ = connection.write_all(&closing(bytes));
                            return;
                        }
                        Answer::Drip(bytes) => {
                            let _ = connection.set_nodelay(true);
                            closing(bytes).chunks(1).for_each(|byte| drop(connection.write_all(byte)));
                            return;
                        }
                        Answer::Hang(bytes) => {
                            let _ = connection.write_all(bytes);
                            while connection.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
                            let _ = tell.send(Seen::ClientGone);
                            return;
                        }
                        Answer::KeepAlive(bytes) => {
                            let _ = connection.write_all(bytes);
                        }
                        Answer::Endless(head, more) => {
                            let _ = connection.write_all(head.as_bytes());
                            while connection.write_all(more.repeat(1024).as_bytes()).is_ok() {}
                            let _ = tell.send(Seen::ClientGone);
                            return;
                        }
                    }
                }
            });
        }
    });
    (address, seen)
}

/// The answer with the word that no other will come, so that the client does not send one into a closing connection.
fn closing(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    [&bytes[..line], b"connection: close\r\n", &bytes[line..]].concat()
}

fn read_request(connection: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = connection.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.unwrap_or("0").parse().unwrap() {
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn sse(events: &[&str]) -> Vec<u8> {
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    http("200 OK", "content-type: text/event-stream\r\n", &body)
}

const REPLY: &str = r#"{"choices":[{"message":{"content":"Hé"},"finish_reason":"stop"}]}"#;
const TEXT: &str = r#"{"choices":[{"delta":{"content":"Hé"}}]}"#;
const END: &str = r#"{"choices":[{"delta":{"content":"llo"},"finish_reason":"stop"}]}"#;

fn config(address: SocketAddr) -> ProviderConfig {
    ProviderConfig::parse("custom:m").base_url(format!("http://{address}/v1")).api_key("sk-secret-1")
}

fn build(config: &ProviderConfig) -> Arc<dyn Provider> {
    config.build(&Nothing).unwrap()
}

fn request() -> ModelRequest {
    ModelRequest {
        system: "".into(),
        messages: History::new(vec![Message::user("go")]),
        tools: Arc::from([]),
        tool_choice: ToolChoice::Auto,
        options: Arc::new(ModelOptions::default()),
    }
}

/// Waits until the client has closed its connection, which it does when its runtime next runs.
async fn client_leaves(seen: Receiver<Seen>) -> bool {
    let wait = move || {
        let mut seen = std::iter::from_fn(|| seen.recv_timeout(Duration::from_secs(10)).ok());
        seen.any(|seen| matches!(seen, Seen::ClientGone))
    };
    tokio::task::spawn_blocking(wait).await.unwrap()
}

async fn failure_of(config: &ProviderConfig) -> ProviderError {
    build(config).send(&request()).await.unwrap_err()
}

/// The text pieces joined, and how the stream ended.
async fn stream_of(config: &ProviderConfig) -> (String, Option<Result<String, ProviderError>>) {
    let (provider, request) = (build(config), request());
    let mut stream = provider.stream(&request);
    let (mut text, mut end) = (String::new(), None);
    while let Some(part) = stream.next().await {
        assert!(end.is_none(), "something came after the end");
        match part {
            Ok(StreamPart::Text(more)) => text.push_str(&more),
            Ok(StreamPart::Thinking(_)) => {}
            Ok(StreamPart::Reply(reply)) => end = Some(Ok(reply.text)),
            Err(error) => end = Some(Err(error)),
        }
    }
    (text, end)
}

#[tokio::test]
async fn sends_and_reads_a_whole_reply() {
    let (address, seen) = serve(Answer::Send(http("200 OK", "content-type: application/json\r\n", REPLY)));
    let config = config(address).header("X-Team", "blue").header("Authorization", "Basic mine");
    assert_eq!(build(&config).send(&request()).await.unwrap().text, "Hé");
    let Seen::Request(sent) = seen.iter().nth(1).unwrap() else { panic!("no request") };
    let lower = sent.to_lowercase();
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{sent}");
    for line in ["content-type: application/json\r\n", "x-team: blue\r\n", "authorization: basic mine\r\n"] {
        assert_eq!(lower.matches(line).count(), 1, "{sent}");
    }
    assert!(!lower.contains("bearer"), "a header of the user's own replaces the API's");
    assert!(sent.ends_with(r#"{"model":"m","messages":[{"role":"user","content":"go"}]}"#), "{sent}");
}

#[tokio::test]
async fn streams_however_the_bytes_come() {
    let bytes = sse(&[TEXT, END, "[DONE]"]);
    for answer in [Answer::Send(bytes.clone()), Answer::Drip(bytes)] {
        let (address, _seen) = serve(answer);
        let (text, end) = stream_of(&config(address)).await;
        assert_eq!((text.as_str(), end.unwrap().unwrap().as_str()), ("Héllo", "Héllo"));
    }
}

#[tokio::test]
async fn reading_stops_when_the_reply_is_complete() {
    let mut bytes = sse(&[TEXT, END, "[DONE]"]);
    // More is promised than comes.
    let head = String::from_utf8(bytes.clone()).unwrap().replace("content-length: ", "content-length: 9");
    bytes = head.into_bytes();
    let (address, seen) = serve(Answer::Hang(bytes));
    let (text, end) = stream_of(&config(address)).await;
    assert_eq!((text.as_str(), end.unwrap().is_ok()), ("Héllo", true));
    assert!(client_leaves(seen).await);
}

#[tokio::test]
async fn a_whole_reply_to_a_streamed_call_is_taken() {
    let json = "content-type: application/json\r\n";
    let (address, _seen) = serve(Answer::Send(http("200 OK", json, REPLY)));
    let (text, end) = stream_of(&config(address)).await;
    assert_eq!((text.as_str(), end.unwrap().unwrap().as_str()), ("Hé", "Hé"));
    // And a stream that calls itself JSON, and a stream where none was asked for.
    let body = format!("data: {TEXT}\n\ndata: {END}\n\n");
    let (address, _seen) = serve(Answer::Send(http("200 OK", json, &body)));
    assert_eq!(stream_of(&config(address)).await.0, "Héllo");
    let (address, _seen) = serve(Answer::Send(sse(&[TEXT, END])));
    assert_eq!(build(&config(address)).send(&request()).await.unwrap().text, "Héllo");
}

#[tokio::test]
async fn the_status_comes_before_the_body() {
    for (status, body, kind, retryable) in [
        ("401 Unauthorized", r#"{"error":{"message":"bad key sk-secret-1"}}"#, ProviderErrorKind::Auth, false),
        ("429 Too Many Requests", "", ProviderErrorKind::RateLimit, true),
        ("502 Bad Gateway", "<html><h1>502 Bad Gateway</h1></html>", ProviderErrorKind::Server, true),
        ("503 Service Unavailable", REPLY, ProviderErrorKind::Overloaded, true),
        ("404 Not Found", "nothing here", ProviderErrorKind::InvalidRequest, false),
    ] {
        let (address, _seen) = serve(Answer::Send(http(status, "retry-after: 7\r\n", body)));
        let config = config(address);
        let (text, end) = stream_of(&config).await;
        let streamed = end.unwrap().unwrap_err();
        for error in [failure_of(&config).await, streamed] {
            assert_eq!((error.kind, error.retryable), (kind, retryable), "{status}");
            assert_eq!(error.status, status[..3].parse().ok());
            assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
            assert_eq!((error.provider.as_str(), error.model.as_str()), ("custom", "m"));
            assert!(!format!("{error} {error:?}").contains("sk-secret"), "{error:?}");
        }
        assert_eq!(text, "");
    }
}

#[tokio::test]
async fn bodies_that_are_no_reply_keep_their_status() {
    for body in ["", "<html>hello</html>", "{}", "nonsense", "\u{feff}"] {
        let (address, _seen) = serve(Answer::Send(http("200 OK", "content-type: text/html\r\n", body)));
        let error = failure_of(&config(address)).await;
        assert_eq!((error.kind, error.status, error.retryable), (ProviderErrorKind::Server, Some(200), true), "{body}");
        let (_, end) = stream_of(&config(address)).await;
        assert_eq!(end.unwrap().unwrap_err().kind, ProviderErrorKind::Server, "{body}");
    }
}

#[tokio::test]
async fn a_broken_stream_keeps_its_text_and_no_reply() {
    let cut = |bytes: Vec<u8>, less: usize| bytes[..bytes.len() - less].to_vec();
    let error_event = r#"{"error":{"message":"overloaded","type":"overloaded_error"}}"#;
    for (bytes, kind) in [
        // The connection closes early, inside an event and between two; the body ends without its end; an error.
        (cut(sse(&[TEXT, END, "[DONE]"]), 30), ProviderErrorKind::Server),
        (cut(sse(&[TEXT, END]), END.len() + 8), ProviderErrorKind::Server),
        (sse(&[TEXT]), ProviderErrorKind::Server),
        (sse(&[TEXT, error_event, "[DONE]"]), ProviderErrorKind::Overloaded),
        (sse(&[TEXT, "{\"choices\":["]), ProviderErrorKind::Server),
    ] {
        let (address, _seen) = serve(Answer::Send(bytes));
        let (text, end) = stream_of(&config(address)).await;
        let error = end.unwrap().unwrap_err();
        assert_eq!((text.as_str(), error.kind, error.retryable, error.status), ("Hé", kind, true, None), "{error:?}");
    }
    let (address, _seen) = serve(Answer::Send(http("200 OK", "", REPLY)[..80].to_vec()));
    let error = failure_of(&config(address)).await;
    assert_eq!((error.kind, error.status), (ProviderErrorKind::Server, None));
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let short = Duration::from_millis(80);
    let (address, seen) = serve(Answer::Hang(Vec::new()));
    let error = failure_of(&config(address).first_byte_timeout(short)).await;
    assert_eq!((error.kind, error.retryable, error.status), (ProviderErrorKind::Timeout, true, None));
    assert!(client_leaves(seen).await);

    let head = sse(&[TEXT, END]);
    let (address, _seen) = serve(Answer::Hang(head[..head.len() - 20].to_vec()));
    let (text, end) = stream_of(&config(address).idle_timeout(short)).await;
    assert_eq!((text.as_str(), end.unwrap().unwrap_err().kind), ("Hé", ProviderErrorKind::Timeout));
    let error = failure_of(&config(address).call_timeout(short)).await;
    assert_eq!(error.kind, ProviderErrorKind::Timeout);
    // The limit on a whole call does not count for a stream.
    let (address, _seen) = serve(Answer::Drip(sse(&[TEXT, END])));
    let (_, end) = stream_of(&config(address).call_timeout(Duration::from_nanos(1))).await;
    assert!(end.unwrap().is_ok());
}

/// One thread for all: whoever reads without end must let the caller's timer run.
#[tokio::test]
async fn an_endless_answer_does_not_outlast_the_caller() {
    let json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    for (head, more) in [(json, "        "), (events, ": wait\n\n")] {
        let (address, seen) = serve(Answer::Endless(head, more));
        let started = std::time::Instant::now();
        let config = config(address);
        let streaming = stream_of(&config);
        // Either the caller's time is over, or the reply has grown past its limit before.
        let _ = tokio::time::timeout(Duration::from_millis(50), streaming).await;
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert!(client_leaves(seen).await);
    }
}

#[tokio::test]
async fn a_cut_key_is_no_key() {
    for padding in [0, 188, 190, 191] {
        let body = format!("{}sk-secret-1 is wrong {}", "z".repeat(padding), "y".repeat(400));
        let (address, _seen) = serve(Answer::Send(http("400 Bad Request", "content-type: text/plain\r\n", &body)));
        let error = failure_of(&config(address)).await;
        assert!(error.to_string().contains("[redacted]") && !error.to_string().contains("sk-secre"), "{error}");
    }
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    let (address, seen) = serve(Answer::Hang(Vec::new()));
    let (provider, request) = (build(&config(address)), request());
    let _ = tokio::time::timeout(Duration::from_millis(80), provider.send(&request)).await.unwrap_err();
    assert!(client_leaves(seen).await);
    let (address, seen) = serve(Answer::Hang(sse(&[TEXT, END])[..150].to_vec()));
    let provider = build(&config(address));
    let mut stream = provider.stream(&request);
    assert!(matches!(stream.next().await, Some(Ok(StreamPart::Text(_)))));
    drop(stream);
    assert!(client_leaves(seen).await);
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (other, other_seen) = serve(Answer::Send(http("200 OK", "", REPLY)));
    let head = format!("location: http://{other}/v1?key=sk-secret-2\r\n");
    let (address, _seen) = serve(Answer::Send(http("307 Temporary Redirect", &head, "")));
    let error = failure_of(&config(address)).await;
    assert_eq!((error.kind, error.status, error.retryable), (ProviderErrorKind::InvalidRequest, Some(307), false));
    assert!(error.message.contains(&other.to_string()) && !error.message.contains("sk-secret"), "{error}");
    assert!(other_seen.try_recv().is_err());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_without_secrets() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1?key=sk-secret-3");
    let config = ProviderConfig::parse("custom:m").base_url(url);
    let error = failure_of(&config).await;
    assert_eq!((error.kind, error.retryable, error.status), (ProviderErrorKind::Server, true, None));
    let told = format!("{error} {error:?}");
    assert!(told.contains(&port.to_string()) && !told.contains("sk-secret"), "{told}");
}

#[tokio::test]
async fn connections_are_used_again() {
    for bytes in [http("200 OK", "", REPLY), sse(&[TEXT, END, "[DONE]"])] {
        let streamed = bytes.windows(12).any(|window| window == b"event-stream");
        let (address, seen) = serve(Answer::KeepAlive(bytes));
        for _ in 0..3 {
            // A provider made anew has the same client.
            if streamed {
                assert!(stream_of(&config(address)).await.1.unwrap().is_ok());
            } else {
                build(&config(address)).send(&request()).await.unwrap();
            }
        }
        let connections = seen.try_iter().filter(|seen| matches!(seen, Seen::Connection)).count();
        assert_eq!(connections, 1, "streamed: {streamed}");
    }
}

#[tokio::test]
async fn a_proxy_gets_the_request() {
    let (proxy, seen) = serve(Answer::Send(http("200 OK", "", REPLY)));
    let config = ProviderConfig::parse("custom:m").base_url("http://nowhere.invalid/v1").proxy(format!("{proxy}"));
    assert_eq!(build(&config).send(&request()).await.unwrap().text, "Hé");
    let Seen::Request(sent) = seen.iter().nth(1).unwrap() else { panic!("no request") };
    assert!(sent.starts_with("POST http://nowhere.invalid/v1/chat/completions "), "{sent}");
}

#[tokio::test]
async fn ollama_lines_are_streamed() {
    let body = "{\"message\":{\"content\":\"H\u{e9}\"},\"done\":false}\n{\"done\":true,\"done_reason\":\"stop\"}\n";
    let bytes = http("200 OK", "content-type: application/x-ndjson\r\n", body);
    let (address, seen) = serve(Answer::Drip(bytes));
    let config = ProviderConfig::parse("ollama:m").base_url(format!("http://{address}")).api(Api::OllamaChat);
    let (text, end) = stream_of(&config).await;
    assert_eq!((text.as_str(), end.unwrap().unwrap().as_str()), ("Hé", "Hé"));
    let Seen::Request(sent) = seen.iter().nth(1).unwrap() else { panic!("no request") };
    assert!(sent.starts_with("POST /api/chat ") && sent.contains("\"stream\":true"), "{sent}");
}

#[tokio::test]
async fn text_calls_of_small_models_are_calls_in_streams_too() {
    let mut request = request();
    let schema = serde_json::value::RawValue::from_string("{\"type\":\"object\"}".into()).unwrap();
    request.tools = Arc::from([crate::provider::ToolSpec {
        name: "look".into(),
        description: "Looks.".into(),
        schema: schema.into(),
    }]);
    let piece = |text: &str, finish: &str| {
        let text = serde_json::Value::from(text);
        format!(r#"{{"choices":[{{"delta":{{"content":{text}}},"finish_reason":{finish}}}]}}"#)
    };
    for (texts, calls, told) in [
        (["<tool_call>{\"name\":", "\"look\"}</tool_call>"], 1, ""),
        (["<tool_call>{\"name\":", "\"shell\"}</tool_call>"], 0, "<tool_call>{\"name\":\"shell\"}</tool_call>"),
        (["To call, ", "write <tool_call>"], 0, "To call, write <tool_call>"),
    ] {
        let (address, _seen) = serve(Answer::Send(sse(&[&piece(texts[0], "null"), &piece(texts[1], "\"stop\"")])));
        let provider = build(&config(address).text_calls(true));
        let parts: Vec<_> = provider.stream(&request).map(Result::unwrap).collect().await;
        let text: String = parts
            .iter()
            .filter_map(|part| match part {
                StreamPart::Text(text) => Some(text.as_str()),
                StreamPart::Thinking(_) | StreamPart::Reply(_) => None,
            })
            .collect();
        let Some(StreamPart::Reply(reply)) = parts.last() else { panic!("no reply") };
        assert_eq!((reply.calls.len(), text.as_str(), reply.text.as_str()), (calls, told, told));
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn https_to_a_plain_server_is_a_connection_error() {
    let (address, _seen) = serve(Answer::Send(http("200 OK", "", REPLY)));
    let bundle = std::env::temp_dir().join(format!("cheliped-no-ca-{}.pem", std::process::id()));
    std::fs::write(&bundle, "no certificate").unwrap();
    let config = ProviderConfig::parse("custom:m").base_url(format!("https://{address}")).ca_file(&bundle);
    let error = failure_of(&config).await;
    std::fs::remove_file(&bundle).unwrap();
    assert_eq!((error.code.as_deref(), error.retryable), (Some("ca_file"), false));
}

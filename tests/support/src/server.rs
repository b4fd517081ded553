//! The server: one listener on 127.0.0.1, one task a connection, all of them gone when it is dropped.

use crate::{Answer, Ending, Request};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// A loopback HTTP/1.1 server with scripted answers. Dropping it closes every connection.
///
/// ```
/// use cheliped_test_support::{Answer, Server};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let server = Server::scripted(vec![Answer::json(200, &serde_json::json!({"text": "hello"}))]).await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// assert_eq!(server.requests().len(), 0);
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    open: watch::Receiver<usize>,
    accepting: JoinHandle<()>,
}

type Handler = Box<dyn Fn(&Request) -> Answer + Send + Sync>;

struct Shared {
    handler: Handler,
    requests: Mutex<Vec<Request>>,
    open: watch::Sender<usize>,
}

impl Server {
    /// Starts a server on a free port of 127.0.0.1 that asks `handler` for each answer.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> std::io::Result<Self> {
        Self::start_on(0, handler).await
    }

    /// Starts a server on this port of 127.0.0.1.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub async fn start_on(
        port: u16,
        handler: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let (sender, open) = watch::channel(0);
        let shared = Arc::new(Shared { handler: Box::new(handler), requests: Mutex::new(Vec::new()), open: sender });
        let accepting = tokio::spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared, open, accepting })
    }

    /// Starts a server that gives these answers, one a request in order, and status 500 when they are used up.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn scripted(answers: Vec<Answer>) -> std::io::Result<Self> {
        let answers = Mutex::new(VecDeque::from(answers));
        let next = move |_: &Request| {
            let used_up = || Answer::new(500).body("the script has no more answers");
            lock(&answers).pop_front().unwrap_or_else(used_up)
        };
        Self::start(next).await
    }

    /// Its address, for example `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// What it was asked since the last call; forgets it.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *lock(&self.shared.requests))
    }

    /// Connections that are open now.
    pub fn open_connections(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until no connection is open. Put a time limit around it.
    pub async fn all_closed(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.open.clone().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Counts a connection for as long as it lives, also when its task is aborted.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: Arc<Shared>) -> Self {
        shared.open.send_modify(|open| *open += 1);
        Self(shared)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open -= 1);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    let counted = Counted::new(shared.clone());
                    connections.spawn(async move {
                        // A peer that goes away in the middle is what many tests are about.
                        let _ = serve(socket, &counted.0).await;
                    });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(mut socket: TcpStream, shared: &Shared) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut unread = Vec::new();
    while let Some(request) = Request::read(&mut socket, &mut unread).await? {
        let answer = (shared.handler)(&request);
        lock(&shared.requests).push(request);
        let (mut reading, mut writing) = socket.split();
        tokio::select! {
            sent = send(&mut writing, &answer) => sent?,
            gone = peer_gone(&mut reading, &mut unread) => return gone,
        }
        match answer.ending {
            Ending::Clean => {}
            Ending::CloseAfter(_) => return socket.shutdown().await,
            Ending::Hang(silence) => {
                // Ends early when the peer gives up, so that the connection counts as closed.
                let _ = tokio::time::timeout(silence, peer_gone(&mut reading, &mut unread)).await;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Resolves when the peer has closed its side; what it sends until then is kept.
async fn peer_gone(socket: &mut ReadHalf<'_>, unread: &mut Vec<u8>) -> std::io::Result<()> {
    while socket.read_buf(unread).await? > 0 {}
    Ok(())
}

async fn send(socket: &mut WriteHalf<'_>, answer: &Answer) -> std::io::Result<()> {
    if !answer.delay.is_zero() {
        tokio::time::sleep(answer.delay).await;
    }
    let chunked = !answer.announces_length();
    let mut head = format!("HTTP/1.1 {} {}\r\n", answer.status, reason(answer.status));
    for (name, value) in &answer.headers {
        // Writing into a string cannot fail.
        let _ = write!(head, "{name}: {value}\r\n");
    }
    if chunked {
        head.push_str("transfer-encoding: chunked\r\n\r\n");
    } else {
        let _ = write!(head, "content-length: {}\r\n\r\n", answer.body.len());
    }
    let apart = match answer.cut {
        crate::Cut::At(_) | crate::Cut::SingleBytes => true,
        crate::Cut::Whole | crate::Cut::Chunk | crate::Cut::Events => !answer.gap.is_zero(),
    };
    let mut out = head.into_bytes();
    for (index, piece) in answer.pieces().into_iter().enumerate() {
        if index > 0 && !answer.gap.is_zero() {
            tokio::time::sleep(answer.gap).await;
        }
        if chunked {
            out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        }
        out.extend_from_slice(piece);
        if chunked {
            out.extend_from_slice(b"\r\n");
        }
        if apart {
            socket.write_all(&out).await?;
            out.clear();
            tokio::task::yield_now().await;
        }
    }
    if chunked && answer.ending == Ending::Clean {
        out.extend_from_slice(b"0\r\n\r\n");
    }
    socket.write_all(&out).await
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        _ => "Scripted",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    async fn ask(socket: &mut TcpStream, body: &str) {
        let request = format!("POST /v1?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        socket.write_all(request.as_bytes()).await.unwrap();
    }

    async fn until(socket: &mut TcpStream, end: &str) -> String {
        let mut got = Vec::new();
        while !got.ends_with(end.as_bytes()) {
            assert_ne!(socket.read_buf(&mut got).await.unwrap(), 0, "{}", String::from_utf8_lossy(&got));
        }
        String::from_utf8(got).unwrap()
    }

    #[tokio::test]
    async fn answers_in_order_on_one_connection_and_keeps_requests() {
        let answers = vec![Answer::new(200).header("x-a", "b").body("one"), Answer::sse("ab\r\n").cut_at([1])];
        let server = Server::scripted(answers).await.unwrap();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        ask(&mut socket, "first").await;
        assert_eq!(until(&mut socket, "one").await, "HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: 3\r\n\r\none");
        ask(&mut socket, "second").await;
        let got = until(&mut socket, "0\r\n\r\n").await;
        assert!(got.ends_with("\r\n\r\n1\r\na\r\n3\r\nb\r\n\r\n0\r\n\r\n"), "{got}");
        let bodies: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
        assert_eq!(bodies, [b"first".as_slice(), b"second"]);
        assert_eq!((server.requests()[0].path.as_str(), server.open_connections()), ("/v1?x=1", 1));
        drop(socket);
        server.all_closed().await;
    }

    #[tokio::test]
    async fn closes_early_and_notices_a_peer_that_leaves() {
        let hang = Answer::sse("x").hang(Duration::from_secs(3600));
        let slow = Answer::new(200).after(Duration::from_secs(3600));
        let server =
            Server::scripted(vec![Answer::new(200).body("0123456789").close_after(4), hang, slow]).await.unwrap();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        ask(&mut socket, "").await;
        let mut got = String::new();
        socket.read_to_string(&mut got).await.unwrap();
        assert!(got.ends_with("content-length: 10\r\n\r\n0123"), "{got}");
        for end in ["1\r\nx\r\n", ""] {
            let mut socket = TcpStream::connect(server.address()).await.unwrap();
            ask(&mut socket, "").await;
            until(&mut socket, end).await;
            drop(socket);
            // Would wait an hour if the server did not see that the peer left.
            server.all_closed().await;
        }
    }

    #[tokio::test]
    async fn reads_chunked_requests_and_closes_all_when_dropped() {
        let server = Server::start(|request| Answer::new(200).body(request.body.clone())).await.unwrap();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        socket
            .write_all(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
            .await
            .unwrap();
        assert!(until(&mut socket, "abcde").await.contains("content-length: 5"));
        drop(server);
        let mut rest = Vec::new();
        let _ = socket.read_to_end(&mut rest).await;
        assert!(rest.is_empty());
    }
}

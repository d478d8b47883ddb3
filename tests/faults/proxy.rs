//! A proxy in front of a test server that reads the frames of MongoDB's protocol and does to a write what a
//! bad network does: loses its reply after the server has applied it, cuts it, delays it, lets it through
//! when its sender has long given up.
//!
//! A script ([`Proxy::script`]) tells the fate of every command; [`Proxy::writes`] is how many writes to the
//! posts were seen, so that a test can assert that none went round the proxy. The URI (`Shared::uri_through`) has
//! `directConnection=true`, since the servers name their own address to a driver, and
//! `serverMonitoringMode=poll`, since a streamed `hello` has several replies to one request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// Bytes of a message's header: length, request id, answered request id, kind of message.
const HEADER_BYTES: usize = 16;
/// The kind of message that carries commands and replies.
const OP_MSG: i32 = 2013;
/// The kind of a driver's first greeting.
const OP_QUERY: i32 = 2004;
/// No message is longer.
const MESSAGE_BYTES_MAX: usize = 48_000_000 + HEADER_BYTES;

/// A command on its way to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// `update`, `find`, `hello` …
    pub name: String,
    /// The collection, where the command names one.
    pub collection: String,
    /// How many commands of this name and collection came before, from 0.
    pub number: usize,
    /// Length of the message.
    pub bytes: usize,
}

impl Command {
    /// Whether it is a batch of posts.
    pub fn is_write(&self) -> bool {
        self.name == "update" && self.collection == "posts"
    }
}

/// What befalls a command.
#[derive(Debug, Clone)]
pub enum Fate {
    /// Nothing.
    Pass,
    /// The server gets it and answers; the reply is thrown away and the connection closed.
    DropReply,
    /// The server gets the first half of it; then the connection is closed.
    Cut,
    /// The server gets nothing of it; the connection is closed.
    CloseBefore,
    /// It stays here for a while, with its sender waiting or not: it goes on in any case.
    Delay(Duration),
    /// The connection to the sender is closed at once; the server gets it when told.
    Hold(Arc<Notify>),
    /// Nothing moves on this connection any more, and it stays open.
    Freeze,
}

type Script = Box<dyn FnMut(&Command) -> Fate + Send>;

/// The proxy; it ends with this value.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: String,
    state: Mutex<State>,
    frozen: watch::Sender<bool>,
    stop: CancellationToken,
}

struct State {
    script: Script,
    seen: BTreeMap<(String, String), usize>,
    replies_dropped: usize,
}

/// A run that is stopped at one of its writes.
pub struct Stopped {
    reaches: std::sync::mpsc::Receiver<()>,
    after: bool,
}

impl Stopped {
    /// Kills the run once it is stopped. How it ended, where it ended first.
    pub fn kill(&self, run: &mut std::process::Child) -> Option<std::process::ExitStatus> {
        let ended = loop {
            if self.reaches.recv_timeout(Duration::from_millis(10)).is_ok() {
                break None;
            }
            if let Some(ended) = run.try_wait().unwrap() {
                break Some(ended);
            }
        };
        if self.after {
            // The server has it, and the run has not heard of it.
            std::thread::sleep(Duration::from_millis(60));
        }
        let _ = run.kill();
        run.wait().unwrap();
        ended
    }
}

impl Proxy {
    /// Listens on a free port and hands everything on to `upstream` (`HOST:PORT`).
    pub async fn start(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = State { script: Box::new(|_| Fate::Pass), seen: BTreeMap::new(), replies_dropped: 0 };
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            state: Mutex::new(state),
            frozen: watch::Sender::new(false),
            stop: CancellationToken::new(),
        });
        let proxy = Proxy { port, shared: Arc::clone(&shared) };
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = shared.stop.cancelled() => return,
                    accepted = listener.accept() => {
                        if let Ok((client, _)) = accepted {
                            tokio::spawn(connection(Arc::clone(&shared), client));
                        }
                    }
                }
            }
        });
        proxy
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Tells the fate of every command from now on.
    pub fn script(&self, script: impl FnMut(&Command) -> Fate + Send + 'static) {
        self.shared.state().script = Box::new(script);
    }

    /// Stops the run at its write number `at`, from 0, to any collection: before the server has it, or (`after`)
    /// once it has. Tells when that is reached; whatever the run sends from then on goes nowhere.
    pub fn stop_at_write(&self, at: usize, after: bool) -> Stopped {
        let (reached, reaches) = std::sync::mpsc::channel();
        let mut writes = 0;
        self.script(move |command| {
            let is_write = ["insert", "update", "delete"].contains(&command.name.as_str());
            writes += usize::from(is_write);
            if is_write && writes == at + 1 {
                let _ = reached.send(());
                return if after { Fate::DropReply } else { Fate::Freeze };
            }
            if writes > at { Fate::Freeze } else { Fate::Pass }
        });
        Stopped { reaches, after }
    }

    /// Lets everything pass from now on.
    pub fn calm(&self) {
        self.script(|_| Fate::Pass);
    }

    /// How many commands of a name with a collection were seen.
    pub fn seen(&self, name: &str, collection: &str) -> usize {
        let key = (name.to_owned(), collection.to_owned());
        self.shared.state().seen.get(&key).copied().unwrap_or(0)
    }

    /// How many batches of posts were seen.
    pub fn writes(&self) -> usize {
        self.seen("update", "posts")
    }

    /// How many replies were thrown away after the server had sent them.
    pub fn replies_dropped(&self) -> usize {
        self.shared.state().replies_dropped
    }

    /// Nothing moves on any connection until [`Proxy::thaw`].
    pub fn freeze(&self) {
        self.shared.frozen.send_replace(true);
    }

    /// See [`Proxy::freeze`].
    pub fn thaw(&self) {
        self.shared.frozen.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a command and asks the script.
    fn fate(&self, message: &[u8]) -> Fate {
        let Some((name, collection)) = command(message) else {
            return Fate::Pass;
        };
        let mut state = self.state();
        let count = state.seen.entry((name.clone(), collection.clone())).or_default();
        let command = Command { name, collection, number: *count, bytes: message.len() };
        *count += 1;
        (state.script)(&command)
    }

    async fn not_frozen(&self) {
        let _ = self.frozen.subscribe().wait_for(|frozen| !*frozen).await;
    }
}

/// How long a connection whose client is gone waits for the server's last replies.
const LINGER: Duration = Duration::from_secs(10);

/// One client, with a connection to the server of its own.
struct Connection {
    shared: Arc<Shared>,
    /// Requests whose replies the client never gets.
    muted: Mutex<BTreeSet<i32>>,
    /// Requests that the server has and has not answered.
    outstanding: watch::Sender<usize>,
    /// The client hears nothing more; the server goes on.
    hung_up: CancellationToken,
    /// Both sides are to be closed.
    ended: CancellationToken,
    /// Nothing moves any more.
    stuck: watch::Sender<bool>,
}

async fn connection(shared: Arc<Shared>, client: TcpStream) {
    shared.not_frozen().await;
    // A server that is down looks like one behind the proxy that is down.
    let Ok(server) = TcpStream::connect(&shared.upstream).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let connection = Arc::new(Connection {
        ended: shared.stop.child_token(),
        hung_up: CancellationToken::new(),
        shared,
        muted: Mutex::new(BTreeSet::new()),
        outstanding: watch::Sender::new(0),
        stuck: watch::Sender::new(false),
    });
    let replies = tokio::spawn(replies(Arc::clone(&connection), from_server, to_client));
    tokio::select! {
        () = connection.ended.cancelled() => {}
        () = requests(&connection, from_client, to_server) => connection.ended.cancel(),
    }
    let _ = replies.await;
}

/// Hands requests on until the client or the fate of one ends it.
async fn requests(connection: &Connection, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    while let Some(message) = read_message(&mut from).await {
        connection.move_on().await;
        match connection.shared.fate(&message) {
            Fate::Pass => {}
            Fate::DropReply => connection.mute(&message),
            Fate::Cut => {
                let _ = to.write_all(&message[..message.len() / 2]).await;
                return;
            }
            Fate::CloseBefore => return,
            Fate::Delay(time) => tokio::time::sleep(time).await,
            Fate::Hold(until) => {
                connection.hung_up.cancel();
                connection.mute(&message);
                until.notified().await;
            }
            Fate::Freeze => {
                connection.stuck.send_replace(true);
                std::future::pending::<()>().await;
            }
        }
        connection.outstanding.send_modify(|count| *count += 1);
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
    // What the server has, it may finish; a reply to nobody is no reason to stop it.
    let mut outstanding = connection.outstanding.subscribe();
    let _ = tokio::time::timeout(LINGER, outstanding.wait_for(|count| *count == 0)).await;
}

/// Hands replies on until the server ends, or one is to be dropped.
async fn replies(connection: Arc<Connection>, mut from: OwnedReadHalf, to: OwnedWriteHalf) {
    let mut to = Some(to);
    loop {
        let message = tokio::select! {
            () = connection.ended.cancelled() => return,
            () = connection.hung_up.cancelled(), if to.is_some() => {
                to = None;
                continue;
            }
            message = read_message(&mut from) => message,
        };
        let Some(message) = message else { break };
        connection.move_on().await;
        if connection.muted().remove(&answered_id(&message)) {
            connection.shared.state().replies_dropped += 1;
            break;
        }
        if let Some(client) = &mut to
            && client.write_all(&message).await.is_err()
        {
            to = None;
        }
        connection.outstanding.send_modify(|count| *count = count.saturating_sub(1));
    }
    connection.ended.cancel();
}

impl Connection {
    fn muted(&self) -> MutexGuard<'_, BTreeSet<i32>> {
        self.muted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mute(&self, message: &[u8]) {
        self.muted().insert(int32(message, 4));
    }

    /// Waits where nothing may move.
    async fn move_on(&self) {
        self.shared.not_frozen().await;
        let _ = self.stuck.subscribe().wait_for(|stuck| !*stuck).await;
    }
}

/// One whole message; `None` at the end, and for what is none.
async fn read_message(from: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    let mut message = vec![0; HEADER_BYTES];
    from.read_exact(&mut message).await.ok()?;
    let length = usize::try_from(int32(&message, 0)).ok()?;
    assert!((HEADER_BYTES..=MESSAGE_BYTES_MAX).contains(&length), "a message of {length} bytes");
    message.resize(length, 0);
    from.read_exact(&mut message[HEADER_BYTES..]).await.ok()?;
    Some(message)
}

fn answered_id(message: &[u8]) -> i32 {
    int32(message, 8)
}

fn int32(bytes: &[u8], at: usize) -> i32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, i32::from_le_bytes)
}

/// Name and collection of a command: the first element of the body section.
fn command(message: &[u8]) -> Option<(String, String)> {
    let kind = int32(message, 12);
    // Only the first greeting may be of the old kind; a compressed message would hide a write.
    assert!(kind == OP_MSG || kind == OP_QUERY, "a message of kind {kind}: no compression through the proxy");
    if kind != OP_MSG {
        return None;
    }
    let mut at = HEADER_BYTES + 4;
    loop {
        match message.get(at)? {
            0 => break,
            1 => at += 1 + usize::try_from(int32(message, at + 1)).ok()?,
            _ => return None,
        }
    }
    let element = message.get(at + 5..)?;
    let text = |bytes: &[u8]| -> Option<String> {
        let end = bytes.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    };
    let name = text(element.get(1..)?)?;
    // A string is its length in four bytes, its text and a NUL.
    let collection = match element.first()? {
        2 => text(element.get(1 + name.len() + 1 + 4..)?)?,
        _ => String::new(),
    };
    Some((name, collection))
}

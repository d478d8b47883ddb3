//! A server that speaks just enough of the protocol (OP_MSG) to say what a test tells it to: any reply, a closed
//! or a frozen socket. It stores nothing; it remembers every command that reached it.
//!
//! A test includes it with `#[path = "../common/scripted.rs"] mod scripted;`.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::collections::{HashMap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bson::{Bson, Document, doc};

/// What is done with one command.
#[derive(Debug, Clone)]
pub enum Answer {
    /// This document is sent.
    Reply(Document),
    /// The socket is closed without an answer.
    Close,
    /// Nothing is sent, and the socket stays open.
    Freeze,
    /// Waits, then does that.
    Late(Duration, Box<Answer>),
    /// Bytes that are no message.
    Garbage,
}

/// A running server. It ends with the test process.
#[derive(Clone)]
pub struct Scripted {
    port: u16,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    hello: Mutex<Document>,
    build: Mutex<Document>,
    scripts: Mutex<HashMap<String, VecDeque<Answer>>>,
    seen: Mutex<Vec<Document>>,
    arrived: Condvar,
    frozen: AtomicBool,
    connections: AtomicUsize,
}

const OP_MSG: i32 = 2013;

impl Scripted {
    /// A primary of a replica set of one, as a recent MongoDB greets.
    pub fn mongodb() -> Self {
        let server = Self::start(doc! {
            "isWritablePrimary": true, "ismaster": true, "setName": "rs0", "maxBsonObjectSize": 16_777_216,
            "maxMessageSizeBytes": 48_000_000, "maxWriteBatchSize": 100_000,
            "logicalSessionTimeoutMinutes": 30, "minWireVersion": 0, "maxWireVersion": 25, "readOnly": false,
            "ok": 1.0,
        });
        let address = server.address();
        server.state.hello.lock().unwrap().extend(doc! {
            "hosts": [&address], "me": &address, "primary": &address, "setVersion": 1,
        });
        server
    }

    /// A server that greets with this.
    pub fn start(hello: Document) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        *state.hello.lock().unwrap() = hello;
        *state.build.lock().unwrap() = doc! { "version": "8.0.4", "ok": 1.0 };
        let server = Scripted { port, state: state.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = state.clone();
                state.connections.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    let _ = state.serve(stream);
                });
            }
        });
        server
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A URI with options behind `?`.
    pub fn uri(&self, options: &str) -> String {
        format!("mongodb://{}/blog?{options}", self.address())
    }

    /// Changes the greeting.
    pub fn greet_with(&self, change: Document) {
        self.state.hello.lock().unwrap().extend(change);
    }

    /// Takes fields out of the greeting.
    pub fn greet_without(&self, fields: &[&str]) {
        let mut hello = self.state.hello.lock().unwrap();
        for field in fields {
            hello.remove(*field);
        }
    }

    /// The answer to `buildInfo`.
    pub fn build_info(&self, build: Document) {
        *self.state.build.lock().unwrap() = build;
    }

    /// Answers for the next commands of this name, in order; after them come the answers that a server without
    /// posts gives.
    pub fn on(&self, command: &str, answers: impl IntoIterator<Item = Answer>) {
        self.state.scripts.lock().unwrap().entry(command.to_owned()).or_default().extend(answers);
    }

    /// From now on nothing is answered on any socket, the monitor's included.
    pub fn freeze(&self) {
        self.state.frozen.store(true, Ordering::SeqCst);
    }

    /// How often a command of this name arrived.
    pub fn sends(&self, command: &str) -> usize {
        self.commands(command).len()
    }

    /// The commands of this name that arrived.
    pub fn commands(&self, command: &str) -> Vec<Document> {
        let seen = self.state.seen.lock().unwrap();
        seen.iter().filter(|document| name(document) == command).cloned().collect()
    }

    /// Sockets that were opened so far.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many commands of this name arrived.
    pub fn wait_for(&self, command: &str, count: usize) {
        let seen = self.state.seen.lock().unwrap();
        let enough = |seen: &mut Vec<Document>| {
            seen.iter().filter(|document| name(document) == command).count() < count
        };
        let (_seen, timeout) =
            self.state.arrived.wait_timeout_while(seen, Duration::from_secs(20), enough).unwrap();
        assert!(!timeout.timed_out(), "{count} {command} did not arrive");
    }
}

impl State {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        loop {
            let (request, command) = read_message(&mut stream)?;
            if self.frozen.load(Ordering::SeqCst) {
                return hold(stream);
            }
            let name = name(&command).to_owned();
            if !matches!(name.as_str(), "hello" | "ismaster" | "isMaster") {
                self.seen.lock().unwrap().push(command.clone());
                self.arrived.notify_all();
            }
            let mut answer = self.answer(&name, &command);
            while let Answer::Late(pause, then) = answer {
                std::thread::sleep(pause);
                answer = *then;
            }
            match answer {
                Answer::Reply(reply) => write_message(&mut stream, request, &reply)?,
                Answer::Close => return Ok(()),
                Answer::Freeze => return hold(stream),
                Answer::Garbage => {
                    stream.write_all(&[0xff; 64])?;
                    return Ok(());
                }
                Answer::Late(..) => unreachable!("taken apart above"),
            }
        }
    }

    fn answer(&self, name: &str, command: &Document) -> Answer {
        let scripted = self.scripts.lock().unwrap().get_mut(name).and_then(VecDeque::pop_front);
        if let Some(answer) = scripted {
            return answer;
        }
        Answer::Reply(match name {
            "hello" | "ismaster" | "isMaster" => self.hello.lock().unwrap().clone(),
            "buildInfo" => self.build.lock().unwrap().clone(),
            "find" | "listCollections" | "aggregate" => {
                doc! { "cursor": { "id": 0_i64, "ns": "blog.posts", "firstBatch": [] }, "ok": 1.0 }
            }
            "listIndexes" => error(26, "NamespaceNotFound", "ns does not exist"),
            "update" => {
                // As a server without posts: every upsert inserts, nothing else matches.
                let upserted: Vec<Bson> = command
                    .get_array("updates")
                    .unwrap()
                    .iter()
                    .enumerate()
                    .filter(|(_, update)| update.as_document().unwrap().get_bool("upsert").unwrap_or(false))
                    .map(|(index, update)| {
                        let id = update.as_document().unwrap().get_document("q").unwrap().get("_id").unwrap();
                        Bson::from(doc! { "index": i32::try_from(index).unwrap(), "_id": id.clone() })
                    })
                    .collect();
                doc! { "n": i32::try_from(upserted.len()).unwrap(), "nModified": 0, "upserted": upserted, "ok": 1.0 }
            }
            "insert" => doc! { "n": 1, "ok": 1.0 },
            _ => doc! { "ok": 1.0 },
        })
    }
}

/// A reply with `ok: 0`.
pub fn error(code: i32, name: &str, text: &str) -> Document {
    doc! { "ok": 0.0, "code": code, "codeName": name, "errmsg": text }
}

/// [`error`] with labels.
pub fn labelled(code: i32, text: &str, labels: &[&str]) -> Document {
    let mut reply = error(code, "", text);
    reply.insert("errorLabels", labels.iter().map(|label| Bson::from(*label)).collect::<Vec<_>>());
    reply
}

/// A port of this machine on which nobody listens.
pub fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn name(command: &Document) -> &str {
    command.keys().next().map_or("", String::as_str)
}

/// Keeps the socket open until the other side gives it up.
fn hold(mut stream: TcpStream) -> std::io::Result<()> {
    let mut rest = [0; 4096];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}

/// Reads one message: its id, and its command with the documents of its sequences.
fn read_message(stream: &mut TcpStream) -> std::io::Result<(i32, Document)> {
    let mut header = [0; 16];
    stream.read_exact(&mut header)?;
    let at = |from: usize| i32::from_le_bytes(header[from..from + 4].try_into().unwrap());
    assert_eq!(at(12), OP_MSG, "the driver speaks OP_MSG alone");
    let mut body = vec![0; usize::try_from(at(0)).unwrap() - 16];
    stream.read_exact(&mut body)?;
    let flags = u32::from_le_bytes(body[..4].try_into().unwrap());
    let end = body.len() - if flags & 1 == 1 { 4 } else { 0 };
    let mut rest = &body[4..end];
    let mut command = Document::new();
    while let Some((kind, after)) = rest.split_first() {
        let size = usize::try_from(i32::from_le_bytes(after[..4].try_into().unwrap())).unwrap();
        let section = &after[..size];
        rest = &after[size..];
        if *kind == 0 {
            let mut whole = Document::from_reader(section).unwrap();
            whole.extend(std::mem::take(&mut command));
            command = whole;
        } else {
            let name_end = 4 + section[4..].iter().position(|byte| *byte == 0).unwrap();
            let name = String::from_utf8(section[4..name_end].to_vec()).unwrap();
            let mut documents = &section[name_end + 1..];
            let mut all: Vec<Bson> = Vec::new();
            while !documents.is_empty() {
                all.push(Bson::from(Document::from_reader(&mut documents).unwrap()));
            }
            command.insert(name, all);
        }
    }
    Ok((at(4), command))
}

fn write_message(stream: &mut TcpStream, request: i32, reply: &Document) -> std::io::Result<()> {
    let body = reply.to_vec().unwrap();
    let mut message = Vec::with_capacity(body.len() + 21);
    message.extend(i32::try_from(body.len() + 21).unwrap().to_le_bytes());
    message.extend(1_i32.to_le_bytes());
    message.extend(request.to_le_bytes());
    message.extend(OP_MSG.to_le_bytes());
    message.extend(0_u32.to_le_bytes());
    message.push(0);
    message.extend(body);
    stream.write_all(&message)
}

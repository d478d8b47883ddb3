//! A proxy in front of the S3 server: it writes down every request, and does to one what a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Of the answer; 0 where none came back.
    pub status: u16,
}

/// What befalls a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Pass,
    /// The server gets nothing, the sender no answer.
    Lose,
    /// The server gets all, the sender no answer.
    LoseReply,
    /// The server gets half of the body, then nothing more.
    Cut,
    /// It is told to the test, and then it is as with `Lose`, once the sender has gone.
    Hold,
}

type Script = Box<dyn FnMut(&Request) -> Fate + Send>;

pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    held: Receiver<()>,
}

struct Shared {
    upstream: String,
    log: Mutex<Vec<Request>>,
    script: Mutex<Script>,
    holds: Mutex<Sender<()>>,
}

impl Proxy {
    pub fn start(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (holds, held) = channel();
        let shared = Arc::new(Shared {
            upstream: upstream.to_owned(),
            log: Mutex::default(),
            script: Mutex::new(Box::new(|_| Fate::Pass)),
            holds: Mutex::new(holds),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&serving);
                // A connection that breaks is what these tests are about.
                std::thread::spawn(move || connection(&shared, stream));
            }
        });
        Proxy { port, shared, held }
    }

    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn script(&self, script: impl FnMut(&Request) -> Fate + Send + 'static) {
        *self.shared.script.lock().unwrap() = Box::new(script);
    }

    /// Waits until a request is held.
    pub fn wait_for_hold(&self) {
        self.held.recv_timeout(std::time::Duration::from_secs(60)).expect("a request is held");
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.log.lock().unwrap().clone()
    }

    /// Requests that would make an object: single uploads, and ends of uploads in parts.
    pub fn uploads(&self) -> usize {
        let all = self.requests();
        all.iter().filter(|one| is_upload(one)).count()
    }
}

/// Whether a request makes an object.
pub fn is_upload(one: &Request) -> bool {
    let whole = one.method == "PUT" && !one.path.contains("partNumber=");
    whole || (one.method == "POST" && one.path.contains("uploadId="))
}

fn connection(shared: &Shared, client: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut head = Vec::new();
    let (mut length, mut first) = (0_usize, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.to_lowercase();
        if first.is_empty() {
            first.clone_from(&line);
        }
        if let Some(text) = lower.strip_prefix("content-length:") {
            length = text.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            head.extend_from_slice(b"Connection: close\r\n\r\n");
            break;
        }
        if !lower.starts_with("connection:") {
            head.extend_from_slice(line.as_bytes());
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut words = first.split(' ');
    let mut request = Request { method: words.next()?.to_owned(), path: words.next()?.to_owned(), status: 0 };
    let fate = (shared.script.lock().unwrap())(&request);
    let number = {
        let mut log = shared.log.lock().unwrap();
        log.push(request.clone());
        log.len() - 1
    };
    match fate {
        Fate::Lose => return client.shutdown(Shutdown::Both).ok(),
        Fate::Hold => {
            shared.holds.lock().unwrap().send(()).ok()?;
            // Until the sender has gone.
            let _ = reader.read(&mut [0; 1]);
            return None;
        }
        Fate::Pass | Fate::LoseReply | Fate::Cut => {}
    }
    let mut upstream = TcpStream::connect(&shared.upstream).ok()?;
    upstream.write_all(&head).ok()?;
    if fate == Fate::Cut {
        upstream.write_all(&body[..length / 2]).ok()?;
        upstream.shutdown(Shutdown::Both).ok()?;
        return client.shutdown(Shutdown::Both).ok();
    }
    upstream.write_all(&body).ok()?;
    let mut reply = Vec::new();
    upstream.read_to_end(&mut reply).ok()?;
    let status = String::from_utf8_lossy(&reply[..reply.len().min(20)]).split(' ').nth(1)?.parse().ok()?;
    request.status = status;
    shared.log.lock().unwrap()[number] = request;
    if fate == Fate::LoseReply {
        return client.shutdown(Shutdown::Both).ok();
    }
    let mut client = client;
    client.write_all(&reply).ok()?;
    client.shutdown(Shutdown::Both).ok()
}

//! An S3 that really answers, in a process of its own: moto's server, which `scripts/servers` installs.
//!
//! It ends with the process that started it. Where it is not installed, the test fails and says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::server;

/// How long the server may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// Runs it as its child and kills it when its own input ends.
const KEEPER: &str = "log=$1; shift; \"$@\" >\"$log\" 2>&1 </dev/null & server=$!; echo started; exec >/dev/null; \
                      read -r word; kill -9 \"$server\"; wait \"$server\"; rm -f \"$log\"";

/// The server looks whether there is a signature, and not at it.
const AUTHORIZATION: &str = "Authorization: AWS4-HMAC-SHA256 Credential=test/20300101/us-east-1/s3/aws4_request, \
                             SignedHeaders=host, Signature=0";

/// A server with one bucket, `assets`.
pub struct Objects {
    port: u16,
    _keeper: Child,
}

/// The server that the tests of this binary share; each takes a prefix of its own.
pub fn shared() -> &'static Objects {
    static SERVER: OnceLock<Objects> = OnceLock::new();
    SERVER.get_or_init(Objects::start)
}

impl Objects {
    fn start() -> Self {
        let program = program();
        let log = std::env::temp_dir().join(format!("s3-{}", server::database_name()));
        let mut command = Command::new("sh");
        command.arg("-c").arg(KEEPER).arg("keeper").arg(&log).arg(program);
        command.args(["-H", "127.0.0.1", "-p", "0"]).current_dir(std::env::temp_dir());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut keeper = command.spawn().expect("sh is there");
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started = Instant::now();
        let port = loop {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let port = text.split("Running on http://127.0.0.1:").nth(1);
            if let Some(port) = port.and_then(|rest| rest.lines().next()?.trim().parse().ok()) {
                break port;
            }
            assert!(started.elapsed() < START_TIMEOUT, "the S3 server does not listen; it said:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        };
        let objects = Objects { port, _keeper: keeper };
        let made = objects.request("PUT", "/assets", &[]);
        assert_eq!(made.status, 200, "the bucket");
        objects
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// One object of the bucket, as a reader gets it.
    pub fn get(&self, key: &str) -> Option<Reply> {
        let reply = self.request("GET", &format!("/assets/{key}"), &[]);
        match reply.status {
            200 => Some(reply),
            404 => None,
            status => panic!("GET {key}: {status}"),
        }
    }

    /// Deletes an object, past everybody.
    pub fn delete(&self, key: &str) {
        assert_eq!(self.request("DELETE", &format!("/assets/{key}"), &[]).status, 204);
    }

    /// Puts an object, past everybody.
    pub fn put(&self, key: &str, body: &[u8]) {
        assert_eq!(self.request("PUT", &format!("/assets/{key}"), body).status, 200);
    }

    fn request(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{AUTHORIZATION}\r\n\r\n",
            self.address()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|window| window == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8_lossy(&all[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_lowercase(), body: all[end..].to_vec() }
    }
}

/// What the server answered.
pub struct Reply {
    pub status: u16,
    /// In lower case.
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

fn program() -> PathBuf {
    let home = server::installed();
    let program = home.join("s3");
    assert!(
        program.exists() && home.join("moto-5.2.1").exists(),
        "the S3 server is not installed below {}: run scripts/servers (it wants Python 3)",
        home.display()
    );
    program
}

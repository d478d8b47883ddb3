//! Test servers: separate processes that speak MongoDB's protocol over a real socket.
//!
//! [`shared`] is one server for all tests of a binary, or the one that `IDEMPOST_TEST_URI` names;
//! [`Server::start`] is one of its own, for tests that kill it or need its switches. A server that is not
//! installed fails the test and says how to install it; nothing is ever skipped. A server ends with the
//! process that started it, also when that is killed.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use mongodb::Client;
use mongodb::bson::doc;
use tempfile::TempDir;

/// Names a server that takes the place of the shared one.
pub const URI_VARIABLE: &str = "IDEMPOST_TEST_URI";
/// Names a program to start in place of the installed server; it takes the same switches.
pub const PROGRAM_VARIABLE: &str = "IDEMPOST_TEST_SERVER";
/// Below `target/test-servers`; in step with `scripts/servers`.
const INSTALLED: &str = "secantusdb-0.7.0b3";
/// How long a server may take to listen.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// How long it may take to end when asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the server as its child, tells its process id, and kills it when its own input ends: then the
/// process that started it has ended too, or wants it. `keep` leaves the files for a restart.
const KEEPER: &str = r#"
folder=$1; log=$2; shift 2
"$@" >>"$log" 2>&1 </dev/null &
server=$!
echo "$server"
exec >/dev/null
read -r word || word=
kill -9 "$server"
wait "$server"
[ "$word" = keep ] || rm -rf "$folder"
"#;

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Users, each with name, password and role; with any, nobody else gets in.
    pub users: Vec<User>,
    /// Acknowledged writes survive a `kill -9`.
    pub sync_on_commit: bool,
    /// `configureFailPoint` works.
    pub test_commands: bool,
}

/// A user of the database `admin`.
#[derive(Debug, Clone)]
pub struct User {
    pub name: &'static str,
    pub password: &'static str,
    /// A role on all databases: `root`, `readWriteAnyDatabase`, `readAnyDatabase`.
    pub role: &'static str,
}

/// A server of this test's own.
pub struct Server {
    port: u16,
    options: Options,
    folder: TempDir,
    process: Mutex<Option<Process>>,
}

struct Process {
    id: u32,
    keeper: Child,
    orders: Option<ChildStdin>,
}

impl Server {
    /// Starts one on a free port and waits until it listens.
    pub fn start(options: Options) -> Self {
        let folder = tempfile::Builder::new().prefix("idempost-server-").tempdir().unwrap();
        let auth = !options.users.is_empty();
        let (process, port) = launch(folder.path(), &options, 0, false);
        let server = Server { port, options, folder, process: Mutex::new(Some(process)) };
        if auth {
            server.create_users();
            server.terminate();
            server.restart();
        }
        server
    }

    /// `127.0.0.1:PORT`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The URI of a database, as anybody.
    pub fn uri(&self, database: &str) -> String {
        format!("mongodb://{}/{database}?directConnection=true", self.address())
    }

    /// The URI of a database, as a user.
    pub fn uri_as(&self, user: &str, password: &str, database: &str) -> String {
        let address = self.address();
        format!("mongodb://{user}:{password}@{address}/{database}?authSource=admin&directConnection=true")
    }

    /// `kill -9`.
    pub fn kill(&self) {
        if let Some(process) = self.lock().take() {
            process.kill(true);
        }
    }

    /// Asks it to end and waits for that.
    pub fn terminate(&self) {
        let Some(mut process) = self.lock().take() else { return };
        signal(process.id, "-TERM");
        let started = Instant::now();
        while is_listening(self.port) && started.elapsed() < STOP_TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
        }
        // The port is closed before the last files are written; the keeper's child is then a moment late.
        while is_alive(process.id) && started.elapsed() < STOP_TIMEOUT {
            std::thread::sleep(Duration::from_millis(20));
            let _ = process.keeper.try_wait();
        }
        process.kill(true);
    }

    /// Starts it again on its files and its port.
    pub fn restart(&self) {
        let mut process = self.lock();
        assert!(process.is_none(), "it is running");
        let auth = !self.options.users.is_empty();
        *process = Some(launch(self.folder.path(), &self.options, self.port, auth).0);
    }

    /// Stops it in the middle of what it does, and lets it go on.
    pub fn freeze(&self) {
        self.lock().as_ref().inspect(|process| signal(process.id, "-STOP"));
    }

    /// See [`Server::freeze`].
    pub fn thaw(&self) {
        self.lock().as_ref().inspect(|process| signal(process.id, "-CONT"));
    }

    fn create_users(&self) {
        let uri = self.uri("admin");
        let users = self.options.users.clone();
        blocking(async move {
            let admin = Client::with_uri_str(&uri).await.unwrap().database("admin");
            for user in users {
                let command = doc! {
                    "createUser": user.name,
                    "pwd": user.password,
                    "roles": [{ "role": user.role, "db": "admin" }],
                };
                admin.run_command(command).await.unwrap();
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = self.lock().take() {
            process.kill(false);
        }
    }
}

impl Process {
    fn kill(mut self, keep: bool) {
        if let Some(mut orders) = self.orders.take() {
            // It may have ended by itself.
            let _ = orders.write_all(if keep { b"keep\n" } else { b"\n" });
        }
        let _ = self.keeper.wait();
    }
}

/// Where tests without demands on the server write.
pub struct Shared {
    uri: String,
}

impl Shared {
    /// The URI of a database of its own for the caller.
    pub fn new_database(&self) -> (String, String) {
        let name = database_name();
        (uri_of_database(&self.uri, &name), name)
    }

    /// The URI of a database.
    pub fn uri(&self, database: &str) -> String {
        uri_of_database(&self.uri, database)
    }

    /// `HOST:PORT`, for a proxy in front of it; `None` where none can be: of several hosts a driver takes its own
    /// choice, and with TLS a proxy sees no commands.
    pub fn address(&self) -> Option<String> {
        let (scheme, rest) = self.uri.split_once("://")?;
        let (before, options) = rest.split_once('?').unwrap_or((rest, ""));
        let hosts = before.split('/').next()?;
        let host = hosts.rsplit('@').next()?;
        let secret = options.split('&').any(|option| {
            let option = option.to_ascii_lowercase();
            option == "tls=true" || option == "ssl=true"
        });
        if scheme != "mongodb" || host.contains(',') || secret {
            return None;
        }
        Some(if host.contains(':') { host.to_owned() } else { format!("{host}:27017") })
    }

    /// The URI of a database by way of a proxy at `address`: with the user and the options of the server's own,
    /// and with those that keep a driver from going round the proxy.
    pub fn uri_through(&self, address: &str, database: &str) -> String {
        let (before, options) = self.uri.split_once('?').unwrap_or((&self.uri, ""));
        let user = before.rsplit_once('@').map_or("", |(user, _)| user).trim_start_matches("mongodb://");
        let at = if user.is_empty() { "" } else { "@" };
        let mut uri = format!(
            "mongodb://{user}{at}{address}/{database}?directConnection=true&serverMonitoringMode=poll"
        );
        for option in options.split('&') {
            let name = option.split('=').next().unwrap_or("").to_ascii_lowercase();
            if !["", "directconnection", "servermonitoringmode", "replicaset"].contains(&name.as_str()) {
                uri = format!("{uri}&{option}");
            }
        }
        uri
    }
}

/// The server that stands behind a proxy: the shared one, or, where no proxy can be in front of that, one of the
/// binary's own.
pub fn proxied() -> &'static Shared {
    static OWN: OnceLock<(Shared, Server)> = OnceLock::new();
    let given = shared();
    if given.address().is_some() {
        return given;
    }
    &OWN.get_or_init(|| {
        let server = Server::start(Options::default());
        (Shared { uri: server.uri("") }, server)
    })
    .0
}

/// The server that the tests of this binary share: started at the first call, or named by
/// [`URI_VARIABLE`].
pub fn shared() -> &'static Shared {
    static SERVER: OnceLock<(Shared, Option<Server>)> = OnceLock::new();
    &SERVER
        .get_or_init(|| match std::env::var(URI_VARIABLE) {
            Ok(uri) if !uri.is_empty() => (Shared { uri }, None),
            _ => {
                let server = Server::start(Options::default());
                (Shared { uri: server.uri("") }, Some(server))
            }
        })
        .0
}

/// A name that no other test and no other process uses.
pub fn database_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    format!("idempost_test_{}_{}_{count}", std::process::id(), now.subsec_nanos())
}

/// `uri` with another database.
pub fn uri_of_database(uri: &str, database: &str) -> String {
    let (scheme, rest) = uri.split_once("://").expect("a MongoDB URI");
    let (hosts, options) = rest.split_once('?').unwrap_or((rest, ""));
    let hosts = hosts.split('/').next().unwrap_or(hosts);
    let question = if options.is_empty() { "" } else { "?" };
    format!("{scheme}://{hosts}/{database}{question}{options}")
}

/// Runs a future from code that is not asynchronous, or that already is, on a runtime of its own.
pub fn blocking<T: Send>(future: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|scope| {
        let run =
            || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
        scope.spawn(run).join().unwrap()
    })
}

/// Where `scripts/servers` installs.
pub fn installed() -> PathBuf {
    let root = match std::env::var_os("IDEMPOST_TEST_SERVERS") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-servers"),
    };
    root.join(INSTALLED)
}

/// The server's program.
fn program() -> PathBuf {
    if let Some(program) = std::env::var_os(PROGRAM_VARIABLE) {
        return PathBuf::from(program);
    }
    let home = installed();
    assert!(
        home.join("complete").exists(),
        "the test server is not installed in {}: run scripts/servers (it wants Python 3 and needs some \
         seconds), or name a server in {URI_VARIABLE}",
        home.display()
    );
    home.join("secantusd")
}

/// Starts the server on a port (0: a free one) and waits until it listens; the port.
fn launch(folder: &Path, options: &Options, port: u16, auth: bool) -> (Process, u16) {
    let program = program();
    let settings = folder.join("empty.toml");
    std::fs::write(&settings, "").unwrap();
    let log = folder.join(format!("log-{}", database_name()));
    let mut command = Command::new("sh");
    command.arg("-c").arg(KEEPER).arg("keeper").arg(folder).arg(&log).arg(program);
    command.arg("--config").arg(&settings).args(["--host", "127.0.0.1", "--cache-size", "128M"]);
    command.arg("--port").arg(port.to_string()).arg("--storage-path").arg(folder.join("data"));
    let switches = [
        (auth, "--auth"),
        (options.sync_on_commit, "--sync-on-commit"),
        (options.test_commands, "--enable-test-commands"),
    ];
    command.args(switches.iter().filter(|(on, _)| *on).map(|(_, switch)| switch));
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // A signal from the terminal goes to the tests, and they end it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut keeper = command.spawn().expect("sh is there");
    let mut line = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let id = line.trim().parse().expect("the keeper tells the process id");
    let orders = keeper.stdin.take();
    let process = Process { id, keeper, orders };

    let started = Instant::now();
    while started.elapsed() < START_TIMEOUT {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        if let Some(port) = listening_port(&text)
            && is_listening(port)
        {
            return (process, port);
        }
        std::thread::sleep(Duration::from_millis(20));
        if !is_alive(id) {
            break;
        }
    }
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    process.kill(false);
    panic!("the test server ended, or did not listen within {} s; it said:\n{text}", START_TIMEOUT.as_secs());
}

/// The port in the line that the server writes when it is ready.
fn listening_port(log: &str) -> Option<u16> {
    let (_, rest) = log.split_once("listening on 127.0.0.1:")?;
    let (digits, _) = rest.split_once('\n')?;
    digits.trim().parse().ok()
}

fn is_listening(port: u16) -> bool {
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
    std::net::TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
}

fn signal(id: u32, signal: &str) {
    let _ = Command::new("kill").arg(signal).arg(id.to_string()).stderr(Stdio::null()).status();
}

fn is_alive(id: u32) -> bool {
    // A process that has ended and is not yet reaped by the keeper counts as ended.
    let output = Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output();
    output.is_ok_and(|output| {
        let state = String::from_utf8_lossy(&output.stdout);
        !state.trim().is_empty() && !state.trim().starts_with('Z')
    })
}

//! A PostgreSQL server of the tests' own, in a temporary folder, reached by a socket in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use howslow_store::{Address, Store};
use tempfile::TempDir;

/// The user's password. It must never be seen in a message.
pub const PASSWORD: &str = "s3cr3t-of-the-test";

/// A running server; it ends with this value.
pub struct Server {
    folder: TempDir,
    process: Option<Child>,
    port: Option<u16>,
}

/// The folder of the server's programs, which Debian does not put into the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    folders.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// The server refuses to run as root.
fn as_user(program: &Path) -> Command {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

impl Server {
    /// Starts one. `None`, and a word on it, where there is no PostgreSQL.
    pub fn start() -> Option<Server> {
        let Some(programs) = programs() else {
            testing::not_tested!("PostgreSQL is not installed; apt-get install postgresql");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("howslow-pg-").tempdir().expect("a folder");
        std::fs::write(folder.path().join("password"), PASSWORD).expect("written");
        let _ = Command::new("chown").arg("-R").arg("postgres").arg(folder.path()).status();
        let mut made = as_user(&programs.join("initdb"));
        made.args(["--no-sync", "-A", "scram-sha-256", "-U", "howslow", "-D"]).arg(folder.path().join("data"));
        made.arg("--pwfile").arg(folder.path().join("password")).current_dir(folder.path());
        let made = made.output().expect("initdb runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut server = Server { folder, process: None, port: None };
        server.run();
        Some(server)
    }

    /// Starts the program, and waits until it answers.
    pub fn run(&mut self) {
        let folder = self.folder.path();
        let log = std::fs::File::create(folder.join("log")).expect("a log");
        let mut command = as_user(&programs().expect("programs").join("postgres"));
        command.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        command.args(["-c", "max_connections=60"]).current_dir(folder);
        if self.port.is_none() {
            command.args(["-c", "listen_addresses="]);
        }
        self.process = Some(command.stdout(Stdio::null()).stderr(log).spawn().expect("postgres runs"));
        let begin = Instant::now();
        while self.psql("postgres", "SELECT 1").is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts it again so that it also listens on this port of this machine, with the key and certificate of a folder.
    pub fn listen(&mut self, port: u16, keys: Option<&Path>) {
        self.kill();
        let data = self.folder.path().join("data");
        let mut settings = format!("listen_addresses = '127.0.0.1'\nport = {port}\n");
        if let Some(keys) = keys {
            settings += "ssl = on\n";
            for name in ["server.key", "server.crt"] {
                std::fs::copy(keys.join(name), data.join(name)).expect("copied");
            }
            let script = "chown postgres server.key server.crt; chmod 600 server.key";
            let _ = Command::new("sh").args(["-c", script]).current_dir(&data).status();
        }
        std::fs::write(data.join("postgresql.auto.conf"), settings).expect("written");
        self.port = Some(port);
        self.run();
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Kills it, as a crash of its machine would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("killed");
            process.wait().expect("ended");
        }
    }

    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        let port = self.port.map_or(String::new(), |port| format!(":{port}"));
        format!("postgres://howslow:{PASSWORD}@{folder}{port}/{database}")
    }

    /// A new database, and a store in it whose files wait in this folder.
    pub fn store(&self, database: &str, folder: &Path) -> Store {
        self.query("postgres", &format!("CREATE DATABASE {database}"));
        Store::in_folder(folder).at(Address::parse(&self.url(database)).expect("an address"))
    }

    /// The answer of the server's own client to a statement: rows in lines, columns separated by `|`.
    pub fn query(&self, database: &str, statement: &str) -> String {
        self.psql(database, statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    fn psql(&self, database: &str, statement: &str) -> Result<String, String> {
        let mut client = Command::new(programs().expect("programs").join("psql"));
        client.args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "-c", statement]).arg(self.url(database));
        let answer = client.output().expect("psql runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if answer.status.success() { Ok(text(&answer.stdout)) } else { Err(text(&answer.stderr)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGINT: it ends its connections and then itself.
        let Some(mut process) = self.process.take() else { return };
        let _ = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
        let _ = process.wait();
    }
}

//! `packaging/install.sh` against a release on a server of this test's own: what it installs, what it refuses, and that a failure
//! leaves nothing.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::folder;

/// A release whose program prints a version, and the folder that it is installed into.
struct Release {
    folder: TempDir,
    archive: String,
}

impl Release {
    fn new() -> Release {
        let folder = folder();
        let name = format!("howslow-9.9.9-{}-unknown-linux-musl", std::env::consts::ARCH);
        let archive = format!("{name}.tar.gz");
        let script = format!(
            "mkdir -p {name}/man/man1 {name}/completions release home && cd {name} && printf '#!/bin/sh\necho howslow 9.9.9\n' > howslow \
             && chmod +x howslow && touch completions/howslow completions/_howslow completions/howslow.fish \
             && head -c 200000 /dev/urandom > man/man1/howslow.1 && cd .. && tar -czf release/{archive} {name} \
             && cd release && sha256sum {archive} > SHA256SUMS"
        );
        let made = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("a shell");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Release { folder, archive }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes that a server would answer with.
    fn files(&self) -> HashMap<String, Vec<u8>> {
        let file = |name: &str| (format!("/{name}"), fs::read(self.path("release").join(name)).expect("a file"));
        [file(&self.archive), file("SHA256SUMS")].into()
    }

    fn command(&self, from: &str, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.arg(installer()).args(words).env("HOWSLOW_FROM", from).env("HOWSLOW_PREFIX", self.path("home"));
        command.env_remove("http_proxy").env("TMPDIR", self.folder.path());
        command
    }

    /// Installs from this server or folder.
    fn install(&self, from: &str) -> Output {
        self.command(from, &[]).output().expect("a shell")
    }

    /// Installing from there fails with this in its message, and leaves nothing.
    fn refuses(&self, from: &str, why: &str) {
        let output = self.install(from);
        assert_failed(&output, why);
        assert_eq!(installed(&self.path("home")), [""; 0], "{why}");
    }
}

fn installer() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/install.sh")
}

/// It failed, and one line gives the reason and what to do.
fn assert_failed(output: &Output, why: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_one_line = errors.lines().count() == 1 && errors.starts_with("howslow: ");
    assert!(!output.status.success() && is_one_line && errors.contains(why), "{why}: {errors}");
}

fn installed(folder: &Path) -> Vec<String> {
    let found = Command::new("find").arg(folder).args(["-type", "f", "-printf", "%P\n"]).output().expect("find");
    let mut files: Vec<String> = String::from_utf8_lossy(&found.stdout).lines().map(String::from).collect();
    files.sort();
    files
}

/// Serves these files, as often as they are requested, while the test runs. Any other path is not found.
fn serve(files: HashMap<String, Vec<u8>>) -> String {
    serve_short_by(0, files)
}

/// The same, and each answer ends this many bytes before the length that it gives, as a connection that breaks.
fn serve_short_by(missing: usize, files: HashMap<String, Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let _ = reader.read_line(&mut request);
            let path = request.split(' ').nth(1).unwrap_or_default();
            let (status, bytes) = match files.get(path).or_else(|| files.get("*")) {
                Some(bytes) => ("200 OK", bytes.as_slice()),
                None => ("404 Not Found", &b"no such file"[..]),
            };
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
                line.clear();
            }
            let length = bytes.len() + missing;
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(bytes));
        }
    });
    format!("http://{address}")
}

#[test]
fn a_release_is_installed_upgraded_and_removed() {
    let release = Release::new();
    let home = release.path("home");
    fs::create_dir(home.join("bin")).expect("a folder");
    fs::write(home.join("bin/howslow"), "#!/bin/sh\necho howslow 0.0.1\n").expect("a file");
    fs::set_permissions(home.join("bin/howslow"), fs::Permissions::from_mode(0o755)).expect("our file");
    let server = serve(release.files());
    let output = release.install(&server);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        text.contains("howslow 9.9.9") && text.contains("it replaces howslow 0.0.1") && text.contains("PATH"),
        "{text}"
    );
    let all = [
        "bin/howslow",
        "share/bash-completion/completions/howslow",
        "share/fish/vendor_completions.d/howslow.fish",
        "share/howslow/installed",
        "share/man/man1/howslow.1",
        "share/zsh/site-functions/_howslow",
    ];
    assert_eq!(installed(&home), all);
    // An older version had a page that this one has not.
    let list = home.join("share/howslow/installed");
    let older = fs::read_to_string(&list).expect("a list") + "share/man/man1/howslow-old.1\n";
    fs::write(&list, older).expect("our file");
    fs::write(home.join("share/man/man1/howslow-old.1"), "").expect("a file");
    assert!(release.install(&server).status.success());
    assert_eq!(installed(&home), all);
    let removed = release.command("", &["--remove"]).output().expect("a shell");
    assert!(removed.status.success() && installed(&home).is_empty(), "{:?}", installed(&home));
    assert_failed(&release.command("", &["--remove"]).output().expect("a shell"), "nothing that this installer");
}

#[test]
fn what_is_not_the_release_is_refused_and_nothing_is_left() {
    let release = Release::new();
    let whole = release.files();
    let name = format!("/{}", release.archive);
    let with = |path: &str, bytes: &[u8]| {
        serve(whole.clone().into_iter().chain([(path.to_owned(), bytes.to_vec())]).collect())
    };
    let archive = &whole[&name];
    release.refuses(&with(&name, &archive[..archive.len() / 2]), "its SHA-256 differs");
    release.refuses(&with(&name, b"<html>"), "its SHA-256 differs");
    release.refuses(&serve([("*".to_owned(), b"<html>Log in</html>".to_vec())].into()), "is no list of sums");
    release.refuses(&serve_short_by(1, whole.clone()), "cannot get");
    release.refuses(&serve(HashMap::new()), "cannot get");
    // Nobody listens there, as without a network.
    release.refuses("http://127.0.0.1:1", "cannot get");
    release.refuses(&release.path("nowhere").display().to_string(), "cannot get");
    let other = release.command("", &["--update"]).output().expect("a shell");
    assert_failed(&other, "unknown argument");
}

#[test]
fn a_place_that_takes_nothing_is_named_and_keeps_what_it_had() {
    let release = Release::new();
    let from = release.path("release").display().to_string();
    // A file where a folder has to be is as bad as a folder that may not be written, for root too.
    fs::write(release.path("home/share"), "mine").expect("a file");
    assert_failed(&release.install(&from), "make room, or set HOWSLOW_PREFIX");
    assert_eq!(installed(&release.path("home")), ["share"]);
    fs::remove_file(release.path("home/share")).expect("our file");
    // The page is larger than this file system.
    let home = release.path("home").display().to_string();
    let script = format!(
        "mount -t tmpfs -o size=100k none '{home}' && {{ sh \"$0\"; echo \"$? $(find '{home}' -type f | wc -l)\"; }}"
    );
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).arg(installer());
    for full in ["HOWSLOW_PREFIX", "TMPDIR"] {
        command.env("HOWSLOW_PREFIX", release.path("other")).env("TMPDIR", release.folder.path());
        let output = command.env("HOWSLOW_FROM", &from).env(full, &home).output().expect("unshare");
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            testing::not_tested!("no file system can be mounted in a namespace of this user: {errors}; run as root");
            return;
        }
        let why = if full == "TMPDIR" { "Set TMPDIR to another folder" } else { "No space left" };
        assert!(errors.contains(why) && errors.contains("Nothing was installed"), "{full}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{full}: {errors}");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1 0", "{full}");
        assert!(!release.path("other").exists(), "{full}");
    }
}

#[test]
fn a_folder_that_this_user_may_not_write_is_one_line() {
    let release = Release::new();
    let home = release.path("home");
    fs::set_permissions(release.folder.path(), fs::Permissions::from_mode(0o755)).expect("our folder");
    fs::set_permissions(&home, fs::Permissions::from_mode(0o555)).expect("our folder");
    let from = release.path("release").display().to_string();
    // Root may write everywhere, so that another user has to try.
    let nobody = &["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-s"][..];
    let words = if rustix::process::getuid().is_root() { nobody } else { &["sh", "-s"] };
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("HOWSLOW_FROM", &from).env("HOWSLOW_PREFIX", &home).env("TMPDIR", "/tmp");
    // It may not read the sources either.
    let script = fs::File::open(installer()).expect("the installer");
    let output = command.stdin(script).output().expect("a shell");
    assert_failed(&output, "or set HOWSLOW_PREFIX to another folder. Nothing was installed");
    assert_eq!(installed(&home), [""; 0]);
}

/// As on Alpine, whose shell and tools are busybox, whose C library is musl, and which has no curl.
#[test]
fn busybox_alone_installs() {
    let release = Release::new();
    let tools = release.path("tools");
    fs::create_dir(&tools).expect("a folder");
    let made = Command::new("busybox").args(["--install", "-s"]).arg(&tools).status();
    if !made.is_ok_and(|status| status.success()) {
        testing::not_tested!("there is no busybox; apt-get install busybox-static");
        return;
    }
    for server in [serve(release.files()), release.path("release").display().to_string()] {
        let mut installer = release.command(&server, &[]);
        let output = installer.env("PATH", &tools).output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(installed(&release.path("home")).len(), 6);
    }
    let mut installer = release.command("http://127.0.0.1:1", &[]);
    assert_failed(&installer.env("PATH", &tools).output().expect("a shell"), "cannot get");
}

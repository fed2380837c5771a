//! A PostgreSQL server that falls silent, and one that encrypts: no run is lost, nothing hangs, nothing is sent in the open.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use howslow_store::{Address, Store};

use crate::server::{PASSWORD, Server};
use crate::store::example;

fn store(folder: &Path, url: &str) -> Store {
    Store::in_folder(folder).at(Address::parse(url).expect("an address"))
}

/// The documents in all folders in which runs wait.
fn waiting(folder: &Path) -> usize {
    let folders = std::fs::read_dir(folder.join("waiting")).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
}

/// Keeps a run at a server that sends this and nothing more. Returns the warning, and how many runs waited when it connected.
fn kept_at(stated: &'static [u8], options: &str) -> (String, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("postgres://ann@{}/costs?sslmode=disable&{options}", listener.local_addr().expect("a port"));
    let place = folder.path().to_path_buf();
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().expect("a connection");
        let waited = waiting(&place);
        connection.write_all(stated).expect("said");
        // Until the other side gives up.
        let _ = connection.read_to_end(&mut Vec::new());
        waited
    });
    let store = store(folder.path(), &url);
    let kept = store.keep(&example("kept", "2026-01-03T00:00:00Z")).expect("kept in a file");
    assert_eq!(howslow_store::open_file(Path::new(&kept.place)).expect("a run").id, "kept");
    (kept.warning.expect("why"), server.join().expect("the server"))
}

#[test]
fn a_run_is_in_a_file_before_a_silent_server_is_contacted() {
    let (warning, waited) = kept_at(b"", "connect_timeout=1");
    assert!(warning.contains("did not answer within 1 s"), "{warning}");
    assert_eq!(waited, 1);
    // It accepts the user, is ready for a statement, and answers none.
    let ready = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
    let (warning, waited) = kept_at(ready, "tcp_user_timeout=300");
    assert!(warning.contains("did not answer within 0.3 s"), "{warning}");
    assert_eq!(waited, 1);
}

#[test]
fn a_second_host_is_tried_if_the_first_is_silent() {
    let [silent, other] = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
    let [first, second] = [&silent, &other].map(|listener| listener.local_addr().expect("a port"));
    let server = std::thread::spawn(move || {
        let (mut connection, _) = other.accept().expect("a connection");
        // As a server that is being shut down says it.
        connection.write_all(b"E\0\0\0\x1cSFATAL\0C57P03\0Mclosing\0\0").expect("said");
        let _ = connection.read_to_end(&mut Vec::new());
    });
    let folder = tempfile::tempdir().expect("a folder");
    let url = format!("postgres://ann@{first},{second}/costs?sslmode=disable&connect_timeout=1");
    let reported = store(folder.path(), &url).list().expect_err("no store").to_string();
    assert!(reported.contains("closing"), "{reported}");
    server.join().expect("the server");
}

#[test]
fn a_run_that_waits_for_one_database_never_goes_into_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let urls =
        ["postgres://u@127.0.0.1:1/a_b", "postgres://u@127.0.0.1:1/a%2Fb", "postgres://u@127.0.0.1:1/a?dbname=a.b"];
    let run = example("x", "2026-01-01T00:00:00Z");
    let places = urls.map(|url| store(folder.path(), url).keep(&run).expect("kept in a file").place);
    let places = std::collections::BTreeSet::from(places);
    assert_eq!(places.len(), urls.len(), "{places:?}");
    let file = |name: &str| store(folder.path(), &folder.path().join(name).display().to_string());
    let [one, other] = [file("a_b/x.sqlite"), file("a/b_x.sqlite")];
    // A folder in the place of each database keeps it from being opened.
    for name in ["a_b/x.sqlite", "a/b_x.sqlite"] {
        std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
    }
    one.keep(&example("one", "2026-01-01T00:00:00Z")).expect("kept in a file");
    std::fs::remove_dir(folder.path().join("a/b_x.sqlite")).expect("removed");
    assert_eq!(other.take_in_waiting(std::time::Duration::MAX / 4).expect("nothing"), None);
    assert!(other.list().expect("a list").is_empty());
}

/// A key and certificates: of an authority, and of the host `localhost` signed by it.
fn certificates(folder: &Path) -> bool {
    let script = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.crt &&
        openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr &&
        printf 'subjectAltName=DNS:localhost' >names &&
        openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.crt";
    Command::new("sh").args(["-c", script]).current_dir(folder).output().is_ok_and(|done| done.status.success())
}

#[test]
fn encryption_is_what_sslmode_requests() {
    let keys = tempfile::tempdir().expect("a folder");
    if !certificates(keys.path()) {
        testing::not_tested!("openssl is not installed; apt-get install openssl");
        return;
    }
    let Some(mut server) = Server::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    server.store("costs", folder.path());
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let list = |options: &str, host: &str| {
        let url = format!("postgres://howslow:{PASSWORD}@{host}:{port}/costs?{options}");
        store(folder.path(), &url).list().map(|_| ()).map_err(|error| error.to_string())
    };
    server.listen(port, None);
    assert_eq!(list("sslmode=prefer", "localhost"), Ok(()));
    let reported = list("sslmode=require", "localhost").expect_err("the server has no keys");
    assert!(reported.contains("TLS"), "{reported}");
    server.listen(port, Some(keys.path()));
    let root = |name: &str| format!("sslrootcert={}", keys.path().join(name).display());
    let (own, other) = (root("ca.crt"), root("other.crt"));
    Command::new("sh")
        .args(["-c", "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=other -keyout o.key -out other.crt"])
        .current_dir(keys.path())
        .output()
        .expect("openssl runs");
    assert_eq!(list("sslmode=require", "127.0.0.1"), Ok(()));
    // The server checks the digest of its certificate that the password's proof has in it.
    assert_eq!(list("sslmode=require&channel_binding=require", "127.0.0.1"), Ok(()));
    assert_eq!(list(&format!("sslmode=verify-full&{own}"), "localhost"), Ok(()));
    assert_eq!(list(&format!("sslmode=verify-ca&{own}"), "127.0.0.1"), Ok(()));
    for (options, host) in [
        (format!("sslmode=verify-full&{own}"), "127.0.0.1"),
        (format!("sslmode=verify-full&{other}"), "localhost"),
        (format!("sslmode=verify-ca&{other}"), "localhost"),
        (format!("sslmode=require&{other}"), "localhost"),
    ] {
        let reported = list(&options, host).expect_err("refused");
        assert!(reported.contains("certificate"), "{options}: {reported}");
    }
    drop(server);
}

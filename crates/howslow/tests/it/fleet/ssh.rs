//! Two names of this host, through a real sshd of the test's own.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use fleet::Stage;
use tempfile::TempDir;

use super::{TINY, ended, small_program, state};
use crate::support::{Ours, count, folder, path_with, until};

/// A server that lets in who has the test's key, and a home folder whose client knows it.
struct Server {
    _child: Ours,
    home: TempDir,
    port: u16,
}

impl Server {
    fn start() -> Option<Server> {
        if !Path::new("/usr/sbin/sshd").exists() || !Path::new("/usr/bin/ssh").exists() {
            testing::not_tested!("sshd is not installed; apt-get install openssh-server openssh-client");
            return None;
        }
        // sshd wants this folder of the system, which the package creates only when its service starts.
        if !Path::new("/run/sshd").is_dir() && std::fs::create_dir("/run/sshd").is_err() {
            testing::not_tested!("/run/sshd is missing; mkdir /run/sshd as root");
            return None;
        }
        let home = tempfile::Builder::new().prefix("howslow-sshd-").tempdir_in("/tmp").expect("a folder");
        let at = home.path();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(at.join(key)).status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen failed");
        }
        let port = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nAuthorizedKeysFile {at}/user.pub\nStrictModes no\n\
             PasswordAuthentication no\nUsePAM no\nPidFile none\nPermitRootLogin yes\nSetEnv HOME={at}\n",
            at = at.display()
        );
        std::fs::write(at.join("sshd_config"), server).expect("a configuration");
        let known = std::fs::read_to_string(at.join("host.pub")).expect("a key");
        std::fs::write(at.join("known"), format!("* {known}")).expect("known hosts");
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "/usr/sbin/sshd", "-D", "-e", "-f"]).arg(at.join("sshd_config"));
        let child = command.stderr(Stdio::null()).spawn().expect("sshd");
        // The client takes its configuration from the user's home, not from HOME: a first `ssh` in PATH names the test's.
        let client = format!(
            "#!/bin/sh\nexec /usr/bin/ssh -F none -o IdentityFile={at}/user -o IdentitiesOnly=yes \
             -o UserKnownHostsFile={at}/known -o StrictHostKeyChecking=yes \"$@\"\n",
            at = at.display()
        );
        std::fs::create_dir(at.join("bin")).expect("a folder");
        testing::executable(&at.join("bin/ssh"), client.as_bytes());
        until("sshd to listen", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(Server { _child: Ours(child), home, port })
    }

    fn fleet(&self, data: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin!("howslow"));
        command.env("PATH", path_with(&self.home.path().join("bin")));
        command.arg("fleet").args(words).env("HOWSLOW_DATA", data).env_remove("SSH_AUTH_SOCK");
        command
    }
}

#[test]
fn hosts_are_measured_over_ssh_and_left_as_they_were() {
    let Some(server) = Server::start() else { return };
    let data = folder();
    let port = server.port;
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port").port();
    let hosts = format!("127.0.0.1:{port},localhost:{port},127.0.0.1:{port},127.0.0.1:{closed}");
    let program = small_program();
    let words = [&["run", "--ssh", &hosts, "--id", "few", "--binary", program, "--budget", "1s"][..], &TINY].concat();
    let result = server.fleet(data.path(), &words).output().expect("it starts");
    let errors = String::from_utf8_lossy(&result.stderr).into_owned();
    assert_eq!(result.status.code(), Some(3), "{errors}");
    assert!(errors.contains("is named twice and measured once"), "{errors}");
    let fleet = state(data.path(), "few");
    assert_eq!(fleet.nodes.len(), 3);
    for name in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        ended(&fleet, &name, Stage::Done, "");
    }
    ended(&fleet, &format!("127.0.0.1:{closed}"), Stage::Refused, "Connection refused");
    assert_eq!(count(&fleet.documents), 2);

    // What runs on a host outlives the program here, can be cancelled, and is finished later.
    let target = format!("127.0.0.1:{port}");
    let long = [
        &["run", "--ssh", &target, "--id", "long", "--binary", program, "--budget", "30s", "--rounds", "9999"][..],
        &TINY,
        &["--detach"],
    ];
    let begun = server.fleet(data.path(), &long.concat()).output().expect("it starts");
    assert!(String::from_utf8_lossy(&begun.stderr).contains("1 job submitted"), "{begun:?}");
    let attempt = state(data.path(), "long").nodes[0].attempts[0].clone();
    let pid = attempt.job.expect("a process");
    until("the node to measure", || server.home.path().join(".howslow-fleet-long-n0/n0.a1.started").exists());
    let cancelled = server.fleet(data.path(), &["cancel", "long"]).output().expect("it starts");
    assert!(cancelled.status.success(), "{cancelled:?}");
    until("the process to end", || !Path::new("/proc").join(&pid).exists());
    ended(&state(data.path(), "long"), &target, Stage::Cancelled, "howslow fleet cancel");
}

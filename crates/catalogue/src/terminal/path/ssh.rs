//! A login over SSH on this machine: a server of the round's own, with keys and a configuration in the scratch folder, on a port
//! of its own, run as this user. It lets nobody in but the bearer of the round's own key.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path as FilePath, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use operation::{Failure, Setting};
use rustix::process::getuid;

use super::login::{PATIENCE, SHELL_SCRIPT, started, within};
use super::{Helper, Path, Program};
use crate::kit::ensure;

const REMEDY: &str = "install it (Debian: apt install openssh-server openssh-client)";

pub(in crate::terminal) fn over_ssh(setting: &Setting) -> Result<Path, Failure> {
    let server = server()?;
    // A path with a blank would be two words of the configuration.
    let folder = setting.scratch();
    if folder.to_string_lossy().contains(char::is_whitespace) {
        return Err(Failure::skip("the scratch folder's name holds a blank", "set TMPDIR to another folder"));
    }
    let (host, user) = (folder.join("host"), folder.join("user"));
    for key in [&host, &user] {
        made(key)?;
    }
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let listening = listen(&server, folder, &host, port)?;
    let mut client = Command::new("ssh");
    client.args(["-tt", "-F", "none", "-e", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"]);
    client.args(["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]);
    client.args(["-o", "ControlPath=none", "-o", "IdentityAgent=none", "-o", "ConnectTimeout=5"]);
    client.arg("-i").arg(&user).arg("-p").arg(port.to_string()).arg("127.0.0.1").arg(SHELL_SCRIPT);
    within(client, "ssh", REMEDY, vec![Helper::Program(listening)])
}

/// Where the server is: it does not start by a relative name.
fn server() -> Result<PathBuf, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")]);
    let found = folders.map(|folder| folder.join("sshd")).find(|file| file.is_absolute() && file.is_file());
    found.ok_or_else(|| Failure::skip("there is no SSH server (sshd) here", REMEDY))
}

fn made(key: &FilePath) -> Result<(), Failure> {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "howslow", "-f"]).arg(key);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut program = started(command, "ssh-keygen", REMEDY)?;
    ensure(program.0.wait()?.success(), || "ssh-keygen made no key")
}

/// Starts the server, and waits until it listens.
fn listen(server: &FilePath, folder: &FilePath, host: &FilePath, port: u16) -> Result<Program, Failure> {
    let configuration = folder.join("sshd_config");
    let keys = folder.join("user.pub");
    // A bash that a server starts reads ~/.bashrc unless it is inside of another shell (SHLVL). That may start anything, which is
    // killed with the terminal and may leave a lock behind (pyenv).
    let text = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\nStrictModes no\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPrintMotd no\n\
         PrintLastLog no\nPermitUserRC no\nPermitUserEnvironment no\nDisableForwarding yes\nUseDNS no\n\
         SetEnv SHLVL=1\n",
        host.display(),
        keys.display()
    );
    std::fs::write(&configuration, text)?;
    std::fs::set_permissions(&configuration, std::fs::Permissions::from_mode(0o600))?;
    let log = std::fs::File::create(folder.join("log"))?;
    let mut command = if getuid().is_root() { as_root(folder)? } else { Command::new(server) };
    if getuid().is_root() {
        command.arg(server);
    }
    command.args(["-D", "-e", "-f"]).arg(&configuration);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let program = started(command, "sshd", REMEDY)?;
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        if program.has_ended()? || began.elapsed() > PATIENCE {
            let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            let why = record::printable(log.lines().next().unwrap_or("it says nothing"));
            let remedy = "run as another user, or outside of the container";
            return Err(Failure::skip(format!("sshd does not start: {why}"), remedy));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(program)
}

/// A server of the superuser wants a folder in /run, and notes logins in /var/log. Both are empty file systems in a mount
/// namespace of its own, which ends with it.
fn as_root(scratch: &FilePath) -> Result<Command, Failure> {
    if scratch.starts_with("/run") || scratch.starts_with("/var/log") {
        return Err(Failure::skip("the scratch folder lies in /run or /var/log", "set TMPDIR to another folder"));
    }
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && mount -t tmpfs tmpfs /var/log && : > /var/log/lastlog && exec \"$@\"";
    command.args(["--mount", "--propagation", "private", "--", "/bin/sh", "-c", script, "sh"]);
    Ok(command)
}

//! A Slurm of its own on this host: its daemons, ports, keys and folders are the test's, and end with it.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::until;

pub struct Cluster {
    folder: TempDir,
    daemons: Vec<(String, Child)>,
    nodes: usize,
}

/// Daemons are also where only root looks for programs.
fn path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

impl Cluster {
    /// Starts a controller and this many nodes: node1, node2... `None` if Slurm is not installed.
    pub fn start(nodes: usize) -> Option<Cluster> {
        if testing::is_for_later("slurm") {
            return None;
        }
        let needed = ["munged", "slurmctld", "slurmd", "sbatch", "setpriv"];
        let path = path();
        let there = |name: &&str| path.split(':').any(|folder| Path::new(folder).join(name).is_file());
        if let Some(missing) = needed.iter().find(|name| !there(name)) {
            testing::not_tested!("{missing} is not installed; apt-get install slurmctld slurmd slurm-client munge");
            return None;
        }
        // The path of a socket has at most 108 bytes.
        let folder = tempfile::Builder::new().prefix("howslow-slurm-").tempdir_in("/tmp").expect("a folder");
        let mut cluster = Cluster { folder, daemons: Vec::new(), nodes };
        cluster.configure();
        let at = cluster.folder.path().to_owned();
        let munge = |name: &str, file: &str| format!("--{name}={}", at.join(file).display());
        let options =
            [("socket", "munge"), ("key-file", "key"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed")];
        let options: Vec<String> = options.iter().map(|(name, file)| munge(name, file)).collect();
        let mut words: Vec<&str> = options.iter().map(String::as_str).collect();
        words.extend(["--foreground", "--force", "--num-threads=2"]);
        cluster.daemon("munged", "munged", &words);
        until("munged to listen", || at.join("munge").exists());
        cluster.daemon("slurmctld", "slurmctld", &["-D", "-i"]);
        for number in 1..=nodes {
            cluster.start_node(&format!("node{number}"));
        }
        until("the nodes to be idle", || cluster.idle() == nodes);
        Some(cluster)
    }

    fn configure(&self) {
        let at = self.folder.path();
        let key: Vec<u8> = (0..128).map(|_| fastrand::u8(..)).collect();
        std::fs::write(at.join("key"), key).expect("a key");
        std::fs::set_permissions(at.join("key"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a key");
        for folder in ["state", "spool"] {
            std::fs::create_dir(at.join(folder)).expect("a folder");
        }
        // Asked for and given back at once; nothing else takes them in between.
        let free: Vec<TcpListener> =
            (0..=self.nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let ports: Vec<u16> = free.iter().map(|port| port.local_addr().expect("a port").port()).collect();
        drop(free);
        // What an administrator has run before each job.
        let prolog = format!("#!/bin/sh\n[ ! -e {}/$SLURMD_NODENAME.fails ]\n", at.display());
        testing::executable(&at.join("prolog"), prolog.as_bytes());
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let host = read("/proc/sys/kernel/hostname");
        let user = std::env::var("USER").ok().filter(|user| !user.is_empty() && !rustix::process::getuid().is_root());
        let user = user.unwrap_or_else(|| "root".into());
        let mut text = format!(
            "ClusterName=howslow\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nAuthType=auth/munge\n\
             AuthInfo=socket={at}/munge\nCredType=cred/munge\nMpiDefault=none\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nSwitchType=switch/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nSlurmdParameters=config_overrides\nReturnToService=2\n\
             SlurmUser={user}\nSlurmdUser={user}\nStateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool/%n\n\
             SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/%n.pid\nSlurmctldLogFile={at}/slurmctld.log\n\
             SlurmdLogFile={at}/%n.log\nSlurmdTimeout=3\nMessageTimeout=2\nTCPTimeout=1\nKillWait=1\nMinJobAge=300\n\
             SchedulerType=sched/backfill\nSchedulerParameters=batch_sched_delay=0\nSelectType=select/cons_tres\n\
             SelectTypeParameters=CR_Core\nProlog={at}/prolog\n",
            at = at.display(),
            port = ports[0],
        );
        for (number, port) in (1..).zip(&ports[1..]) {
            text += &format!("NodeName=node{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2\n");
        }
        text += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
        std::fs::write(at.join("slurm.conf"), text).expect("a configuration");
    }

    /// Starts the daemon of a node, also again.
    pub fn start_node(&mut self, name: &str) {
        std::fs::create_dir_all(self.folder.path().join("spool").join(name)).expect("a folder");
        self.daemon(name, "slurmd", &["-D", "-N", name]);
    }

    /// The daemon dies with this thread.
    fn daemon(&mut self, name: &str, program: &str, arguments: &[&str]) {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", program]).args(arguments);
        command.env("PATH", path()).env("SLURM_CONF", self.configuration()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push((name.into(), command.spawn().expect("a daemon")));
    }

    /// From now on the prolog of this node fails.
    pub fn fail_prolog(&self, node: &str) {
        std::fs::write(self.folder.path().join(format!("{node}.fails")), "").expect("a file");
    }

    pub fn configuration(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// What a command of Slurm prints.
    pub fn printed_by(&self, words: &[&str]) -> String {
        let answer = Command::new(words[0]).args(&words[1..]).env("SLURM_CONF", self.configuration()).output();
        String::from_utf8_lossy(&answer.expect("a command of Slurm").stdout).into_owned()
    }

    /// Number of idle nodes.
    pub fn idle(&self) -> usize {
        self.printed_by(&["sinfo", "-N", "-h", "-o", "%T"]).lines().filter(|state| *state == "idle").count()
    }

    /// Kills a node's daemon and everything that it runs, as a crash of the node does.
    pub fn crash(&mut self, node: &str) {
        for (_, daemon) in self.daemons.iter_mut().filter(|(name, _)| name == node) {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let job = self.printed_by(&["squeue", "-h", "-w", node, "-o", "%i"]);
        let step = format!("slurmstepd: [{}.batch]", job.trim());
        self.signal(Signal::KILL, |_, line| line.starts_with(&step));
        self.stop(node, Signal::KILL);
    }

    /// Sends a signal to all processes of the job that runs on a node.
    pub fn stop(&self, node: &str, signal: Signal) -> usize {
        let marked = format!("SLURMD_NODENAME={node}");
        self.signal(signal, |environment, _| environment.iter().any(|variable| *variable == marked))
    }

    /// Sends a signal to the processes of this cluster that are chosen by environment and command line.
    fn signal(&self, signal: Signal, chosen: impl Fn(&[&str], &str) -> bool) -> usize {
        let own = format!("SLURM_CONF={}", self.configuration().display());
        let mut count = 0;
        for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw)
            else {
                continue;
            };
            let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
            let (environment, line) = (read("environ"), read("cmdline"));
            let environment = String::from_utf8_lossy(&environment);
            let variables: Vec<&str> = environment.split('\0').collect();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if variables.contains(&own.as_str()) && pid != rustix::process::getpid() && chosen(&variables, &line) {
                count += usize::from(kill_process(pid, signal).is_ok());
            }
        }
        count
    }
}

impl Drop for Cluster {
    /// Whatever the daemons started ends, too.
    fn drop(&mut self) {
        for (_, daemon) in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        while self.signal(Signal::KILL, |_, _| true) > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

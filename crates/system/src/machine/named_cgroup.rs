//! The cgroup of a container, a service or a pod by its name: from the files that engines, systemd and kubelets leave on disk, and
//! the names of cgroups. No engine is called.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::host::Host;

/// Where hierarchies of cgroups are mounted: the unified one first.
const HIERARCHIES: [&str; 6] = [
    "sys/fs/cgroup/unified", "sys/fs/cgroup/systemd", "sys/fs/cgroup/memory", "sys/fs/cgroup/pids",
    "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct",
];
/// Cgroups of a hierarchy beyond these are not looked at.
const MOST: usize = 50_000;
/// Ids of containers are known by at least this many of their digits.
const DIGITS: usize = 12;
/// Names that an error lists.
const LISTED: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedCgroup {
    /// A container of Docker, Podman or containerd: its name, or the beginning of its id.
    Container(String),
    Unit(String),
    /// A pod of a kubelet: its name, `namespace/name`, or its id.
    Pod(String),
}

/// Why the cgroup is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNamedCgroup {
    #[error("no {kind} `{name}` runs here{known}; {remedy}")]
    None { kind: &'static str, name: String, known: String, remedy: &'static str },
    #[error("{kind} `{name}` may be any of these: {}; give one by --cgroup", .cgroups.join(", "))]
    Several { kind: &'static str, name: String, cgroups: Vec<String> },
}

impl NamedCgroup {
    /// The folder of its cgroup on this machine. Fails if there is none, or several.
    pub fn folder(&self) -> Result<PathBuf, NoNamedCgroup> {
        self.below(&Host::here()).map(|folder| PathBuf::from("/").join(folder))
    }

    fn below(&self, host: &Host) -> Result<String, NoNamedCgroup> {
        let (kind, name, known) = match self {
            NamedCgroup::Container(name) => ("container", name, containers(host)),
            NamedCgroup::Unit(name) => ("unit", name, BTreeMap::new()),
            NamedCgroup::Pod(name) => ("pod", name, pods(host)),
        };
        let ids = ids_of(name, &known);
        let is_it = |folder: &str| match self {
            NamedCgroup::Container(_) => container_in(folder)
                .is_some_and(|id| ids.contains(&id) || (is_id(name) && id.starts_with(name.as_str()))),
            NamedCgroup::Unit(_) => folder == name || folder.strip_suffix(".service") == Some(name),
            NamedCgroup::Pod(_) => pod_in(folder).is_some_and(|id| id == *name || ids.contains(&id)),
        };
        let mut found = find(host, is_it);
        match (found.len(), found.pop()) {
            (1, Some(folder)) => Ok(folder),
            (0, _) => {
                let names: Vec<&str> = known.keys().take(LISTED).map(String::as_str).collect();
                let known = if names.is_empty() { String::new() } else { format!(" (known: {})", names.join(", ")) };
                Err(NoNamedCgroup::None { kind, name: name.clone(), known, remedy: self.remedy() })
            }
            (_, last) => {
                found.extend(last);
                Err(NoNamedCgroup::Several { kind, name: name.clone(), cgroups: found })
            }
        }
    }

    fn remedy(&self) -> &'static str {
        match self {
            NamedCgroup::Container(_) => {
                "`docker ps`, `podman ps` or `crictl ps` list them; names are read as root, ids as anybody"
            }
            NamedCgroup::Unit(_) => "`systemctl list-units` lists them",
            NamedCgroup::Pod(_) => "`crictl pods` lists them",
        }
    }
}

/// The ids that belong to a name: names of Kubernetes may be given without what stands before the slash.
fn ids_of(name: &str, known: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let is_it = |known: &str| known == name || known.split_once('/').is_some_and(|(_, last)| last == name);
    known.iter().filter(|(known, _)| is_it(known)).flat_map(|(_, ids)| ids.clone()).collect()
}

fn is_id(text: &str) -> bool {
    text.len() >= DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The folders of this kind, in the first hierarchy that has any. Those within one that was found belong to it.
fn find(host: &Host, is_it: impl Fn(&str) -> bool) -> Vec<String> {
    let unified = host.exists("sys/fs/cgroup/cgroup.controllers");
    let hierarchies = unified.then_some("sys/fs/cgroup").into_iter().chain(HIERARCHIES);
    for hierarchy in hierarchies {
        let (mut found, mut open, mut seen) = (Vec::new(), vec![hierarchy.to_string()], 0);
        while let Some(folder) = open.pop().filter(|_| seen < MOST) {
            seen += 1;
            for name in host.list(&folder) {
                let path = format!("{folder}/{name}");
                // Every cgroup has this file.
                if !host.exists(&format!("{path}/cgroup.procs")) {
                    continue;
                }
                if is_it(&name) { found.push(path) } else { open.push(path) }
            }
        }
        if !found.is_empty() {
            found.sort();
            return found;
        }
    }
    Vec::new()
}

/// The id of the container that a cgroup belongs to: `ID`, `docker-ID.scope`, `libpod-ID.scope`, `cri-containerd-ID.scope`.
fn container_in(folder: &str) -> Option<String> {
    let name = folder.strip_suffix(".scope").unwrap_or(folder);
    // The process that watches a container has a cgroup of its own.
    let id = name.rsplit(['-', '_']).next().filter(|_| !name.contains("conmon"))?;
    is_id(id).then(|| id.to_string())
}

/// The id of the pod: `podID`, `kubepods-burstable-podID.slice`, where systemd's names have low lines. That of a static pod has neither
/// hyphens nor low lines.
fn pod_in(folder: &str) -> Option<String> {
    let name = folder.strip_suffix(".slice").unwrap_or(folder);
    let id = name
        .rsplit('-')
        .next()
        .filter(|last| last.contains('_') || last.starts_with("pod"))
        .unwrap_or(name)
        .strip_prefix("pod")?;
    Some(id.replace('_', "-"))
}

/// The ids of containers by their names.
fn containers(host: &Host) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |name: &Value, id: &Value| {
        if let (Some(name), Some(id)) = (name.as_str(), id.as_str()) {
            all.entry(name.trim_start_matches('/').into()).or_default().push(id.into());
        }
    };
    let docker = "var/lib/docker/containers";
    for id in host.list(docker) {
        let state = parsed(host, &format!("{docker}/{id}/config.v2.json"));
        add(&state["Name"], &state["ID"]);
    }
    let homes = host.list("home").into_iter().map(|user| format!("home/{user}")).chain(["root".into()]);
    let rootless = homes.map(|home| format!("{home}/.local/share/containers/storage"));
    for storage in ["var/lib/containers/storage".to_string()].into_iter().chain(rootless) {
        for driver in host.list(&storage).iter().filter(|name| name.ends_with("-containers")) {
            let states = parsed(host, &format!("{storage}/{driver}/containers.json"));
            for state in states.as_array().into_iter().flatten() {
                state["names"].as_array().into_iter().flatten().for_each(|name| add(name, &state["id"]));
            }
        }
    }
    let tasks = "run/containerd/io.containerd.runtime.v2.task";
    for space in host.list(tasks) {
        for id in host.list(&format!("{tasks}/{space}")) {
            let state = parsed(host, &format!("{tasks}/{space}/{id}/config.json"));
            for label in ["io.kubernetes.cri.container-name", "nerdctl/name"] {
                add(&state["annotations"][label], &id.as_str().into());
            }
        }
    }
    all
}

/// The ids of pods by `namespace/name`: a kubelet has a folder of logs for each, `NAMESPACE_NAME_ID`.
fn pods(host: &Host) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in host.list("var/log/pods") {
        if let [space, name, id] = folder.split('_').collect::<Vec<_>>()[..] {
            all.entry(format!("{space}/{name}")).or_default().push(id.into());
        }
    }
    all
}

/// A file of JSON; null if it cannot be read.
fn parsed(host: &Host, path: &str) -> Value {
    host.read(path).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    const WEB: &str = "4bd1f6f4ca7e2a8f0b1c2d3e4f5061728394a5b6c7d8e9f00112233445566778";
    const STORE: &str = "9e01aa5500000000000000000000000000000000000000000000000000000001";

    /// A machine with these cgroups and these files.
    fn machine(cgroups: &[&str], files: &[(&str, String)]) -> Recorded {
        let mut all: Vec<(String, String)> =
            files.iter().map(|(path, text)| (path.to_string(), text.clone())).collect();
        for cgroup in cgroups {
            let ends = cgroup.match_indices('/').map(|(end, _)| end).chain([cgroup.len()]);
            all.extend(ends.map(|end| (format!("sys/fs/cgroup/{}/cgroup.procs", &cgroup[..end]), String::new())));
        }
        Recorded::new(&all)
    }

    fn found(place: &Recorded, named: NamedCgroup) -> Result<String, String> {
        named.below(&place.host()).map_err(|error| error.to_string())
    }

    fn container(name: &str) -> NamedCgroup {
        NamedCgroup::Container(name.into())
    }

    #[test]
    fn containers_of_each_engine_are_found_by_their_files() {
        let docker = machine(
            &[&format!("system.slice/docker-{WEB}.scope"), "system.slice/web.service"],
            &[
                ("sys/fs/cgroup/cgroup.controllers", "cpu".into()),
                (
                    &format!("var/lib/docker/containers/{WEB}/config.v2.json"),
                    format!("{{\"ID\": \"{WEB}\", \"Name\": \"/web\", \"State\": {{\"Running\": true}}}}"),
                ),
            ],
        );
        let folder = format!("sys/fs/cgroup/system.slice/docker-{WEB}.scope");
        assert_eq!(found(&docker, container("web")), Ok(folder.clone()));
        assert_eq!(found(&docker, container(&WEB[..12])), Ok(folder), "by the beginning of its id");
        let refused = found(&docker, container("wed")).expect_err("there is none");
        assert!(refused.contains("no container `wed` runs here (known: web); `docker ps`"), "{refused}");
        let podman = machine(
            &[
                &format!("unified/user.slice/libpod-{STORE}.scope/container"),
                &format!("unified/libpod-conmon-{STORE}.scope"),
            ],
            &[(
                "home/ann/.local/share/containers/storage/overlay-containers/containers.json",
                format!("[{{\"id\": \"{STORE}\", \"names\": [\"store\"], \"layer\": \"x\"}}]"),
            )],
        );
        let folder = format!("sys/fs/cgroup/unified/user.slice/libpod-{STORE}.scope");
        assert_eq!(found(&podman, container("store")), Ok(folder));
        let containerd = machine(
            &[&format!("memory/kubepods/pod1/{WEB}"), &format!("memory/kubepods/pod2/{STORE}")],
            &[WEB, STORE]
                .map(|id| {
                    let path = format!("run/containerd/io.containerd.runtime.v2.task/k8s.io/{id}/config.json");
                    (path, "{\"annotations\": {\"io.kubernetes.cri.container-name\": \"app\"}}".to_string())
                })
                .each_ref()
                .map(|(path, text)| (path.as_str(), text.clone())),
        );
        let refused = found(&containerd, container("app")).expect_err("there are two");
        assert!(refused.contains("may be any of these: ") && refused.contains("--cgroup"), "{refused}");
        assert!(found(&containerd, container(STORE)).is_ok());
    }

    #[test]
    fn units_and_pods_are_found_by_their_cgroups() {
        let id = "0b6c1a0e-1111-2222-3333-444455556666";
        let slice =
            format!("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice", id.replace('-', "_"));
        // A static pod's.
        let fixed = format!("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice", &WEB[..32]);
        let place = machine(
            &["system.slice/nginx.service", &slice, "kubepods/pod77", &fixed],
            &[
                ("sys/fs/cgroup/cgroup.controllers", "cpu".into()),
                (&format!("var/log/pods/shop_web-0_{id}/0.log"), String::new()),
            ],
        );
        let unit = |name: &str| found(&place, NamedCgroup::Unit(name.into()));
        assert_eq!(unit("nginx"), Ok("sys/fs/cgroup/system.slice/nginx.service".into()));
        assert_eq!(unit("nginx.service"), unit("nginx"));
        assert_eq!(unit("system.slice"), Ok("sys/fs/cgroup/system.slice".into()));
        assert!(unit("ngin").expect_err("no such unit").contains("systemctl list-units"));
        let pod = |name: &str| found(&place, NamedCgroup::Pod(name.into()));
        assert_eq!(pod(id), Ok(format!("sys/fs/cgroup/{slice}")));
        assert_eq!((pod("web-0"), pod("shop/web-0")), (pod(id), pod(id)));
        assert_eq!(pod(&WEB[..32]), Ok(format!("sys/fs/cgroup/{fixed}")));
        assert_eq!(pod("77"), Ok("sys/fs/cgroup/kubepods/pod77".into()));
        assert!(pod("web").expect_err("no such pod").contains("known: shop/web-0"));
    }
}

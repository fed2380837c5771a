//! The hypervisor, emulator, sandbox and container around the system.

use record::Virtualization;

use crate::machine::cpu;
use crate::machine::host::{Host, field};

/// The hypervisor and container around the system.
pub fn describe(host: &Host) -> Virtualization {
    Virtualization {
        hypervisor: hypervisor(host),
        container: container(host),
        seccomp: host.read("proc/self/status").and_then(|status| field(&status, "Seccomp")?.parse().ok()),
    }
}

fn hypervisor(host: &Host) -> Option<String> {
    let version = host.read("proc/version").unwrap_or_default();
    if is_gvisor(&version) {
        return Some("gVisor".into());
    }
    if is_emulated(host) {
        return Some("QEMU TCG".into());
    }
    let signed = host.processor.hypervisor.as_deref().and_then(by_signature);
    let named = signed.or_else(|| by_firmware(host)).or_else(|| by_kernel(host, &version));
    // A processor that states that it belongs to a guest, of a hypervisor that does not give its name.
    let flagged = || {
        let guest = cpu::cpuinfo(host)
            .lines()
            .any(|line| line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor"));
        (guest || host.processor.hypervisor.is_some()).then(|| "unknown".to_owned())
    };
    named.map(str::to_owned).or_else(flagged)
}

/// gVisor answers system calls itself. Newer releases give its name, older ones have one fixed build date.
fn is_gvisor(version: &str) -> bool {
    version.to_lowercase().contains("gvisor") || version.contains("Sun Jan 10 15:06:54 PST 2016")
}

/// True if instructions are emulated: the processor states it, or exists only in QEMU, or `/proc/cpuinfo` describes
/// another architecture.
fn is_emulated(host: &Host) -> bool {
    let processor = &host.processor;
    let bytes = host.bytes("proc/cpuinfo", 4096).unwrap_or_default();
    let cpuinfo = String::from_utf8_lossy(&bytes);
    let midr_is_emulated = processor.midr.is_some_and(|midr| {
        let (who, part) = ((midr >> 24) as u32 & 0xff, (midr >> 4) as u32 & 0xfff);
        cpu::is_emulated_arm(who, part)
    });
    processor.hypervisor.as_deref() == Some("TCGTCGTCGTCG")
        || processor.model.as_deref().is_some_and(|model| model.contains("QEMU TCG"))
        || cpuinfo.contains("QEMU TCG")
        || midr_is_emulated
        || cpu::is_foreign(&cpuinfo, std::env::consts::ARCH)
}

/// The twelve letters of cpuid leaf 4000_0000H.
fn by_signature(signature: &str) -> Option<&'static str> {
    Some(match signature.trim() {
        "KVMKVMKVM" | "Linux KVM Hv" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve" => "bhyve",
        "lrpepyh  vr" | "prl hyperv" => "Parallels",
        "ACRNACRNACRN" => "ACRN",
        "QNXQVMBSQG" => "QNX",
        "Jailhouse" => "Jailhouse",
        _ => return None,
    })
}

/// The firmware tables. A maker that also sells bare metal counts only if its product is a guest.
fn by_firmware(host: &Host) -> Option<&'static str> {
    let read = |file: &str| host.read(&format!("sys/class/dmi/id/{file}")).unwrap_or_default();
    by_maker(&read("sys_vendor"), &read("product_name"))
}

fn by_maker(vendor: &str, product: &str) -> Option<&'static str> {
    Some(match (vendor, product) {
        ("Amazon EC2", product) if product.contains(".metal") => return None,
        ("Amazon EC2", _) | ("Google", "Google Compute Engine") => "KVM",
        (_, product) if product.starts_with("KVM") || product.starts_with("OpenStack") => "KVM",
        ("QEMU", _) | ("Alibaba Cloud", _) | ("DigitalOcean", _) | ("Hetzner", "vServer") => "KVM or QEMU",
        ("Microsoft Corporation", "Virtual Machine") => "Hyper-V",
        ("Xen", _) => "Xen",
        ("innotek GmbH", _) | (_, "VirtualBox") => "VirtualBox",
        ("Apple Inc.", product) if product.starts_with("Apple Virtualization") => "Apple Virtualization",
        (vendor, _) if vendor.starts_with("VMware") => "VMware",
        (vendor, _) if vendor.starts_with("Parallels") => "Parallels",
        ("BHYVE", _) | (_, "BHYVE") => "bhyve",
        _ => return None,
    })
}

/// The kernel's knowledge: its own hypervisor folder, the device tree, the name of the Windows subsystem.
fn by_kernel(host: &Host, version: &str) -> Option<&'static str> {
    if host.read("sys/hypervisor/type").is_some_and(|kind| kind == "xen") {
        return Some("Xen");
    }
    let tree = host.read("proc/device-tree/hypervisor/compatible").unwrap_or_default();
    let board = host.read("proc/device-tree/compatible").unwrap_or_default();
    match () {
        () if tree.contains("kvm") => Some("KVM"),
        () if tree.contains("xen") => Some("Xen"),
        () if tree.contains("vmware") => Some("VMware"),
        // The board that exists for guests alone (Firecracker, crosvm, kvmtool).
        () if board.contains("linux,dummy-virt") => Some("KVM or QEMU"),
        () if version.to_lowercase().contains("microsoft") => Some("Hyper-V"),
        () => None,
    }
}

/// The numbers that the kernel gives to its first name spaces (`proc_ns.h`).
const FIRST_NAMESPACES: [(&str, &str); 3] =
    [("pid", "pid:[4026531836]"), ("ipc", "ipc:[4026531839]"), ("uts", "uts:[4026531838]")];

fn container(host: &Host) -> Option<String> {
    // A system started from a container's image has its marker file, but the name spaces of a whole system.
    let is_first = |(kind, first): &(&str, &str)| {
        host.link(&format!("proc/self/ns/{kind}")).is_some_and(|namespace| namespace == *first)
    };
    if FIRST_NAMESPACES.iter().all(is_first) {
        return None;
    }
    let own = host.read("proc/1/environ").and_then(|environment| in_environment(&environment));
    own.or_else(|| host.read("run/systemd/container"))
        .or_else(|| by_cgroup(&host.read("proc/self/cgroup").unwrap_or_default()).map(str::to_owned))
        .or_else(|| host.exists("run/.containerenv").then(|| "podman".into()))
        .or_else(|| host.exists(".dockerenv").then(|| "docker".into()))
        .or_else(|| by_cgroup(&host.read("proc/self/mountinfo").unwrap_or_default()).map(str::to_owned))
}

/// The variable `container`, which managers give to the first process.
fn in_environment(environment: &str) -> Option<String> {
    let value = environment.split('\0').find_map(|entry| entry.strip_prefix("container="))?;
    (!value.is_empty()).then(|| value.to_owned())
}

/// The manager whose name is in a cgroup's or a mount's path.
fn by_cgroup(paths: &str) -> Option<&'static str> {
    let managers = [
        ("/kubepods", "kubernetes"),
        ("/kubelet", "kubernetes"),
        ("/docker/", "docker"),
        ("/docker-", "docker"),
        ("/libpod-", "podman"),
        ("/libpod_parent", "podman"),
        ("/overlay-containers/", "podman"),
        ("/lxc/", "lxc"),
        ("/lxc.payload", "lxc"),
        ("/ecs/", "ecs"),
        ("/garden/", "garden"),
        ("/containerd/", "containerd"),
        ("/io.containerd.", "containerd"),
    ];
    managers.iter().find(|(part, _)| paths.contains(part)).map(|&(_, manager)| manager)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processor::Processor;
    use crate::machine::recorded::Recorded;

    #[test]
    fn signatures_and_makers() {
        assert_eq!(by_signature("KVMKVMKVM"), Some("KVM"));
        assert_eq!(by_signature("Microsoft Hv"), Some("Hyper-V"));
        assert_eq!(by_maker("Amazon EC2", "c7g.large"), Some("KVM"));
        assert_eq!(by_maker("Amazon EC2", "c5.metal"), None);
        assert_eq!(by_maker("QEMU", "Standard PC (Q35 + ICH9, 2009)"), Some("KVM or QEMU"));
        assert_eq!(by_maker("Microsoft Corporation", "Surface Laptop"), None);
        assert_eq!(by_maker("Dell Inc.", "PowerEdge R640"), None);
    }

    #[test]
    fn emulators_and_sandboxes() {
        assert!(is_gvisor("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016"));
        assert!(is_gvisor("Linux version 4.19.0-gvisor #1 SMP"));
        assert!(!is_gvisor("Linux version 6.1.0-13-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC"));
        let mut host = Recorded::empty().host();
        assert_eq!(hypervisor(&host), None);
        host.processor = Processor { hypervisor: Some("TCGTCGTCGTCG".into()), ..Processor::default() };
        assert_eq!(hypervisor(&host).as_deref(), Some("QEMU TCG"));
        host.processor = Processor { midr: Some(0x000f_0510), ..Processor::default() };
        assert_eq!(hypervisor(&host).as_deref(), Some("QEMU TCG"));
        host.processor = Processor { hypervisor: Some("SomethingNew".into()), ..Processor::default() };
        assert_eq!(hypervisor(&host).as_deref(), Some("unknown"));
    }

    #[test]
    fn managers_leave_their_names() {
        assert_eq!(by_cgroup("0::/system.slice/docker-4f3e.scope"), Some("docker"));
        assert_eq!(by_cgroup("11:memory:/kubepods/burstable/pod1/abc"), Some("kubernetes"));
        assert_eq!(by_cgroup("0::/user.slice/user-1000.slice/session-2.scope"), None);
        assert_eq!(in_environment("PATH=/bin\0container=lxc\0TERM=linux").as_deref(), Some("lxc"));
        assert_eq!(in_environment("PATH=/bin\0container=\0"), None);
    }

    #[test]
    fn a_marker_file_in_the_first_name_spaces_is_no_container() {
        let recorded = Recorded::new(&[(".dockerenv", ""), ("proc/self/ns/.empty", "")]);
        let host = recorded.host();
        assert_eq!(container(&host).as_deref(), Some("docker"));
        for (kind, first) in FIRST_NAMESPACES {
            let link = recorded.path().join("proc/self/ns").join(kind);
            std::os::unix::fs::symlink(first, link).expect("a link in our folder");
        }
        assert_eq!(container(&host), None);
    }
}

//! The processor: its identity, from its own registers before `/proc/cpuinfo`, and the number of CPUs, cores and
//! sockets.

use std::collections::{BTreeMap, BTreeSet};

use record::CpuModel;

use crate::machine::host::{Host, field, numbers, sysconf};
use crate::machine::processor::{Processor, X86_FEATURES};
use crate::machine::topology::{CORE, SOCKET, strongest};
use crate::machine::{cache, frequency, microarchitecture};

/// Bytes of `/proc/cpuinfo` that are read. On a large machine, some CPUs show as much as all of them, and are faster to
/// read.
const CPUINFO: u64 = 16 << 10;

/// Features of aarch64 that change costs, by the kernel's names.
const ARM_FEATURES: &[&str] = &[
    "aes", "asimddp", "atomics", "bf16", "bti", "crc32", "dcpop", "fphp", "i8mm", "lrcpc", "mops", "mte", "paca",
    "pmull", "rng", "sb", "sha2", "sha512", "sme", "ssbs", "sve", "sve2", "uscat", "wfxt",
];

pub fn describe(host: &Host) -> CpuModel {
    let cpuinfo = cpuinfo(host);
    let online = host.online();
    let midr = midr(host, &online);
    let identity = if midr.is_some() || cpuinfo.contains("CPU implementer") {
        arm(&cpuinfo, midr)
    } else {
        x86(&cpuinfo, &host.processor)
    };
    let counted = counted(host, &online, &cpuinfo, identity);
    let usable = usable(host, online, counted.online);
    let strongest = strongest(host, &usable);
    CpuModel {
        usable,
        caches: cache::describe(host, strongest),
        frequency: frequency::describe(host, strongest, &cpuinfo, &counted.model),
        ..counted
    }
}

/// The identity of the first CPU that the kernel shows. A program's own register is that of the CPU that it happens to run on: on one
/// with mixed cores, it changes from start to start. It counts where the kernel shows none, or another processor (qemu-user).
fn midr(host: &Host, online: &[u32]) -> Option<u64> {
    let read =
        |cpu: &u32| hexadecimal(&host.read(&format!("sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1"))?);
    match (read(online.first().unwrap_or(&0)), host.processor.midr) {
        (Some(first), Some(own)) if first != own && !online.iter().filter_map(read).any(|other| other == own) => {
            Some(own)
        }
        (first, own) => first.or(own),
    }
}

/// The beginning of `/proc/cpuinfo`. Empty if it describes another processor: a program under qemu-user sees its
/// host's.
pub fn cpuinfo(host: &Host) -> String {
    let bytes = host.bytes("proc/cpuinfo", CPUINFO).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let other = x86_signature(&text).zip(host.processor.signature).is_some_and(|(listed, reported)| listed != reported);
    if other || is_foreign(&text, std::env::consts::ARCH) { String::new() } else { text }
}

/// True if a `/proc/cpuinfo` describes another architecture than this program's.
pub fn is_foreign(cpuinfo: &str, architecture: &str) -> bool {
    match architecture {
        "x86_64" => cpuinfo.contains("CPU implementer"),
        "aarch64" => cpuinfo.contains("vendor_id"),
        _ => false,
    }
}

/// Family, model and stepping as `/proc/cpuinfo` lists them.
fn x86_signature(cpuinfo: &str) -> Option<(u32, u32, u32)> {
    let number = |key: &str| field(cpuinfo, key)?.parse::<u32>().ok();
    Some((number("cpu family")?, number("model")?, number("stepping")?))
}

fn x86(cpuinfo: &str, processor: &Processor) -> CpuModel {
    let reported = |key: &str| field(cpuinfo, key).map(str::to_owned);
    let vendor = processor.vendor.clone().or_else(|| reported("vendor_id")).unwrap_or_default();
    let model = processor.model.clone().filter(|model| !model.is_empty()).or_else(|| reported("model name"));
    let model = model.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let signature = processor.signature.or_else(|| x86_signature(cpuinfo));
    let flags: BTreeSet<&str> = field(cpuinfo, "flags").unwrap_or_default().split_whitespace().collect();
    let features: Vec<String> = X86_FEATURES
        .iter()
        .map(|&(.., name)| name)
        // The kernel does not list all features of the processor.
        .filter(|name| flags.contains(name) || processor.features.iter().any(|has| has == name))
        .map(str::to_owned)
        .collect();
    CpuModel {
        // An emulator's model number is made up.
        microarchitecture: signature
            .filter(|_| !model.contains("QEMU"))
            .and_then(|signature| microarchitecture::x86(&vendor, signature, &features)),
        signature: signature.map(|(family, model, step)| format!("{family}/{model}/{step}")).unwrap_or_default(),
        microcode: reported("microcode"),
        features,
        model,
        vendor,
        ..CpuModel::default()
    }
}

fn arm(cpuinfo: &str, midr: Option<u64>) -> CpuModel {
    let reported = |key: &str| hexadecimal(field(cpuinfo, key)?);
    // MIDR_EL1: implementer 31:24, variant 23:20, part 15:4, revision 3:0 (Arm ARM).
    let bits = |low: u32, width: u32| midr.map(|midr| (midr >> low) & ((1 << width) - 1));
    let implementer = bits(24, 8).or_else(|| reported("CPU implementer")).unwrap_or(0) as u32;
    let part = bits(4, 12).or_else(|| reported("CPU part")).unwrap_or(0) as u32;
    let variant = bits(20, 4).or_else(|| reported("CPU variant")).unwrap_or(0);
    let revision = bits(0, 4).or_else(|| field(cpuinfo, "CPU revision")?.parse().ok()).unwrap_or(0);
    let designs = arm_designs(cpuinfo, (implementer, part));
    let flags: BTreeSet<&str> = field(cpuinfo, "Features").unwrap_or_default().split_whitespace().collect();
    let vendor = microarchitecture::implementer(implementer);
    let vendor = vendor.map_or_else(|| format!("implementer {implementer:#04x}"), str::to_owned);
    let name = field(cpuinfo, "model name").map(str::to_owned).or_else(|| designs.clone());
    CpuModel {
        model: if is_emulated_arm(implementer, part) { "QEMU TCG".into() } else { name.unwrap_or_default() },
        microarchitecture: designs,
        signature: format!("{implementer:#04x}/{part:#05x}/r{variant}p{revision}"),
        features: ARM_FEATURES.iter().filter(|name| flags.contains(*name)).map(|&name| name.to_owned()).collect(),
        vendor,
        ..CpuModel::default()
    }
}

/// True if an aarch64 id is that of QEMU's emulated processor `max`: no implementer, part `Q`.
pub fn is_emulated_arm(implementer: u32, part: u32) -> bool {
    (implementer, part) == (0, 0x51)
}

/// The designs of all cores, `first` before the others: `Cortex-A55 and Cortex-A76`.
fn arm_designs(cpuinfo: &str, first: (u32, u32)) -> Option<String> {
    let mut cores = vec![first];
    let mut implementer = first.0;
    for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        let Some(value) = hexadecimal(value.trim()) else { continue };
        match key.trim() {
            "CPU implementer" => implementer = value as u32,
            "CPU part" if !cores.contains(&(implementer, value as u32)) => cores.push((implementer, value as u32)),
            _ => (),
        }
    }
    let names: Vec<String> = cores.iter().filter_map(|&(who, part)| microarchitecture::arm(who, part)).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// A processor with its numbers of CPUs, cores, threads and sockets.
fn counted(host: &Host, online: &[u32], cpuinfo: &str, identity: CpuModel) -> CpuModel {
    if online.is_empty() {
        let online = sysconf(libc::_SC_NPROCESSORS_ONLN).and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
        return CpuModel { online, threads_per_core: siblings(cpuinfo), ..identity };
    }
    let cores = groups(host, online, CORE);
    CpuModel {
        online: online.len() as u32,
        cores: cores.map(|(count, _)| count),
        threads_per_core: cores.map(|(_, largest)| largest).or_else(|| siblings(cpuinfo)),
        sockets: groups(host, online, SOCKET).map(|(count, _)| count),
        ..identity
    }
}

/// The number of groups that the CPUs form, and the size of the largest; `None` if the group of one is not known.
fn groups(host: &Host, online: &[u32], lists: [&str; 2]) -> Option<(u32, u32)> {
    let groups = host.groups(online, lists);
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    groups.values().for_each(|&first| *sizes.entry(first).or_default() += 1);
    let largest = sizes.values().copied().max().filter(|_| online.iter().all(|cpu| groups.contains_key(cpu)))?;
    Some((sizes.len() as u32, largest))
}

/// Hardware threads per core by `/proc/cpuinfo`: siblings in a socket divided by its cores.
fn siblings(cpuinfo: &str) -> Option<u32> {
    let number = |key| field(cpuinfo, key)?.parse::<u32>().ok();
    number("siblings")?.checked_div(number("cpu cores")?).filter(|&threads| threads > 0)
}

/// The CPUs this process may use; `None` on a machine with more than a set can hold.
pub fn allowed() -> Option<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    let most = rustix::thread::CpuSet::MAX_CPU;
    Some((0..most).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// The CPUs this process may use, of those online; where none are listed, of this many.
fn usable(host: &Host, online: Vec<u32>, count: u32) -> Vec<u32> {
    if let Some(allowed) = allowed() {
        return allowed;
    }
    let online = if online.is_empty() { (0..count).collect() } else { online };
    let status = host.read("proc/self/status").unwrap_or_default();
    // Offline CPUs are in the list, too.
    let listed = numbers(field(&status, "Cpus_allowed_list").unwrap_or_default());
    if listed.is_empty() { online } else { listed.into_iter().filter(|cpu| online.contains(cpu)).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    const XEON: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n\
        model name\t: Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz\nstepping\t: 7\nmicrocode\t: 0x5003604\n\
        cpu MHz\t\t: 3098.370\ncache size\t: 36608 KB\nsiblings\t: 2\ncpu cores\t: 1\n\
        flags\t\t: fpu vme ht rdtscp avx2 erms avx512f avx512_vnni hypervisor pcid\n\n\
        processor\t: 1\nvendor_id\t: GenuineIntel\n";
    const EPYC: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n\
        model name\t: AMD EPYC 7763 64-Core Processor                \nstepping\t: 1\nmicrocode\t: 0xffffffff\n\
        cpu MHz\t\t: 3243.397\nsiblings\t: 4\ncpu cores\t: 2\nflags\t\t: avx2 erms fsrm vaes clwb clzero\n";
    const GRAVITON: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 \
        atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp ssbs\nCPU implementer\t: 0x41\n\
        CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n";

    #[test]
    fn mixed_cores_have_the_identity_of_the_first_wherever_the_program_runs() {
        const CPU: &str = "sys/devices/system/cpu";
        let path = |cpu: u32| format!("{CPU}/cpu{cpu}/regs/identification/midr_el1");
        let online = format!("{CPU}/online");
        let files = [(&*online, "0-1"), (&path(0), "0x00000000412fd050"), (&path(1), "0x00000000414fd0b0")];
        let recorded = Recorded::new(&files);
        let with = |own: Option<u64>| {
            let mut host = recorded.host();
            host.processor.midr = own;
            midr(&host, &host.online())
        };
        let (first, other) = (0x412f_d050, 0x414f_d0b0);
        assert_eq!([None, Some(first), Some(other)].map(with), [Some(first); 3]);
        assert_eq!(with(Some(7)), Some(7), "it is emulated");
    }

    #[test]
    fn an_intel_processor_by_cpuinfo() {
        let cpu = x86(XEON, &Processor::default());
        assert_eq!(cpu.model, "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz");
        assert_eq!(cpu.microarchitecture.as_deref(), Some("Cascade Lake"));
        assert_eq!((cpu.vendor.as_str(), cpu.signature.as_str()), ("GenuineIntel", "6/85/7"));
        assert_eq!(cpu.microcode.as_deref(), Some("0x5003604"));
        assert!(cpu.features.iter().any(|feature| feature == "erms"));
        assert_eq!(siblings(XEON), Some(2));
    }

    #[test]
    fn an_amd_processor_by_cpuinfo() {
        let cpu = x86(EPYC, &Processor::default());
        assert_eq!(cpu.model, "AMD EPYC 7763 64-Core Processor");
        assert_eq!(cpu.microarchitecture.as_deref(), Some("Zen 3"));
        assert_eq!(cpu.signature, "25/1/1");
    }

    #[test]
    fn registers_are_believed_before_cpuinfo() {
        let processor = Processor { features: vec!["amx_fp16".into()], ..Processor::default() };
        assert_eq!(x86(XEON, &processor).microarchitecture.as_deref(), Some("Granite Rapids or later"));
        let emulator = Processor {
            vendor: Some("AuthenticAMD".into()),
            model: Some("QEMU TCG CPU version 2.5+".into()),
            signature: Some((15, 107, 1)),
            ..Processor::default()
        };
        let cpu = x86("", &emulator);
        assert_eq!((cpu.microarchitecture, cpu.signature.as_str()), (None, "15/107/1"));
    }

    #[test]
    fn an_arm_processor_by_cpuinfo_and_by_register() {
        let cpu = arm(GRAVITON, None);
        assert_eq!((cpu.model.as_str(), cpu.vendor.as_str()), ("Neoverse N1", "Arm"));
        assert_eq!(cpu.signature, "0x41/0xd0c/r3p1");
        assert_eq!(cpu.features.len(), 10);
        let cpu = arm("", Some(0x0000_0000_410f_d4f0));
        assert_eq!((cpu.model.as_str(), cpu.signature.as_str()), ("Neoverse V2", "0x41/0xd4f/r0p0"));
        assert_eq!(arm("", Some(0x000f_0510)).model, "QEMU TCG");
    }

    #[test]
    fn all_cores_of_a_mixed_processor_are_named() {
        let mixed = format!("{GRAVITON}CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n");
        assert_eq!(arm(&mixed, None).microarchitecture.as_deref(), Some("Neoverse N1 and Cortex-A76"));
    }

    #[test]
    fn the_host_of_an_emulator_is_not_described() {
        let recorded = Recorded::new(&[("proc/cpuinfo", XEON)]);
        let mut host = recorded.host();
        host.processor.signature = Some((15, 107, 1));
        assert_eq!(cpuinfo(&host), "");
        host.processor.signature = Some((6, 85, 7));
        assert_eq!(cpuinfo(&host).is_empty(), std::env::consts::ARCH == "aarch64");
        assert!(is_foreign(XEON, "aarch64"));
        assert!(is_foreign(GRAVITON, "x86_64"));
        assert!(!is_foreign(XEON, "x86_64"));
    }

    #[test]
    fn cores_and_sockets_are_counted_by_their_lists() {
        let mut files = vec![("online".to_owned(), "0-7\n".to_owned())];
        for cpu in 0..8_u32 {
            let package = if cpu % 4 < 2 { "0-1,4-5\n" } else { "2-3,6-7\n" };
            files.push((format!("cpu{cpu}/topology/package_cpus_list"), package.into()));
            files.push((format!("cpu{cpu}/topology/thread_siblings_list"), format!("{},{}\n", cpu % 4, cpu % 4 + 4)));
        }
        let files = files.into_iter().map(|(path, text)| (format!("sys/devices/system/cpu/{path}"), text));
        let files: Vec<(String, String)> = files.collect();
        let recorded = Recorded::new(&files);
        let host = recorded.host();
        let counted = counted(&host, &host.online(), "", CpuModel::default());
        assert_eq!(
            (counted.online, counted.cores, counted.threads_per_core, counted.sockets),
            (8, Some(4), Some(2), Some(2))
        );
    }
}

//! The kernel: its release, its build, and its mitigations for the processor's vulnerabilities.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::Read;

use record::{Accounting, Kernel};

use crate::machine::host::{Host, chosen};

/// The longest configuration worth unpacking. Real ones have less than 300 KiB.
const LONGEST: u64 = 2 << 20;

const RELEASE: &str = "proc/sys/kernel/osrelease";
const IDLE: &str = "sys/devices/system/cpu/cpuidle";
const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities";

pub fn describe(host: &Host) -> Kernel {
    let name = rustix::system::uname();
    let version = reported(host, "proc/sys/kernel/version", name.version());
    // The words after a lone `--` are for the first process and do not concern the kernel.
    let command_line = host.read("proc/cmdline").map(|line| line.split(" -- ").next().unwrap_or_default().to_owned());
    let configuration = configuration(host).unwrap_or_default();
    let debugfs = host.read("sys/kernel/debug/sched/preempt").and_then(|choice| chosen(&choice));
    let idle = |file: &str| host.read(&format!("{IDLE}/{file}"));
    // The idle governor has a newer and an older name.
    let governor = idle("current_governor").or_else(|| idle("current_governor_ro"));
    let idle: Vec<String> = [idle("current_driver"), governor].into_iter().flatten().collect();
    Kernel {
        name: reported(host, "proc/sys/kernel/ostype", name.sysname()),
        release: reported(host, RELEASE, name.release()),
        mitigations: mitigations(host),
        preemption: debugfs
            .or_else(|| preemption(&version, command_line.as_deref().unwrap_or_default(), &configuration)),
        tick_hz: value(&configuration, "CONFIG_HZ").and_then(|hz| hz.parse().ok()),
        idle: (!idle.is_empty()).then(|| idle.join("/")),
        version,
        command_line,
    }
}

/// What a file of the kernel states, or without it the kernel's answer to uname(2).
fn reported(host: &Host, path: &str, answer: &CStr) -> String {
    host.read(path).unwrap_or_else(|| answer.to_string_lossy().into_owned())
}

/// How the kernel accounts processor time.
pub fn accounting(host: &Host) -> Accounting {
    // The coarse clock advances by one tick.
    let tick = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    let tick_ns = tick.tv_sec * 1_000_000_000 + tick.tv_nsec;
    let apart = |text: String| value(&text, "CONFIG_IRQ_TIME_ACCOUNTING") == Some("y");
    Accounting {
        tick_hz: (tick_ns > 0).then(|| (1e9 / tick_ns as f64).round() as u32),
        interrupts_apart: configuration(host).map(apart),
        ..Accounting::default()
    }
}

fn mitigations(host: &Host) -> BTreeMap<String, String> {
    let read = |name: String| host.read(&format!("{VULNERABILITIES}/{name}")).map(|mitigation| (name, mitigation));
    host.list(VULNERABILITIES).into_iter().filter_map(read).collect()
}

/// The kernel's build configuration, if the kernel or its package provides it.
pub fn configuration(host: &Host) -> Option<String> {
    if let Some(packed) = host.bytes("proc/config.gz", LONGEST) {
        let mut text = String::new();
        if flate2::read::GzDecoder::new(packed.as_slice()).take(LONGEST).read_to_string(&mut text).is_ok() {
            return Some(text);
        }
    }
    // A release is one path component. Anything else would lead out of the folder.
    let release = reported(host, RELEASE, rustix::system::uname().release());
    let release = Some(release).filter(|release| !release.contains('/'))?;
    host.read(&format!("boot/config-{release}")).or_else(|| host.read(&format!("lib/modules/{release}/config")))
}

/// The value of a configuration option, if it is set.
pub fn value<'a>(configuration: &'a str, option: &str) -> Option<&'a str> {
    configuration.lines().find_map(|line| line.strip_prefix(option)?.strip_prefix('='))
}

/// The preemption model by the version line, the command line and the configuration, in the order of precedence.
fn preemption(version: &str, command_line: &str, configuration: &str) -> Option<String> {
    let words = || version.split_whitespace();
    if words().any(|word| word == "PREEMPT_RT") {
        return Some("rt".into());
    }
    if let Some(requested) = command_line.split_whitespace().find_map(|word| word.strip_prefix("preempt=")) {
        return Some(requested.into());
    }
    let built = [
        ("CONFIG_PREEMPT_NONE", "none"),
        ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
        ("CONFIG_PREEMPT_LAZY", "lazy"),
        ("CONFIG_PREEMPT", "full"),
    ];
    let built = built.iter().find(|(option, _)| value(configuration, option) == Some("y"));
    // PREEMPT_DYNAMIC alone does not show which model was chosen at boot.
    built.map(|&(_, model)| model.into()).or_else(|| words().any(|word| word == "PREEMPT").then(|| "full".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn what_is_charged_is_known_by_the_clock_and_the_configuration() {
        let here = accounting(&Recorded::empty().host());
        assert_eq!(here.interrupts_apart, None, "without a configuration");
        assert!(here.tick_hz.is_some_and(|hz| (24..=1200).contains(&hz)), "{here:?}");
        let configured = Recorded::new(&[
            ("proc/sys/kernel/osrelease", "6.1.0-x"),
            ("boot/config-6.1.0-x", "CONFIG_HZ=100\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"),
        ]);
        assert_eq!(accounting(&configured.host()).interrupts_apart, Some(true));
        let name = format!("boot/config-{}", rustix::system::uname().release().to_string_lossy());
        let without_proc = Recorded::new(&[(name, "CONFIG_IRQ_TIME_ACCOUNTING=y\n")]);
        assert_eq!(accounting(&without_proc.host()).interrupts_apart, Some(true), "the release is known without /proc");
    }

    #[test]
    fn preemption_is_decided_by_what_overrules() {
        let config = "CONFIG_PREEMPT_BUILD=y\n# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT_VOLUNTARY=y\n\
            CONFIG_PREEMPT_DYNAMIC=y\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n";
        let model = |version, command_line, config| preemption(version, command_line, config);
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC x", "quiet", config).as_deref(), Some("voluntary"));
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC x", "preempt=full", config).as_deref(), Some("full"));
        assert_eq!(model("#1 SMP PREEMPT_RT x", "", config).as_deref(), Some("rt"));
        assert_eq!(model("#1 SMP PREEMPT Mon", "", "").as_deref(), Some("full"));
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC", "", ""), None);
        assert_eq!(value(config, "CONFIG_HZ"), Some("250"));
    }

    #[test]
    fn a_recorded_kernel() {
        let recorded = Recorded::new(&[
            ("proc/sys/kernel/osrelease", "5.10.0-8-arm64"),
            ("proc/sys/kernel/version", "#1 SMP Debian 5.10.46-4 (2021-08-03)"),
            ("boot/config-5.10.0-8-arm64", "CONFIG_HZ=100\nCONFIG_PREEMPT_NONE=y"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI"),
            ("sys/devices/system/cpu/cpuidle/current_driver", "haltpoll"),
            ("sys/devices/system/cpu/cpuidle/current_governor", "haltpoll"),
        ]);
        let kernel = describe(&recorded.host());
        assert_eq!((kernel.tick_hz, kernel.preemption.as_deref()), (Some(100), Some("none")));
        assert_eq!(kernel.mitigations["meltdown"], "Mitigation: PTI");
        assert_eq!(kernel.idle.as_deref(), Some("haltpoll/haltpoll"));
    }

    #[test]
    fn a_packed_configuration_is_unpacked() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"CONFIG_HZ=1000\n").expect("memory takes all");
        let packed = packer.finish().expect("memory takes all");
        let recorded = Recorded::new(&[("proc/config.gz", packed)]);
        assert_eq!(describe(&recorded.host()).tick_hz, Some(1000));
    }
}

//! The frequencies of a CPU, and what controls them.

use record::Frequency;

use crate::machine::host::{Host, field};

/// The frequencies of this CPU in MHz. The processor's name may contain its base frequency.
pub fn describe(host: &Host, cpu: u32, cpuinfo: &str, model: &str) -> Frequency {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}");
    let policy = |file: &str| format!("{folder}/cpufreq/{file}");
    let khz = |file: &str| Some(host.number::<f64>(&policy(file))? / 1000.0);
    let nominal = khz("base_frequency")
        .or_else(|| host.number(&format!("{folder}/acpi_cppc/nominal_freq")))
        .or_else(|| named(model))
        .or(host.processor.base_mhz)
        .or_else(|| field(cpuinfo, "cpu MHz")?.parse().ok());
    Frequency {
        nominal_mhz: nominal.filter(|&mhz| mhz > 0.0),
        max_mhz: khz("scaling_max_freq").or_else(|| khz("cpuinfo_max_freq")).or(host.processor.max_mhz),
        governor: host.read(&policy("scaling_governor")),
        driver: host.read(&policy("scaling_driver")),
        boost: boost(host, &policy("boost")),
    }
}

/// The base frequency in a name such as `Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz`.
fn named(model: &str) -> Option<f64> {
    let ghz = model.split_once('@')?.1.trim().strip_suffix("GHz")?;
    Some((ghz.trim().parse::<f64>().ok()? * 1000.0).round())
}

/// True if boost is on: per machine, per policy, or the opposite of Intel's switch.
fn boost(host: &Host, of_policy: &str) -> Option<bool> {
    let on = |path: &str| host.number::<u8>(path).map(|value| value != 0);
    on("sys/devices/system/cpu/intel_pstate/no_turbo")
        .map(|off| !off)
        .or_else(|| on("sys/devices/system/cpu/cpufreq/boost"))
        .or_else(|| on(of_policy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn a_laptop_with_intel_pstate() {
        let recorded = Recorded::new(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "1900000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "4200000"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "0"),
        ]);
        let expected = Frequency {
            nominal_mhz: Some(1900.0),
            max_mhz: Some(4200.0),
            governor: Some("powersave".into()),
            driver: Some("intel_pstate".into()),
            boost: Some(true),
        };
        assert_eq!(describe(&recorded.host(), 0, "", ""), expected);
    }

    #[test]
    fn a_guest_knows_only_the_name_or_cpuinfo() {
        let host = Recorded::empty().host();
        let named = describe(&host, 0, "cpu MHz\t: 3098.370\n", "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz");
        assert_eq!(named.nominal_mhz, Some(2500.0));
        assert_eq!(describe(&host, 0, "cpu MHz\t\t: 2700.000\n", "Xeon").nominal_mhz, Some(2700.0));
        assert_eq!(describe(&host, 0, "", ""), Frequency::default());
    }
}

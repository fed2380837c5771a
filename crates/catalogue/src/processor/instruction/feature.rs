//! Features of this processor and its kernel that not every one of its architecture has.

use operation::Failure;

/// Nothing if this processor has `feature`, a skip if it does not. Every processor has the empty feature.
#[cfg(target_arch = "x86_64")]
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    let there = match feature {
        "" => true,
        "popcnt" => std::arch::is_x86_feature_detected!("popcnt"),
        "lzcnt" => std::arch::is_x86_feature_detected!("lzcnt"),
        "ssse3" => std::arch::is_x86_feature_detected!("ssse3"),
        "bmi1" => std::arch::is_x86_feature_detected!("bmi1"),
        "avx" => std::arch::is_x86_feature_detected!("avx"),
        "avx2" => std::arch::is_x86_feature_detected!("avx2"),
        "rdtscp" => has_ordered_clock(),
        "fma" => std::arch::is_x86_feature_detected!("fma"),
        "avx512f" => std::arch::is_x86_feature_detected!("avx512f"),
        "avx512bw" => std::arch::is_x86_feature_detected!("avx512bw"),
        _ => return Err(Failure::wrong(format!("there is no check for the feature {feature}"))),
    };
    if there { Ok(()) } else { Err(Failure::skip(format!("the processor lacks {feature}"), "")) }
}

/// True if the time-stamp counter can be read in program order, which `is_x86_feature_detected` does not know.
#[cfg(target_arch = "x86_64")]
fn has_ordered_clock() -> bool {
    let features = raw_cpuid::CpuId::new().get_extended_processor_and_feature_identifiers();
    features.is_some_and(|features| features.has_rdtscp())
}

/// Nothing if this processor has `feature`, a skip if it does not. Every processor has the empty feature.
#[cfg(target_arch = "aarch64")]
pub(super) fn require(feature: &str) -> Result<(), Failure> {
    /// The bit by which the kernel says that it answers reads of the processor's identity (HWCAP_CPUID).
    const IDENTIFIED: usize = 1 << 11;
    let there = match feature {
        "" => true,
        "lse" => std::arch::is_aarch64_feature_detected!("lse"),
        "cpuid" if rustix::param::linux_hwcap().0 & IDENTIFIED == 0 => {
            return Err(Failure::skip("the kernel does not let programs read the processor's identity", ""));
        }
        "cpuid" => true,
        _ => return Err(Failure::wrong(format!("there is no check for the feature {feature}"))),
    };
    if there { Ok(()) } else { Err(Failure::skip(format!("the processor lacks {feature}"), "")) }
}

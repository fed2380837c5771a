//! The microarchitecture of a processor, by model number, corrected by features: a hypervisor may report a wrong model
//! number but can hardly invent an instruction.

/// A generation's rank orders the designs of one vendor by the features they may have.
type Design = (&'static [u32], u32, &'static str);

/// Intel family 6, by model (the kernel's `intel-family.h`).
const INTEL: &[Design] = &[
    (&[0x0f, 0x16, 0x17, 0x1d], 1, "Core 2"),
    (&[0x1a, 0x1e, 0x1f, 0x2e], 2, "Nehalem"),
    (&[0x25, 0x2c, 0x2f], 2, "Westmere"),
    (&[0x2a, 0x2d], 3, "Sandy Bridge"),
    (&[0x3a, 0x3e], 4, "Ivy Bridge"),
    (&[0x37, 0x4a, 0x4d, 0x5a, 0x5d], 3, "Silvermont"),
    (&[0x4c, 0x75], 3, "Airmont"),
    (&[0x5c, 0x5f, 0x7a], 3, "Goldmont"),
    (&[0x86, 0x8a, 0x96, 0x9c], 4, "Tremont"),
    (&[0x57, 0x85], 7, "Knights Landing"),
    (&[0x3c, 0x3f, 0x45, 0x46], 5, "Haswell"),
    (&[0x3d, 0x47, 0x4f, 0x56], 6, "Broadwell"),
    (&[0x4e, 0x5e], 6, "Skylake"),
    (&[0x8e, 0x9e], 6, "Kaby Lake or Coffee Lake"),
    (&[0xa5, 0xa6], 6, "Comet Lake"),
    (&[0x66], 10, "Cannon Lake"),
    (&[0x6a, 0x6c], 10, "Ice Lake-SP"),
    (&[0x7d, 0x7e], 10, "Ice Lake"),
    (&[0x8c, 0x8d], 10, "Tiger Lake"),
    (&[0xa7], 10, "Rocket Lake"),
    (&[0x97, 0x9a], 11, "Alder Lake"),
    (&[0xbe], 11, "Gracemont"),
    (&[0xb7, 0xba, 0xbf], 11, "Raptor Lake"),
    (&[0xaa, 0xac], 11, "Meteor Lake"),
    (&[0xb5, 0xc5, 0xc6], 11, "Arrow Lake"),
    (&[0xbd], 11, "Lunar Lake"),
    (&[0xcc], 11, "Panther Lake"),
    (&[0xaf, 0xb6], 11, "Sierra Forest"),
    (&[0xdd], 11, "Clearwater Forest"),
    (&[0x8f], 12, "Sapphire Rapids"),
    (&[0xcf], 12, "Emerald Rapids"),
    (&[0xad, 0xae], 13, "Granite Rapids"),
];

/// The first Intel design, with its rank, that has a feature; newest first.
const INTEL_FEATURES: &[(&str, u32, &str)] = &[
    ("amx_fp16", 13, "Granite Rapids"),
    ("avx512_fp16", 12, "Sapphire Rapids"),
    ("amx_tile", 12, "Sapphire Rapids"),
    ("avx512_vbmi2", 10, "Ice Lake"),
    ("avx512_vnni", 8, "Cascade Lake"),
    ("avx512f", 7, "Skylake-SP"),
    ("avx2", 5, "Haswell"),
    ("avx", 3, "Sandy Bridge"),
];

/// The first AMD design, with its rank, that has a feature; newest first.
const AMD_FEATURES: &[(&str, u32, &str)] = &[
    ("avx512_vp2intersect", 5, "Zen 5"),
    ("avx512f", 4, "Zen 4"),
    ("vaes", 3, "Zen 3"),
    ("clwb", 2, "Zen 2"),
    ("clzero", 1, "Zen"),
];

/// The microarchitecture of an x86-64 processor; `None` if its numbers are not known.
pub fn x86(vendor: &str, (family, model, stepping): (u32, u32, u32), features: &[String]) -> Option<String> {
    let (by_number, firsts) = match vendor {
        "GenuineIntel" => (intel(family, model, stepping), INTEL_FEATURES),
        "AuthenticAMD" => (amd(family, model), AMD_FEATURES),
        "HygonGenuine" => return (family == 0x18).then(|| "Dhyana".into()),
        _ => return None,
    };
    let (rank, name) = by_number?;
    let by_feature = firsts.iter().find(|(feature, ..)| features.iter().any(|has| has == feature));
    match by_feature {
        Some(&(_, needed, first)) if needed > rank => Some(format!("{first} or later")),
        _ => Some(name.into()),
    }
}

fn intel(family: u32, model: u32, stepping: u32) -> Option<(u32, &'static str)> {
    match (family, model, stepping) {
        // One model number for three designs. The kernel's microcode and erratum tables separate them by stepping.
        (6, 0x55, 0..=4) => Some((7, "Skylake-SP")),
        (6, 0x55, 5..=7) => Some((8, "Cascade Lake")),
        (6, 0x55, _) => Some((8, "Cooper Lake")),
        (6, ..) => INTEL.iter().find(|(models, ..)| models.contains(&model)).map(|&(_, rank, name)| (rank, name)),
        (19, 1, _) => Some((14, "Diamond Rapids")),
        _ => None,
    }
}

/// AMD by family and model (the kernel's `amd.c`).
fn amd(family: u32, model: u32) -> Option<(u32, &'static str)> {
    Some(match (family, model) {
        (0x10, _) => (0, "K10"),
        (0x14, _) => (0, "Bobcat"),
        (0x15, 0x00..=0x01) => (0, "Bulldozer"),
        (0x15, 0x02..=0x1f) => (0, "Piledriver"),
        (0x15, 0x30..=0x3f) => (0, "Steamroller"),
        (0x15, 0x60..=0x7f) => (0, "Excavator"),
        (0x16, _) => (0, "Jaguar"),
        (0x17, 0x08 | 0x18) => (1, "Zen+"),
        (0x17, 0x00..=0x2f | 0x50..=0x5f) => (1, "Zen"),
        (0x17, _) => (2, "Zen 2"),
        (0x19, 0x10..=0x1f | 0x60..=0xaf) => (4, "Zen 4"),
        (0x19, _) => (3, "Zen 3"),
        (0x1a, 0x00..=0x4f | 0x60..=0x7f) => (5, "Zen 5"),
        (0x1a, _) => (6, "Zen 6"),
        _ => return None,
    })
}

/// Implementer, part and name of aarch64 cores (the kernel's `cputype.h`, Arm's and the vendors' manuals).
const ARM: &[(u32, u32, &str)] = &[
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd0e, "Cortex-A76AE"),
    (0x41, 0xd40, "Neoverse V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse N2"),
    (0x41, 0xd4a, "Neoverse E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse V3AE"),
    (0x41, 0xd84, "Neoverse V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd8e, "Neoverse N3"),
    (0x42, 0x516, "ThunderX2"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x46, 0x003, "Monaka"),
    (0x48, 0xd01, "Kunpeng 920"),
    (0x4e, 0x003, "Denver 2"),
    (0x4e, 0x004, "Carmel"),
    (0x4e, 0x010, "Olympus"),
    (0x50, 0x000, "X-Gene"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0xc00, "Falkor"),
    (0x61, 0x022, "Apple M1 Icestorm"),
    (0x61, 0x023, "Apple M1 Firestorm"),
    (0x61, 0x024, "Apple M1 Pro Icestorm"),
    (0x61, 0x025, "Apple M1 Pro Firestorm"),
    (0x61, 0x028, "Apple M1 Max Icestorm"),
    (0x61, 0x029, "Apple M1 Max Firestorm"),
    (0x61, 0x032, "Apple M2 Blizzard"),
    (0x61, 0x033, "Apple M2 Avalanche"),
    (0x61, 0x034, "Apple M2 Pro Blizzard"),
    (0x61, 0x035, "Apple M2 Pro Avalanche"),
    (0x61, 0x038, "Apple M2 Max Blizzard"),
    (0x61, 0x039, "Apple M2 Max Avalanche"),
    (0x6d, 0xd49, "Azure Cobalt 100"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1A"),
    (0xc0, 0xac5, "Ampere-1B"),
];

/// The core with this aarch64 implementer and part number.
pub fn arm(implementer: u32, part: u32) -> Option<String> {
    let known = ARM.iter().find(|&&(who, what, _)| (who, what) == (implementer, part)).map(|&(.., name)| name);
    // A guest of Apple's hypervisor sees no part number.
    known.or((implementer == 0x61).then_some("Apple silicon")).map(str::to_owned)
}

/// The implementer with this aarch64 code (Arm ARM, MIDR_EL1).
pub fn implementer(code: u32) -> Option<&'static str> {
    Some(match code {
        0x41 => "Arm",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x61 => "Apple",
        0x69 => "Intel",
        0x6d => "Microsoft",
        0x70 => "Phytium",
        0xc0 => "Ampere",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(vendor: &str, signature: (u32, u32, u32), features: &str) -> Option<String> {
        let features: Vec<String> = features.split_whitespace().map(str::to_owned).collect();
        x86(vendor, signature, &features)
    }

    #[test]
    fn numbers_show_the_design() {
        for (vendor, signature, features, expected) in [
            ("GenuineIntel", (6, 85, 4), "avx avx2 avx512f", "Skylake-SP"),
            ("GenuineIntel", (6, 85, 7), "avx2 avx512f avx512_vnni", "Cascade Lake"),
            ("GenuineIntel", (6, 106, 6), "avx2 avx512f avx512_vnni avx512_vbmi2", "Ice Lake-SP"),
            ("GenuineIntel", (6, 143, 8), "avx512f amx_tile avx512_fp16", "Sapphire Rapids"),
            ("GenuineIntel", (6, 207, 2), "avx512f amx_tile avx512_fp16", "Emerald Rapids"),
            ("GenuineIntel", (6, 173, 1), "amx_fp16 amx_tile", "Granite Rapids"),
            ("GenuineIntel", (6, 154, 3), "avx2 vaes", "Alder Lake"),
            ("AuthenticAMD", (23, 1, 2), "avx2 clzero", "Zen"),
            ("AuthenticAMD", (23, 49, 0), "avx2 clwb clzero", "Zen 2"),
            ("AuthenticAMD", (25, 1, 1), "vaes clwb", "Zen 3"),
            ("AuthenticAMD", (25, 17, 1), "vaes avx512f", "Zen 4"),
            ("AuthenticAMD", (26, 2, 1), "avx512f avx512_vp2intersect", "Zen 5"),
        ] {
            assert_eq!(name(vendor, signature, features).as_deref(), Some(expected));
        }
    }

    #[test]
    fn features_correct_a_masked_model() {
        let masked = (6, 167, 1);
        assert_eq!(name("GenuineIntel", masked, "avx512f avx512_vbmi2").as_deref(), Some("Rocket Lake"));
        assert_eq!(
            name("GenuineIntel", masked, "avx512f avx512_fp16 amx_tile").as_deref(),
            Some("Sapphire Rapids or later")
        );
        assert_eq!(name("GenuineIntel", masked, "avx512_fp16 amx_fp16").as_deref(), Some("Granite Rapids or later"));
        assert_eq!(name("AuthenticAMD", (23, 49, 0), "avx512f").as_deref(), Some("Zen 4 or later"));
    }

    #[test]
    fn unknown_numbers_show_nothing() {
        assert_eq!(name("GenuineIntel", (15, 6, 1), "avx2"), None);
        assert_eq!(name("TCGTCGTCGTCG", (6, 6, 3), ""), None);
        assert_eq!(arm(0, 0x51), None);
    }

    #[test]
    fn arm_parts() {
        assert_eq!(arm(0x41, 0xd0c).as_deref(), Some("Neoverse N1"));
        assert_eq!(arm(0x41, 0xd4f).as_deref(), Some("Neoverse V2"));
        assert_eq!(arm(0x61, 0x000).as_deref(), Some("Apple silicon"));
        assert_eq!(implementer(0xc0), Some("Ampere"));
    }
}

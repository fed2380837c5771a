//! What the processor reports about itself, without the kernel: cpuid on x86-64, the main id register on aarch64.

use record::Cache;

/// What the processor reports about itself. Empty if it reports nothing.
#[derive(Clone, Debug, Default)]
pub struct Processor {
    /// `GenuineIntel`.
    pub vendor: Option<String>,
    /// `Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz`.
    pub model: Option<String>,
    /// Family, model and stepping.
    pub signature: Option<(u32, u32, u32)>,
    /// The main id register of aarch64.
    pub midr: Option<u64>,
    /// Features, by the kernel's names.
    pub features: Vec<String>,
    /// The caches of the CPU that was read.
    pub caches: Vec<Cache>,
    /// Base frequency in MHz.
    pub base_mhz: Option<f64>,
    /// Highest frequency in MHz.
    pub max_mhz: Option<f64>,
    /// The hypervisor's signature of twelve letters.
    pub hypervisor: Option<String>,
}

/// The processor's name, where programs can read it. Under an emulator it is another than that of the machine below.
#[cfg(target_arch = "x86_64")]
pub fn processor_name() -> Option<String> {
    raw_cpuid::CpuId::new().get_processor_brand_string().map(|brand| brand.as_str().trim().to_owned())
}

/// The processor's name, where programs can read it: not on this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub fn processor_name() -> Option<String> {
    None
}

#[cfg(target_arch = "x86_64")]
pub fn this_processor() -> Processor {
    use raw_cpuid::CpuId;

    let cpuid = CpuId::new();
    let features = cpuid.get_feature_info();
    let frequency = cpuid.get_processor_frequency_info();
    // A hypervisor hides the frequencies with zeroes.
    let mhz = |value: Option<u16>| value.filter(|&mhz| mhz > 0).map(f64::from);
    Processor {
        vendor: cpuid.get_vendor_info().map(|vendor| vendor.as_str().to_owned()),
        model: processor_name(),
        signature: features.as_ref().map(|id| (id.family_id().into(), id.model_id().into(), id.stepping_id().into())),
        midr: None,
        features: x86_features(),
        caches: cpuid.get_cache_parameters().map(|caches| caches.filter_map(x86_cache).collect()).unwrap_or_default(),
        base_mhz: mhz(frequency.as_ref().map(|info| info.processor_base_frequency())),
        max_mhz: mhz(frequency.as_ref().map(|info| info.processor_max_frequency())),
        hypervisor: features.is_some_and(|features| features.has_hypervisor()).then(hypervisor_signature),
    }
}

#[cfg(target_arch = "x86_64")]
fn x86_cache(cache: raw_cpuid::CacheParameter) -> Option<Cache> {
    use raw_cpuid::CacheType;

    let kind = match cache.cache_type() {
        CacheType::Data => "data",
        CacheType::Instruction => "instruction",
        CacheType::Unified => "unified",
        _ => return None,
    };
    let line = cache.coherency_line_size();
    // Size = ways * partitions * line * sets (Intel SDM, CPUID leaf 4; AMD APM, leaf 8000001D).
    let size = cache.associativity() * cache.physical_line_partitions() * line * cache.sets();
    Some(Cache {
        level: cache.level().into(),
        kind: kind.into(),
        size: record::Bytes(size as u64),
        line: u32::try_from(line).ok(),
        shared_by: None,
    })
}

/// The signature in leaf 4000_0000H: twelve letters in EBX, ECX, EDX.
#[cfg(target_arch = "x86_64")]
fn hypervisor_signature() -> String {
    let leaf = raw_cpuid::cpuid!(0x4000_0000u32);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|register| register.to_le_bytes()).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

/// Leaf, subleaf, register (0 EAX to 3 EDX), bit and the kernel's name of the x86-64 features that change costs.
pub const X86_FEATURES: &[(u32, u32, usize, u32, &str)] = &[
    (1, 0, 2, 17, "pcid"),
    (1, 0, 2, 20, "sse4_2"),
    (1, 0, 2, 23, "popcnt"),
    (1, 0, 2, 24, "tsc_deadline_timer"),
    (1, 0, 2, 25, "aes"),
    (1, 0, 2, 28, "avx"),
    (1, 0, 2, 31, "hypervisor"),
    (1, 0, 3, 28, "ht"),
    (7, 0, 1, 0, "fsgsbase"),
    (7, 0, 1, 5, "avx2"),
    (7, 0, 1, 7, "smep"),
    (7, 0, 1, 8, "bmi2"),
    (7, 0, 1, 9, "erms"),
    (7, 0, 1, 10, "invpcid"),
    (7, 0, 1, 16, "avx512f"),
    (7, 0, 1, 20, "smap"),
    (7, 0, 1, 23, "clflushopt"),
    (7, 0, 1, 24, "clwb"),
    (7, 0, 1, 29, "sha_ni"),
    (7, 0, 2, 3, "pku"),
    (7, 0, 2, 5, "waitpkg"),
    (7, 0, 2, 6, "avx512_vbmi2"),
    (7, 0, 2, 9, "vaes"),
    (7, 0, 2, 11, "avx512_vnni"),
    (7, 0, 2, 16, "la57"),
    (7, 0, 2, 28, "movdir64b"),
    (7, 0, 3, 4, "fsrm"),
    (7, 0, 3, 8, "avx512_vp2intersect"),
    (7, 0, 3, 23, "avx512_fp16"),
    (7, 0, 3, 24, "amx_tile"),
    (7, 1, 0, 4, "avx_vnni"),
    (7, 1, 0, 10, "fzrm"),
    (7, 1, 0, 11, "fsrs"),
    (7, 1, 0, 12, "fsrc"),
    (7, 1, 0, 17, "fred"),
    (7, 1, 0, 21, "amx_fp16"),
    (0x8000_0001, 0, 3, 27, "rdtscp"),
    (0x8000_0007, 0, 3, 8, "nonstop_tsc"),
    (0x8000_0008, 0, 1, 0, "clzero"),
    (0x8000_0008, 0, 1, 3, "invlpgb"),
];

#[cfg(target_arch = "x86_64")]
fn x86_features() -> Vec<String> {
    let highest = raw_cpuid::cpuid!(0u32).eax;
    let highest_extended = raw_cpuid::cpuid!(0x8000_0000u32).eax;
    // Leaf 7 has as many subleaves as its first one states. Those beyond contain nothing reliable.
    let subleaves = if highest >= 7 { raw_cpuid::cpuid!(7u32, 0u32).eax } else { 0 };
    let present = |&&(leaf, subleaf, register, bit, _): &&(u32, u32, usize, u32, &str)| {
        let exists = leaf <= highest || (leaf >= 0x8000_0000 && leaf <= highest_extended);
        let answer = raw_cpuid::cpuid!(leaf, subleaf);
        let registers = [answer.eax, answer.ebx, answer.ecx, answer.edx];
        exists && subleaf <= subleaves && registers[register] >> bit & 1 == 1
    };
    X86_FEATURES.iter().filter(present).map(|&(.., name)| name.to_owned()).collect()
}

#[cfg(target_arch = "aarch64")]
pub fn this_processor() -> Processor {
    /// Set if the kernel answers when a program reads the id registers.
    const HWCAP_CPUID: u64 = 1 << 11;

    // SAFETY: takes a number and returns one, 0 for numbers it does not know.
    let capabilities = unsafe { libc::getauxval(libc::AT_HWCAP) };
    if capabilities & HWCAP_CPUID == 0 {
        return Processor::default();
    }
    let midr: u64;
    // SAFETY: reads a register that the kernel emulates for programs, as the flag just tested shows.
    unsafe { std::arch::asm!("mrs {}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags)) };
    Processor { midr: Some(midr), ..Processor::default() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn this_processor() -> Processor {
    Processor::default()
}

//! What would give this process a right that the kernel has refused it. "Run as root" helps nobody who is root.

use crate::machine::host::{Host, field};

/// What to do about a refusal.
pub fn remedy_of_refusal() -> &'static str {
    let host = Host::here();
    match rustix::process::geteuid().is_root() {
        true => remedy_for_root(&host),
        false if is_filtered(&host) => "run as root, or allow the call in the container's seccomp profile",
        false => "run as root",
    }
}

fn is_filtered(host: &Host) -> bool {
    host.read("proc/self/status").is_some_and(|status| field(&status, "Seccomp") == Some("2"))
}

fn remedy_for_root(host: &Host) -> &'static str {
    let status = host.read("proc/self/status").unwrap_or_default();
    // The first namespace maps all users; the last id means nobody.
    let users = host.read("proc/self/uid_map").unwrap_or_default();
    let mapped: Vec<&str> = users.split_whitespace().collect();
    let lacks_rights = |set: &str| u64::from_str_radix(set, 16).is_ok_and(|set| set >> SYS_ADMIN & 1 == 0);
    match () {
        () if !mapped.is_empty() && mapped != ["0", "0", "4294967295"] => {
            "run as root outside of this user namespace, which limits what root may do"
        }
        () if field(&status, "CapEff").is_some_and(lacks_rights) => {
            "give the container the capability SYS_ADMIN: root lacks it here"
        }
        () if is_filtered(host) => "allow the call in the container's seccomp profile",
        () if host.read("sys/kernel/security/lockdown").is_some_and(|modes| modes.contains("[confidentiality]")) => {
            "the kernel is locked down, so root may not read its memory: boot with lockdown=integrity"
        }
        () => "root is refused it too: a limit, the control group or a security module forbids it",
    }
}

/// The capability's number (linux/capability.h).
const SYS_ADMIN: u32 = 21;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::recorded::Recorded;

    #[test]
    fn what_confines_root_is_reported() {
        let all = "CapEff:\t000001ffffffffff";
        let remedy = |map: &str, status: &str| {
            let recorded = Recorded::new(&[("proc/self/uid_map", map), ("proc/self/status", status)]);
            remedy_for_root(&recorded.host())
        };
        let whole = "         0          0 4294967295";
        assert!(remedy("         0       1000          1", all).contains("user namespace"));
        assert!(remedy(whole, "CapEff:\t00000000a80425fb").contains("SYS_ADMIN"));
        assert!(remedy(whole, &format!("{all}\nSeccomp:\t2")).contains("seccomp"));
        assert!(remedy(whole, &format!("{all}\nSeccomp:\t0")).contains("a limit"));
        assert!(remedy("", "").contains("a limit"));
        let locked = |modes: &str| {
            let facts = [("proc/self/status", all), ("sys/kernel/security/lockdown", modes)];
            remedy_for_root(&Recorded::new(&facts).host())
        };
        assert!(locked("none integrity [confidentiality]").contains("lockdown=integrity"));
        assert!(locked("none [integrity] confidentiality").contains("a limit"));
    }
}

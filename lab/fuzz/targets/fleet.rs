//! The folder of a fleet: its state, and what its nodes left. The parts of an input stand apart by zeros: the state, then a node's
//! exit status, log, beginning and document.
#![no_main]

use fleet::Folder;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // Each input has a folder of its own, so that none stays when the fuzzer ends: it ends without destructors of statics.
    let memory = std::path::Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder");
    let place = place.path();
    let at = |name: &str| place.join("fleet/a").join(name);
    std::fs::create_dir_all(at("shared")).expect("a folder");
    let mut parts = data.split(|byte| *byte == 0);
    std::fs::write(at("fleet.json"), parts.next().unwrap_or_default()).expect("a file");
    for (ending, part) in ["exit", "log", "started", "r1.json"].iter().zip(parts) {
        std::fs::write(at(&format!("shared/n0.a1.{ending}")), part).expect("a file");
    }
    let folder = Folder::at(&place.join("fleet"));
    match folder.read("a") {
        Ok(mut fleet) => {
            // Where the files really are, and no further: the state may name any folder.
            (fleet.shared, fleet.documents) = (at("shared"), at("documents"));
            let _ = (fleet.open(), fleet.unfinished(), fleet.complete(), fleet.same_machines(), fleet.mixed_versions());
            let _ = (fleet.plan.arguments(), fleet.plan.limit_s());
            fleet::fuzz_gather(&mut fleet);
            folder.write(&fleet).expect("what was read can be written");
            folder.read("a").expect("and read again");
        }
        Err(error) => howslow_fuzz::is_plain(&error.to_string()),
    }
});

//! The kinds of code, from the shared object that `LD_LIBRARY_PATH` names.
#[link(name = "kinds")]
unsafe extern "C" {
    pub fn arithmetic();
    pub fn hashing();
    pub fn memory();
    pub fn allocation();
    pub fn calls();
}

/// The kinds by name.
pub const KINDS: [(&str, unsafe extern "C" fn()); 5] =
    [("arithmetic", arithmetic), ("hashing", hashing), ("memory", memory), ("allocation", allocation), ("calls", calls)];

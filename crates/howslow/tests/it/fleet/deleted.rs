//! What `howslow fleet` removes at the end: the folder that it made for the nodes, and nothing that a state only names.

use std::path::Path;

use fleet::{Fleet, Folder, Means, SCHEMA};
use predicates::prelude::*;
use predicates::str::contains;

use crate::support::{folder, howslow};

/// A fleet without nodes, which is complete, with this folder.
fn complete(data: &Path, id: &str, shared: &Path) {
    let fleet = Fleet {
        schema: SCHEMA.into(),
        id: id.into(),
        created: "2026-01-01T00:00:00Z".into(),
        howslow: String::new(),
        means: Means::Ssh,
        plan: fleet::Plan::default(),
        installed: false,
        shared: shared.into(),
        documents: data.join("documents"),
        nodes: Vec::new(),
    };
    Folder::at(&data.join("fleet")).write(&fleet).expect("a state");
}

#[test]
fn only_a_folder_that_bears_the_fleet_s_mark_is_removed() {
    let data = folder();
    let at = |name: &str| data.path().join(name);
    for (name, mark) in
        [("precious", None), ("another", Some("other")), ("own", Some("f-own")), ("target", Some("f-link"))]
    {
        std::fs::create_dir(at(name)).expect("a folder");
        std::fs::write(at(name).join("thesis"), "years of work").expect("a file");
        if let Some(id) = mark {
            std::fs::write(at(name).join(".howslow-fleet"), id).expect("a mark");
        }
    }
    std::os::unix::fs::symlink(at("target"), at("link")).expect("a link");
    for name in ["precious", "another", "own", "link"] {
        let id = format!("f-{name}");
        complete(data.path(), &id, &at(name));
        for verb in ["attach", "retry"] {
            let shown = howslow(&data).args(["fleet", verb, &id]).assert().success();
            let stays = contains("this fleet did not make it");
            match name {
                "own" => shown.stderr(stays.not()),
                _ => shown.stderr(stays),
            };
        }
    }
    for name in ["precious", "another", "target"] {
        assert!(at(name).join("thesis").is_file(), "{name}");
    }
    assert!(!at("own").exists());
}

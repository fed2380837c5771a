//! Workers beside this process: they obey their posts, report why they ended, and never outlive it.

use std::path::Path;
use std::time::Duration;

use system::guard::{Crew, Post, children};

use crate::support::{Failed, Trial, child, contains, equal, nothing_left, processes_of_ours, sleep, until};

pub fn tests() -> Vec<Trial> {
    vec![
        ("workers answer commands with numbers", commands),
        ("why a worker ended is reported, whatever ended it", ends),
        ("dropping a crew ends what its workers have started", descendants),
        ("SIGKILL of the parent ends its crew and cleans up", parent_killed),
    ]
}

/// Answers each command with itself, and doubles the first number into the second.
fn doubles(post: &Post) -> ! {
    let mut known = 0;
    loop {
        known = post.wait_for_command(known, None);
        post.put(1, 2.0 * post.number(0));
        post.reply(known);
    }
}

fn commands() -> Result<(), Failed> {
    let crew = Crew::start(3, |_, post| doubles(post), || ())?;
    for round in 1..50_u32 {
        for worker in 0..crew.count() {
            let post = crew.post(worker);
            post.put(0, f64::from(round) + worker as f64);
            post.send(round);
        }
        for worker in 0..crew.count() {
            let post = crew.post(worker);
            until("an answer", || post.wait_for_answer(round - 1, Duration::from_millis(100)) == round)?;
            equal(post.number(1), 2.0 * (f64::from(round) + worker as f64), "the number")?;
        }
    }
    equal(crew.ended(0), None, "a worker that works")
}

fn ends() -> Result<(), Failed> {
    let crew = Crew::start(
        4,
        |number, post| match number {
            0 => "enough".into(),
            1 => panic!("a mistake"),
            2 => {
                // SAFETY: ends this process.
                unsafe { libc::raise(libc::SIGFPE) };
                String::new()
            }
            _ => doubles(post),
        },
        || (),
    )?;
    for (worker, why) in [(0, "enough"), (1, "it panicked: a mistake"), (2, "SIGFPE")] {
        until("the end of a worker", || crew.ended(worker).is_some())?;
        contains(&crew.ended(worker).unwrap_or_default(), why)?;
    }
    equal(crew.ended(3), None, "the one that works")
}

/// Starts a child that sleeps, reports its id, and waits for ever.
fn with_child(post: &Post) -> String {
    // SAFETY: the child only sleeps.
    let child = unsafe { libc::fork() };
    if child != 0 {
        post.put(0, f64::from(child));
        post.reply(1);
    }
    sleep()
}

fn descendants() -> Result<(), Failed> {
    let before = processes_of_ours();
    let crew = Crew::start(2, |_, post| with_child(post), || ())?;
    until("the children", || (0..2).all(|worker| crew.post(worker).answer() == 1))?;
    equal(processes_of_ours(), before + 5, "a guard, two workers and their children")?;
    drop(crew);
    equal(processes_of_ours(), before, "processes before and after")
}

fn parent_killed() -> Result<(), Failed> {
    let root = tempfile::tempdir()?;
    let before = processes_of_ours();
    let folder = root.path().join("folder");
    std::fs::create_dir(&folder)?;
    let pid = parent(&folder);
    until("the crew", || folder.join("ready").exists())?;
    children::kill(pid);
    children::wait_for(pid);
    until("the guard to clean up", || processes_of_ours() == before && nothing_left(root.path()).is_ok())
}

/// A child with a crew whose folder is to be removed once it is gone.
fn parent(folder: &Path) -> libc::pid_t {
    let gone = || {
        let _ = std::fs::remove_dir_all(folder);
    };
    child(|| {
        if let Ok(crew) = Crew::start(1, |_, post| with_child(post), gone)
            && until("a child", || crew.post(0).answer() == 1).is_ok()
            && std::fs::write(folder.join("ready"), "").is_ok()
        {
            // Until killed.
            std::thread::sleep(Duration::from_secs(600));
        }
        1
    })
}

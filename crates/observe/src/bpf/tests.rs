//! What happens in the kernel between two looks.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::tested;

/// Programs that are loaded, with this many free records.
fn loaded(whom: Whom, records: usize) -> Option<(Counting, Programs)> {
    tested(Counting::new(whom, records, &Options::default()), "no program can be loaded")
}

#[test]
fn the_programs_are_accepted_for_every_target() {
    let cgroup = |depth| Whom::Cgroup { id: 1, depth };
    let wanted = |joined_later| Whom::Wanted { joined_later };
    let own = Whom::AllBut(std::process::id());
    for whom in [Whom::Announced, wanted(false), wanted(true), cgroup(Some(0)), cgroup(None), own] {
        for detail in [Detail::All, Detail::Numbers] {
            match Counting::new(whom, 1, &Options { detail, ..Options::default() }) {
                Err(error) if error.raw_os_error().is_some() => return testing::not_tested!("{error}"),
                Ok((counting, _)) => by_type(&counting.maps, whom),
                Err(error) => panic!("{whom:?}, {detail:?}: {error}"),
            }
        }
    }
}

/// A kernel that describes its types takes the faster program.
fn by_type(maps: &Maps, whom: Whom) {
    if let Some(typed) = maps.types.and_then(|types| types.at_return) {
        let program = returned::returned(maps, whom, builder::Registers::ByType);
        Program::load_for("returned", &program, sys::Runs::Typed(typed)).expect("it is accepted");
    }
}

#[test]
fn a_task_that_ends_while_those_that_run_are_looked_for_is_in_this_look_and_ends_later() {
    let Some((mut counting, _programs)) = loaded(Whom::Announced, 2) else { return };
    let slot = counting.maps.free.take().expect("a free record");
    let number = u32::from_ne_bytes(slot.clone().try_into().expect("a number"));
    let key = 1_u64.to_ne_bytes();
    counting.maps.tasks.set(&key, &slot).expect("a task");
    assert_eq!(counting.running().expect("a look"), [], "it has only been created");
    let (chunk, place) = counting.maps.place(number).expect("a record");
    let mut record = chunk.get(&place).expect("a record");
    record[layout::IDENTITY as usize..][..8].copy_from_slice(&(7_u64 << 32 | 9).to_ne_bytes());
    chunk.set(&place, &record).expect("it is set");
    let looked = |counting: &mut Counting| {
        counting.running().expect("a look").iter().map(|task| task.thread).collect::<Vec<_>>()
    };
    assert_eq!(looked(&mut counting), [9]);
    // After what ended was read.
    counting.maps.tasks.remove(&key).expect("it is there");
    counting.maps.ended.push(&slot).expect("there is room");
    assert_eq!((looked(&mut counting), looked(&mut counting)), (vec![9], vec![9]));
    assert_eq!(counting.ended().expect("a look").len(), 1);
    assert_eq!((looked(&mut counting), counting.ended().expect("a look").len()), (vec![], 0));
}

#[test]
fn tasks_without_a_record_are_looked_for_again_where_they_are_found_to_be_watched() {
    let wanted = |joined_later| Whom::Wanted { joined_later };
    for (whom, kept) in [(Whom::Announced, 2), (wanted(false), 1), (wanted(true), 0), (Whom::AllBut(1), 0)] {
        let Some((mut counting, _programs)) = loaded(whom, 1) else { return };
        for (task, mark) in [(1_u64, layout::OVERFLOW), (2, layout::CREATED)] {
            counting.maps.tasks.set(&task.to_ne_bytes(), &mark.to_ne_bytes()).expect("a task");
        }
        counting.maps.lost.set(&[0; 4], &[2_u64, 0, 0, 2, 2].map(u64::to_ne_bytes).concat()).expect("it is set");
        assert_eq!(counting.ended().expect("a look"), []);
        assert_eq!(counting.maps.tasks.keys().len(), kept, "{whom:?}");
    }
    let Some((counting, _programs)) = loaded(Whom::Announced, 1) else { return };
    for task in 0..5_u64 {
        counting.maps.tasks.set(&task.to_ne_bytes(), &layout::OVERFLOW.to_ne_bytes()).expect("a task");
    }
    let forget = |most| counting.maps.forget_shared(&[layout::OVERFLOW], most);
    assert_eq!([3, 3, 3].map(forget), [3, 2, 0], "no more than have a record then");
}

#[test]
fn a_record_for_which_no_task_can_be_followed_stays_free() {
    let Some((counting, programs)) = loaded(Whom::Announced, 1) else { return };
    let mut tasks = 0_u64;
    while counting.maps.tasks.set(&tasks.to_ne_bytes(), &layout::IGNORED.to_ne_bytes()).is_ok() {
        tasks += 1;
    }
    for _ in 0..100 {
        if let Err(error) = programs.enrol() {
            return testing::not_tested!("{error}; Linux 5.10 runs programs on demand");
        }
    }
    assert_eq!(counting.losses(), Losses { tasks: 100, ..Losses::default() });
    assert_eq!(counting.maps.noted(layout::lost::GIVEN), 0);
}

/// A process that computes until the first of these is set and then makes its first call: to create another one, or to end. It computes
/// once the second is set.
fn computing(creates: bool) -> (libc::pid_t, &'static [AtomicBool; 2]) {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: it is new memory, which both processes have.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, kind, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: it begins with zeros and is there until this process ends.
    let flags = unsafe { &*page.cast::<[AtomicBool; 2]>() };
    // SAFETY: the child allocates nothing and ends itself.
    let child = unsafe { libc::fork() };
    if child == 0 {
        flags[1].store(true, Ordering::Release);
        while !flags[0].load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        // SAFETY: as fork(2), without the calls that the C library makes before.
        if creates && unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } > 0 {
            // SAFETY: no status is written.
            unsafe { libc::wait(std::ptr::null_mut()) };
        }
        // SAFETY: nothing is to be done before the end.
        unsafe { libc::_exit(0) };
    }
    while !flags[1].load(Ordering::Acquire) {
        std::thread::yield_now();
    }
    (child, flags)
}

#[test]
fn a_process_is_watched_whose_first_call_creates_another_or_is_its_last() {
    for creates in [false, true] {
        let Some((mut counting, programs)) = loaded(Whom::Wanted { joined_later: false }, 64) else { return };
        if !counting.knows_objects() {
            return testing::not_tested!("the kernel does not describe its types; CONFIG_DEBUG_INFO_BTF");
        }
        let (child, flags) = computing(creates);
        let attached = counting.want(child as u32).and_then(|()| counting.attach(programs));
        flags[0].store(true, Ordering::Release);
        // SAFETY: no status is written.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        attached.expect("they are attached");
        counting.detach(true);
        let ended = counting.ended().expect("a look");
        assert_eq!(ended.len(), 1 + usize::from(creates), "{ended:?}");
        let child = ended.iter().find(|task| task.process == child as u32).expect("it is watched");
        assert_eq!(child.counts.forks, u64::from(creates));
        assert!(ended.iter().filter(|task| task.id != child.id).all(|task| task.parent == Some(child.id)));
    }
}

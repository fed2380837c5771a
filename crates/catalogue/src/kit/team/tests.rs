//! Partners that do their work, in either memory, and partners that do not.

use std::sync::atomic::AtomicU64;

use record::Point;

use super::*;

/// Work that is right so often.
struct Right(u32);

impl Work for Right {
    fn work(&mut self, _: u64) {}

    fn check(&mut self, _: u64) -> Result<(), Failure> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| Failure::wrong("the work was not done"))?;
        Ok(())
    }
}

/// `None`, said aloud, where there is but one CPU.
fn setting() -> Option<Setting> {
    let other = crate::kit::trial::other_cpu();
    if other.is_none() {
        testing::not_tested!("only one CPU may be used, allow a second one");
    }
    other.map(|other| Setting::new(Point::default(), std::env::temp_dir(), 0, Some(other), 7))
}

/// One partner on another CPU.
fn seats(setting: &Setting) -> Seats {
    Seats::apart(setting, 2).expect("a second CPU")
}

#[test]
fn a_partner_that_does_not_do_its_work_is_reported() {
    let Some(setting) = setting() else { return };
    for memory in [Memory::Own, Memory::Ours] {
        let seats = Seats { memory, ..seats(&setting) };
        let make = |seat: Seat| Ok(Right(if seat.number == 0 { 9 } else { 2 }));
        let mut loop_of_both = together(&setting, &seats, make).expect("a team");
        loop_of_both.perform(1).expect("the first");
        loop_of_both.perform(5).expect("the second");
        assert!(matches!(loop_of_both.perform(1), Err(Failure::Wrong(_))));
        let loaded = beside(&setting, (&seats, Part::Throughout), |_| Ok(Right(9)), |_| Ok(Right(0)));
        assert!(matches!(loaded.expect("a team").perform(1), Err(Failure::Wrong(_))));
    }
}

#[test]
fn a_partner_without_memory_or_a_cpu_is_a_skip() {
    let Some(setting) = setting() else { return };
    let seats = seats(&setting);
    let make = |seat: Seat| if seat.number == 0 { Ok(Right(9)) } else { Err(Failure::Errno { errno: libc::ENOMEM }) };
    assert!(matches!(together(&setting, &seats, make), Err(Failure::Skip { .. })));
    let make = |seat: Seat| if seat.number == 0 { Ok(Right(9)) } else { Err(Failure::wrong("base pages")) };
    assert!(matches!(together(&setting, &seats, make), Err(Failure::Wrong(_))), "another round may have huge pages");
    assert!(matches!(Seats::apart(&setting, 3), Err(Failure::Skip { .. })));
}

/// Work that counts itself in memory of the process it is done in.
struct Counted(Arc<AtomicU64>);

impl Work for Counted {
    fn work(&mut self, times: u64) {
        self.0.fetch_add(times, Ordering::Relaxed);
    }
}

/// On our own CPU nobody has to spin through a time slice for another, and only threads do their work in our memory.
#[test]
fn tasks_that_share_one_cpu_all_do_their_part_where_it_is_theirs() {
    for (memory, counted) in [(Memory::Own, 7), (Memory::Ours, 4 * 7)] {
        // On a thread of its own, whose CPUs it may change.
        let done = std::thread::spawn(move || {
            pin(0).expect("CPU 0");
            let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 7);
            let total = Arc::new(AtomicU64::new(0));
            let seen = Arc::clone(&total);
            let seats = Seats { cpus: vec![0; 3], memory };
            let mut work = together(&setting, &seats, move |_| Ok(Counted(Arc::clone(&total)))).expect("a team");
            work.perform(3).expect("three of each");
            work.perform(4).expect("four of each");
            seen.load(Ordering::Relaxed)
        });
        assert_eq!(done.join().expect("the team works"), counted, "{memory:?}");
    }
}

/// A machine of a thousand CPUs may have two tasks on each. A thread's stack does not hold all members.
#[test]
fn a_board_of_thousands_of_members_needs_no_stack() {
    let made = std::thread::Builder::new().stack_size(64 << 10).spawn(|| {
        let board = Board::new(true).expect("memory");
        let last = &board.members.last().expect("members").0;
        last.units.store(7, Ordering::Relaxed);
        (board.members.len(), board.members[0].0.state.load(Ordering::Relaxed), last.units.load(Ordering::Relaxed))
    });
    let (members, state, units) = made.expect("a thread").join().expect("a board");
    assert!(members > 2 * 1024);
    assert_eq!((state, units), (SETTING_UP, 7));
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

#[test]
fn threads_end_with_their_team() {
    let looked = std::thread::spawn(|| {
        pin(0).expect("CPU 0");
        let setting = Setting::new(Point::default(), std::env::temp_dir(), 0, None, 7);
        let seats = Seats { cpus: vec![0; 20], memory: Memory::Ours };
        let mut work = beside(&setting, (&seats, Part::Throughout), |_| Ok(Right(9)), |_| Ok(Right(u32::MAX)));
        work.as_mut().expect("a team").perform(1).expect("a batch");
        let during = threads();
        drop(work);
        (during, threads())
    });
    let (during, after) = looked.join().expect("the team works");
    assert!(during > 20 && after < 20, "{during} threads, then {after}");
}

/// A piece of work of 2 ms that notes when it began.
struct Piece(Arc<AtomicU64>, Instant);

impl Work for Piece {
    fn work(&mut self, times: u64) {
        const TAKES: Duration = Duration::from_millis(2);
        for _ in 0..times {
            let begin = Instant::now();
            self.0.store((begin - self.1).as_nanos() as u64, Ordering::Relaxed);
            while begin.elapsed() < TAKES {
                std::hint::spin_loop();
            }
        }
    }
}

/// Counts batches that begin when a piece of the partner's has been done for more than a quarter.
struct Late(Piece, Arc<AtomicU64>);

impl Work for Late {
    fn work(&mut self, _: u64) {
        let Piece(begun, epoch) = &self.0;
        let since = epoch.elapsed().as_nanos() as u64 - begun.load(Ordering::Relaxed);
        self.1.fetch_add(u64::from(since > 500_000), Ordering::Relaxed);
    }
}

#[test]
fn short_batches_meet_every_part_of_a_partner_s_piece() {
    let Some(setting) = setting() else { return };
    let seats = Seats { memory: Memory::Ours, ..seats(&setting) };
    let (begun, late, epoch) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default(), Instant::now());
    let (own, counted) = (Arc::clone(&begun), Arc::clone(&late));
    let mut work = beside(
        &setting,
        (&seats, Part::Throughout),
        |_| Ok(Late(Piece(own, epoch), counted)),
        move |_| Ok(Piece(Arc::clone(&begun), epoch)),
    )
    .expect("a team");
    for _ in 0..20 {
        work.perform(1).expect("a batch");
    }
    assert!(late.load(Ordering::Relaxed) >= 5, "{late:?}");
}

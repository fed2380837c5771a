//! What a setting makes of a point: partners' CPUs and working sets.

use super::*;
use record::Value;

fn setting(point: Point, other_cpu: Option<u32>) -> Setting {
    const AXES: &[Axis] = &[crate::partner("distance", &[])];
    let setting = Setting::new(point, std::env::temp_dir(), 0, other_cpu, 1);
    setting.learn(AXES);
    setting
}

fn at(axis: &str, word: &str) -> Point {
    Point::default().with(axis, Value::Word(word.into()))
}

#[test]
fn both_cpus_are_kept_awake_by_tasks_that_give_way() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return testing::not_tested!("needs two CPUs");
    }
    let setting = setting(at("distance", "awake"), Some(1));
    assert_eq!(setting.partner_cpu(), Ok(1));
    assert_eq!(setting.partner_cpu(), Ok(1));
    let places = || -> Vec<(i32, Vec<u32>)> {
        let place = |partner: &Partner| {
            // SAFETY: touches no memory.
            let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, partner.pid()) } as i32;
            let cpus = rustix::thread::sched_getaffinity(Pid::from_raw(partner.pid())).expect("alive");
            (policy, (0..64).filter(|&cpu| cpus.is_set(cpu)).map(|cpu| cpu as u32).collect())
        };
        setting.awake.borrow().iter().map(place).collect()
    };
    let both = [(libc::SCHED_IDLE, vec![1]), (libc::SCHED_IDLE, vec![0])];
    let start = std::time::Instant::now();
    // The tasks set themselves up, so wait for both.
    while places() != both {
        assert!(start.elapsed().as_secs() < 10, "{:?}", places());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // Their processor time belongs to no cost.
    assert!(setting.partners.borrow().is_empty());
}

#[test]
fn a_partner_elsewhere_is_reported_and_one_that_is_not_there_is_a_skip() {
    let same = setting(at("distance", "same"), Some(1));
    assert_eq!((same.partner_cpu(), same.tallied().len()), (Ok(0), 0));
    let other = setting(at("distance", "other"), Some(1));
    assert_eq!((other.partner_cpu(), other.partner_cpu()), (Ok(1), Ok(1)));
    let reported = other.tallied();
    assert_eq!(reported.len(), 1);
    assert!(reported.iter().all(|(name, share)| name.starts_with("partner ") && *share == 1.0), "{reported:?}");
    for (word, reason) in [("other", "only one CPU"), ("sibling", "no hardware thread"), ("socket", "no other socket")]
    {
        let end = setting(at("distance", word), None).partner_cpu();
        assert!(matches!(&end, Err(Failure::Skip { reason: reported, .. }) if reported.starts_with(reason)), "{end:?}");
    }
}

#[test]
fn working_sets_are_numbers_or_parts_of_the_caches() {
    let fixed = setting(Point::default().with("set", Value::Number(4096)), None);
    assert_eq!((fixed.cached("set"), fixed.tallied().len()), (Ok(4096), 0));
    let caches = system::machine::data_caches(0);
    let Some(&first) = caches.get(&1) else { return testing::not_tested!("nothing tells the caches here") };
    let half = setting(at("set", "half-l1"), None);
    assert_eq!(half.cached("set"), Ok(first as usize / 2));
    assert_eq!(half.tallied().get("set bytes"), Some(&(first as f64 / 2.0)));
    if let Some(&second) = caches.get(&2) {
        assert!(second > first, "{caches:?}");
        // One fits and two do not.
        let most = setting(at("set", "most-l2"), None).cached("set").expect("a set") as u64;
        assert!(most < second && 2 * most > second, "{most} of {second}");
        for (word, set) in [("quarter-l2", second / 4), ("all-l2", second), ("twice-l2", 2 * second)] {
            assert_eq!(setting(at("set", word), None).cached("set"), Ok(set as usize));
        }
    }
    assert!(matches!(setting(at("set", "half-l9"), None).cached("set"), Err(Failure::Skip { .. })));
    for nonsense in ["half", "half-lx", "third-l1"] {
        assert!(matches!(setting(at("set", nonsense), None).cached("set"), Err(Failure::Wrong(_))), "{nonsense}");
    }
}

#[test]
fn an_axis_that_the_point_lacks_is_an_error() {
    let setting = setting(at("kind", "old").with("size", Value::Number(64)), None);
    assert_eq!((setting.size(), setting.word("kind")), (Ok(64), Ok("old")));
    let lacking = [setting.number("sise").err(), setting.number("kind").err(), setting.word("size").err()];
    for failure in lacking {
        assert!(matches!(&failure, Some(Failure::Wrong(why)) if why.contains("@kind=old,size=64")), "{failure:?}");
    }
}

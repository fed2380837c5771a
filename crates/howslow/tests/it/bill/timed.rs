//! What calls take of the processor, and where a command is while it runs: by samples.

use super::programs::program;
use super::*;

#[test]
fn calls_and_commands_are_timed_by_samples() {
    a_call_takes_its_own_time_with_what_the_kernel_does_after_it_and_without_its_sleep();
    a_short_command_is_split_into_user_and_kernel_time_by_samples_of_its_own();
}

fn a_call_takes_its_own_time_with_what_the_kernel_does_after_it_and_without_its_sleep() {
    let Some(data) = counting("ebpf") else { return };
    let bill = billed(&data, data.path(), &[&program("timed")]);
    let measured = |name: &str| {
        let found = call(&bill.seen.together, name);
        found
            .measured
            .unwrap_or_else(|| panic!("{found:?} was not sampled; {:?}, {:?}", bill.seen.counting, bill.seen.losses))
    };
    let sleep = measured("clock_nanosleep");
    // But for those in which the kernel did not report that the task left its CPU.
    assert!((17..=20).contains(&sleep.samples), "the first calls of each kind are timed, and of 20 {sleep:?}");
    assert!(sleep.mean_ns < 2e6, "a sleep of 10 ms works for {sleep:?}");
    let short = measured("getppid");
    // Of the first 256, those go too in which the task lost its CPU unseen.
    assert!((200..2000).contains(&short.samples), "{short:?} of 20,000 calls");
    assert!(short.error_ns > 0.0 && short.mean_ns > 0.0 && short.mean_ns < 20_000.0, "{short:?}");
    let text = fs::read_to_string(data.path().join("took")).expect("its file");
    let (took, is_registered) = text.split_once(' ').expect("two words");
    if is_registered != "true" {
        return testing::not_tested!("the C library does not ask the kernel for its CPU; glibc 2.35 does");
    }
    let (took, last, first): (f64, _, _) = (took.parse().expect("ns"), measured("dup2"), measured("close"));
    // The program's clock also has what counting takes, and interrupts; of the calls, some are timed, and a device is busier at times.
    let (low, high) = (last.mean_ns - 3.0 * last.error_ns, last.mean_ns + 3.0 * last.error_ns);
    assert!(high > 0.5 * took && low < 1.5 * took, "{last:?}, by the program's clock {took}");
    assert!(last.mean_ns > 20.0 * first.mean_ns, "{last:?} and {first:?}");
}

fn a_short_command_is_split_into_user_and_kernel_time_by_samples_of_its_own() {
    let Some(data) = counting("ebpf") else { return };
    let kernel_share = |words: &[&str]| {
        let Observation { usage, accounting, .. } = billed(&data, data.path(), words).seen;
        let between = accounting.sample_ns.expect("samples of its own");
        // Two milliseconds at first, five later.
        assert!((1.9e6..5.1e6).contains(&between), "{between} ns");
        let (all, charged): (f64, _) =
            (usage.sampled_ns.expect("both modes").iter().sum(), usage.cpu_ns.expect("a charge"));
        assert!((0.5..2.0).contains(&(all / charged)), "{all} of {charged} ns were sampled");
        let returned = accounting.call_return_ns.expect("measured");
        assert!(returned > 0.0 && returned < 10_000.0, "{returned} ns");
        usage.system_ns.expect("kernel time") / charged
    };
    let computing = kernel_share(&["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]);
    // Interrupts of other programs' work come to whoever runs.
    assert!(computing < 0.5, "a loop that makes no call is in the kernel for {computing}");
    let reading = kernel_share(&["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=60000", "status=none"]);
    assert!(reading > 0.8, "zeros are written by the kernel, which had {reading}");
}

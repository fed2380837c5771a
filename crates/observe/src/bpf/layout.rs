//! What the programs write and the reader reads: the record of a task, byte by byte; and what differs between architectures.

/// Calls with a number below this are counted by number; what is above, in the table.
pub(crate) const CALLS: usize = crate::naming::CALLS;
/// Places of the table, a power of two.
pub(crate) const PLACES: usize = 1 << PLACE_BITS;
/// The bits of a place.
pub(crate) const PLACE_BITS: u32 = 9;
/// A key that finds its place taken looks at this many; after them it goes to the map that all records share.
pub(crate) const TRIES: usize = 4;

/// `struct task_struct *` of the task, 0 if it ended.
pub(crate) const TASK: i16 = 0;
/// The number by which the reader knows this use of the record.
pub(crate) const ID: i16 = 8;
/// The number of the record of the task that created it, 0 if none.
pub(crate) const PARENT: i16 = 16;
/// Process id in the high half, thread id in the low one.
pub(crate) const IDENTITY: i16 = 24;
/// The flags below.
pub(crate) const FLAGS: i16 = 32;
/// The number of the call before, or [`NONE`].
pub(crate) const LAST: i16 = 36;
/// `struct pt_regs *`: the registers as they were when the task entered the kernel. The place is the same for all its life.
pub(crate) const REGISTERS: i16 = 40;
/// When it was created or first seen, in ns of the monotonic clock.
pub(crate) const BEGIN: i16 = 48;
/// When it ended.
pub(crate) const END: i16 = 56;
/// Tasks it created.
pub(crate) const FORKS: i16 = 64;
/// Programs it executed after it was first seen.
pub(crate) const EXECS: i16 = 72;
/// Its name, 16 bytes.
pub(crate) const NAME: i16 = 80;
/// The id of its cgroup, at its end.
pub(crate) const CGROUP: i16 = 96;
/// When it left the CPU, in ns; 0 while it runs.
pub(crate) const LEFT: i16 = 104;
/// Since when it has been runnable without running, in ns; 0 while it sleeps.
pub(crate) const RUNNABLE: i16 = 112;
/// The scheduler's state in which it left the CPU, 4 bytes.
pub(crate) const STATE: i16 = 120;
/// The number of the sampled call that it is in, 4 bytes.
pub(crate) const SAMPLED_CALL: i16 = 124;
/// How long it has been off the CPU in all, in ns.
pub(crate) const AWAY: i16 = 128;
/// When it entered the sampled call, in ns; 0 if it is in none.
pub(crate) const ENTERED: i16 = 136;
/// How long it had been off the CPU then.
pub(crate) const ENTERED_AWAY: i16 = 144;
/// How many calls the sampled one stands for.
pub(crate) const WEIGHT: i16 = 152;
/// A hash of the name of its working folder.
pub(crate) const FOLDER: i16 = 160;
/// As [`IDENTITY`], of the task that created it.
pub(crate) const CREATOR: i16 = 168;
/// The hash of the name whose attributes it requested last; 0 if another name came after.
pub(crate) const ATTRIBUTES_OF: i16 = 176;
/// When a sampled call had returned, in ns, until the next call or until the kernel went on for it: see `timed::went_on`; else 0.
pub(crate) const RETURNED: i16 = 184;
/// How many samples found it in its program and in the kernel, for each period of `modes::PERIODS`.
pub(crate) const MODES: [[i16; 2]; 2] = [[192, 200], [208, 216]];
/// What the program at a call took behind sampled ones, in ns, and how many calls there are, as often as the samples stand for others.
pub(crate) const IN_PROGRAM: i16 = 224;
pub(crate) const IN_PROGRAM_CALLS: i16 = 232;
/// Not 0 if what a descriptor stands for is to be looked up again at the next call: after each sample, for what no call of its process
/// shows, such as another process that has the same descriptors.
pub(crate) const LOOK: i16 = 240;
/// The anonymous pages of its process when a sampled call began that may give some back.
pub(crate) const PAGES: i16 = 248;
/// How long it has run when it ended, in ns of the scheduler's clock, in all its life; 0 if that is not known.
pub(crate) const RUN_TIME: i16 = 256;
/// By number: how often, and the sum of the results that are not negative. Eight bytes each.
pub(crate) const COUNTS: i16 = 264;
/// Keys and how often, eight bytes each; a key of 0 is a free place.
pub(crate) const TABLE: i16 = COUNTS + (CALLS * 16) as i16;
/// How many different names were looked up: a sketch, one byte for each of its registers.
pub(crate) const SKETCH: i16 = TABLE + ((PLACES + TRIES - 1) * 16) as i16;
/// As the counts by number, by the place of the call and the kind of the object, see `objects`.
pub(crate) const OBJECTS: i16 = SKETCH + crate::sketch::REGISTERS as i16;
/// Places of calls, a power of two.
pub(crate) const OBJECT_CALLS: usize = 16;
pub(crate) const OBJECT_KINDS: usize = crate::objects::KINDS.len();
/// The size of a record in bytes.
pub(crate) const RECORD: usize = OBJECTS as usize + OBJECT_CALLS * OBJECT_KINDS * 16;
/// Records are in arrays of this many, a power of two, so that there are only as many as tasks need.
pub(crate) const CHUNK: usize = 1 << CHUNK_BITS;
pub(crate) const CHUNK_BITS: i32 = 5;

/// Names of open descriptors that are kept, a power of two; a new one takes the place of another with the same hash.
pub(crate) const FOLDER_BITS: i32 = 14;
/// Each is the process in the high half and the descriptor in the low one, and a hash of the name by which it was opened.
pub(crate) const FOLDER_SIZE_BITS: i32 = 4;
pub(crate) const FOLDERS: usize = 1 << (FOLDER_BITS + FOLDER_SIZE_BITS);

/// What descriptors stand for: see the file `kinds`.
pub(crate) mod kinds {
    /// Generations of processes, by a hash of the process: a power of two. Eight bytes each.
    pub(crate) const GENERATIONS: usize = 1 << 10;
    /// Behind them the kinds, as many as numbers of this many bits. Each is, from its high bits on, the generation, the process (which has
    /// 22 bits: include/linux/threads.h, `PID_MAX_LIMIT`), the descriptor and the kind.
    pub(crate) const BITS: i32 = 14;
    pub(crate) const FIRST: i16 = (GENERATIONS * 8) as i16;
    pub(crate) const PROCESS_BITS: i32 = 22;
    pub(crate) const DESCRIPTOR_BITS: i32 = 20;
    pub(crate) const KIND_BITS: i32 = 5;
    /// Descriptors from this one on are not kept.
    pub(crate) const DESCRIPTORS: i32 = 1 << DESCRIPTOR_BITS;
    pub(crate) const SIZE: usize = (GENERATIONS + (1 << BITS)) * 8;
}

/// Places of the hints, a power of two.
pub(crate) const HINT_BITS: i32 = 12;
/// The size of a hint: the number of a record; an address of saved registers whose task is not watched; and the number of
/// records that had been given out when that was found.
pub(crate) const HINT_SIZE_BITS: i32 = 5;
pub(crate) const HINT_SLOT: i16 = 0;
pub(crate) const HINT_STRANGER: i16 = 8;
pub(crate) const HINT_EPOCH: i16 = 16;
/// The size of the hints.
pub(crate) const HINTS: usize = 1 << (HINT_BITS + HINT_SIZE_BITS);

/// The task has not yet returned to its program since it was created or since it executed one.
pub(crate) const FRESH: i32 = 1;
/// It runs a 32-bit program.
pub(crate) const NARROW: i32 = 2;
/// The record is shared by tasks for which no record was left.
pub(crate) const SHARED: i32 = 4;

/// No call came before.
pub(crate) const NONE: i32 = 0xffff;
/// In place of the number of a record: the task is not watched.
pub(crate) const IGNORED: i32 = 0x7fff_ffff;
/// In place of the number of a record: none was left, so the CPU's shared one is used.
pub(crate) const OVERFLOW: i32 = 0x7fff_fffe;
/// The same of a task that a watched one created. Below are numbers of records.
pub(crate) const CREATED: i32 = 0x7fff_fffd;

/// What a key of the table counts; its bits 32 to 39. Below are two numbers of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// One call after another: the numbers of both.
    Pair = 1,
    /// A call that failed: its number and its errno.
    Error = 2,
    /// A signal that was delivered.
    Signal = 3,
    /// A call of a 32-bit program: its number.
    Narrow = 4,
    /// A number that is no call's.
    Unknown = 5,
    /// A request of an io_uring: its operation code.
    Ring = 6,
    /// A file that was opened and, if there was none, created: the number of the call.
    Create = 7,
    /// A call of a program with short pointers (x32): its number.
    Short = 8,
    /// A task that was woken within a call: its number. Always in the map that all records share: it may happen in an interrupt,
    /// while the table is being changed.
    Wake = 9,
    /// A time off the CPU: the number of the call in which it was, or [`NONE`]; and the `WaitReason` above the logarithm of its length.
    Wait = 10,
    /// The sum of such times in ns: the number of the call, and the `WaitReason`.
    WaitTime = 11,
    /// A sampled call by its time on the CPU: its number, and the logarithm of that time.
    Sample = 12,
    /// The sum of such times in ns, by the number of the call. Both have the weight of the samples.
    SampleTime = 13,
    /// The sum of the squares of their weights, which shows how much they are worth.
    Squares = 14,
    /// Like [`Kind::Wake`], if the woken task was last on the same CPU.
    WakeNear = 15,
    /// A huge page that the task was given when it touched memory.
    Huge = 16,
    /// Pages of its own that a process had when it was copied.
    Copied = 17,
    /// A file that was there and was opened to be written: the number of the call.
    Writing = 18,
    /// An open right after the attributes of the same name were requested: the number of the call.
    AskedFirst = 19,
    /// What the kernel did after a sampled call returned and before the task was in its program again, as [`Kind::Sample`]; its time is in
    /// [`Kind::SampleTime`].
    WentOn = 20,
    /// Anonymous pages that a call gave back, by samples: its number.
    GivenBack = 21,
    /// A sampled page fault: 2 if a page was written that was not there, 3 if one that was there and had to be copied, else it was read.
    Fault = 22,
    /// A file that was there and was opened to be written anew: the number of the call.
    Truncating = 23,
    /// As [`Kind::Error`], of calls that [`Kind::Narrow`], [`Kind::Unknown`] and [`Kind::Short`] count.
    NarrowError = 24,
    UnknownError = 25,
    ShortError = 26,
}

/// A call is always sampled until this many of its number were; then one call in [`SAMPLED_ONE_IN`] is, a power of two. Where stacks are
/// taken too, which takes microseconds, one in [`STACKS_ONE_IN`].
pub(crate) const SAMPLED_FIRST: i32 = 256;
pub(crate) const SAMPLED_ONE_IN: i32 = 16;
pub(crate) const STACKS_ONE_IN: i32 = 32;
/// Page faults in user mode are sampled under this number, which no call has: after the first ones one in [`FAULTS_ONE_IN`].
pub(crate) const FAULT: i32 = CALLS as i32;
pub(crate) const FAULTS_ONE_IN: i32 = 32;
/// Numbers that are sampled, a power of two.
pub(crate) const SAMPLED_NUMBERS: usize = 2 * CALLS;

/// Where the programs count what was lost, eight bytes each.
pub(crate) mod lost {
    /// Tasks for which no record was left.
    pub(crate) const RECORDS: i16 = 0;
    /// Tasks that could not be followed at all.
    pub(crate) const TASKS: i16 = 8;
    /// Keys for which the shared map had no room, and stacks.
    pub(crate) const EVENTS: i16 = 16;
    /// Not a loss: how many records were given out.
    pub(crate) const GIVEN: i16 = 24;
    /// Not a loss: how many records were given out, and tasks that are not watched ended.
    pub(crate) const EPOCH: i16 = 32;
    /// The size of all.
    pub(crate) const SIZE: usize = 40;
}

/// `execve`.
pub(crate) const EXECUTE: i32 = libc::SYS_execve as i32;
/// Calls that may give memory back.
pub(crate) const GIVES_BACK: [i32; 3] = [libc::SYS_munmap as i32, libc::SYS_brk as i32, libc::SYS_madvise as i32];
/// `rt_sigreturn`, which has lost its number when it returns.
pub(crate) const SIGNAL_RETURN: i32 = libc::SYS_rt_sigreturn as i32;
/// The same of 32-bit programs. `sigreturn`, which handlers without information return by, looks the same then.
pub(crate) const NARROW_SIGNAL_RETURN: i32 = 173;
/// Calls that never return.
pub(crate) const EXITS: [i32; 2] = [libc::SYS_exit as i32, libc::SYS_exit_group as i32];
/// Calls of 32-bit programs that return 0 in the new task.
pub(crate) const NARROW_FORKS: [i32; 4] = [2, 120, 190, 435];

/// What differs between architectures.
pub(crate) struct Architecture {
    /// Where `struct pt_regs` has the call's number, 4 bytes.
    pub number: i32,
    /// Where it has the call's result.
    pub result: i32,
    /// What is read of `struct pt_regs` after each call: its place there, its bytes, its place in the frame.
    pub registers: (i32, i32, i16),
    /// What is read as well where a call's arguments matter.
    pub more_registers: Option<(i32, i32, i16)>,
    /// Where `struct pt_regs` has the stack pointer.
    pub stack_pointer: i16,
    /// Where the frame then has the call's number, 4 bytes.
    pub number_read: i16,
    /// Where it has the first three arguments, if all registers were read.
    pub arguments: [i16; 3],
    /// Two places of the frame that hold the same after a call by the instruction of 64-bit programs, which puts the address of
    /// the next one into a register; after the gate of 32-bit programs they differ.
    pub gate: Option<[i16; 2]>,
    /// Where it marks a 32-bit program, 4 bytes; the bits to look at; their value then.
    pub narrow: (i32, i32, i32),
    /// Where the registers that an interrupt saved hold the mode; the bits to look at; their value in a program.
    pub mode: (i16, i32, i32),
    /// Calls that return 0 in the new task.
    pub forks: &'static [i32],
}

impl Architecture {
    /// Where `struct pt_regs` has what is read to this place of the frame.
    pub(crate) fn offset(&self, place: i16) -> i16 {
        let parts = [Some(self.registers), self.more_registers];
        let part =
            parts.into_iter().flatten().find(|(_, size, begin)| (*begin..*begin + *size as i16).contains(&place));
        part.map_or(0, |(at, _, begin)| at as i16 + place - begin)
    }
}

/// arch/x86/include/asm/ptrace.h: `orig_ax`, `ax` and `cs`; the selector of 32-bit code is 0x23.
#[cfg(target_arch = "x86_64")]
pub(crate) const HERE: Architecture = Architecture {
    number: 120,
    result: 80,
    stack_pointer: 152,
    // From `cx` to `ip`.
    registers: (88, 48, -96),
    more_registers: None,
    number_read: -64,
    arguments: [-72, -80, -88],
    gate: Some([-96, -56]),
    narrow: (136, 0xffff, 0x23),
    mode: (136, 3, 3),
    forks: &[56, 57, 58, 435],
};

/// arch/arm64/include/asm/ptrace.h: `syscallno`, `x0` and `pstate`; bit 4 of the state is set in 32-bit code.
#[cfg(target_arch = "aarch64")]
pub(crate) const HERE: Architecture = Architecture {
    number: 280,
    result: 0,
    stack_pointer: 248,
    // `orig_x0` and `syscallno`; `x1` and `x2`.
    registers: (272, 16, -64),
    more_registers: Some((8, 16, -80)),
    number_read: -56,
    arguments: [-64, -80, -72],
    gate: None,
    narrow: (264, 0x10, 0x10),
    mode: (264, 0xf, 0),
    forks: &[220, 435],
};

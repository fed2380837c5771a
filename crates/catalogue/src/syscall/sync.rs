//! Calls that wait until a device has the written data: each after a page of a scratch file was overwritten. Calls that
//! also write out data of other processes, or hang if another process's device is dead, are measured only if the user names
//! them.

use std::os::fd::OwnedFd;

use operation::{Failure, Loop, Operation, Setting, repeat};
use record::Estimate;

use super::CALL;
use crate::file::residence;
use crate::kit::library;
use crate::kit::{Null, PAGE, call, exactly, file_of, handles, invoke, tried};

/// `Q_SYNC` for the quotas of users, as numbered and shifted in `linux/quota.h`.
const SYNC_QUOTAS: u32 = 0x80_0001 << 8;

/// `Q_GETFMT` for the same.
const QUOTA_FORMAT: u32 = 0x80_0004 << 8;

/// A call that waits for a device.
const SYNC: Operation = CALL.quoted(Estimate::Typical).waits(|_| true).patience(60.0).version(2);

/// A call that also waits for data of other processes.
const OF_ALL: Operation = SYNC.opt_in();

pub(crate) const OPERATIONS: &[Operation] = &[
    SYNC.id("call.fsync")
        .summary("wait until 4 KiB of a file that were just overwritten are on the device, with the file's attributes")
        .prepare(|setting| after_a_write(setting, |file| exactly(0, call::fsync(file)?))),
    SYNC.named("call.fdatasync", "wait until 4 KiB of a file that were just overwritten are on the device")
        .prepare(|setting| after_a_write(setting, |file| exactly(0, call::fdatasync(file)?))),
    SYNC.id("call.sync_file_range")
        .summary("write 4 KiB of a file to the device and wait for it, without the file's attributes")
        .prepare(|setting| {
            let all = libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
            after_a_write(setting, move |file| exactly(0, call::sync_file_range(file, 0, PAGE, all)?))
        }),
    OF_ALL
        .id("call.syncfs")
        .summary("wait until all written data of a file system is on the device, including 4 KiB from this process")
        .prepare(|setting| after_a_write(setting, |file| exactly(0, call::syncfs(file)?))),
    OF_ALL
        .id("call.sync")
        .summary("wait until all written data of all file systems is on the devices, including 4 KiB from this process")
        .prepare(|setting| after_a_write(setting, |_| exactly(0, call::sync()?))),
    OF_ALL
        .named(
            "call.quotactl",
            "wait until all quotas of all file systems are on the devices, with 4 KiB of a file that were overwritten",
        )
        .prepare(|setting| {
            with_quotas(setting)?;
            after_a_write(setting, |_| exactly(0, call::quotactl(SYNC_QUOTAS, Null, 0, Null)?))
        }),
    OF_ALL
        .id("call.quotactl_fd")
        .summary("wait until all quotas of a file system are on the device, with 4 KiB of a file that were overwritten")
        .prepare(|setting| {
            with_quotas(setting)?;
            after_a_write(setting, |file| exactly(0, call::quotactl_fd(file, SYNC_QUOTAS, 0, Null)?))
        }),
];

/// A skip if the scratch folder's file system has no quotas, because the call would then return without using any device.
fn with_quotas(setting: &Setting) -> Result<(), Failure> {
    let file = file_of(setting, 0)?;
    // The format of the quotas, which is only returned if there are quotas.
    let mut format = [0_u32];
    // SAFETY: this command writes one number.
    unsafe { invoke!(quotactl_fd, &file, QUOTA_FORMAT, 0, &mut format) }.map(drop).map_err(|_| {
        // The same error says that a file system has none and that the kernel lacks this call.
        let remedy = "mount it with usrquota, and turn them on; before Linux 5.14 they are not found";
        Failure::skip("no quotas of the scratch folder's file system are found", remedy)
    })
}

/// A loop of one call per batch. A page of a scratch file is overwritten before each.
fn after_a_write(setting: &Setting, sync: impl Fn(&OwnedFd) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let [file, written] = handles(file_of(setting, PAGE)?);
    residence::on_a_device(&file)?;
    library::fsync(&*file)?;
    tried(
        repeat(move || sync(&file))
            .at_most(1)
            .before(move |_| exactly(PAGE, library::pwrite(&*written, &[2; PAGE], 0)?)),
    )
}

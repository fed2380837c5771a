//! The slow disk's medium: one file of a FUSE file system that this process serves from its memory. Reads take their time
//! as those of a device do that has a queue: one after the other occupies it, and nothing is saved up while it rests.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use anyhow::Context;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};

/// The file's name.
pub(super) const NAME: &str = "disk";
/// Its inode; the folder's is 1.
const FILE: INodeNo = INodeNo(2);
/// Requests that the kernel hands over at a time.
const QUEUE: u16 = 64;

/// How slow it is.
#[derive(Clone, Copy)]
pub(crate) struct Slowness {
    /// Of every read, however many are under way: the way there and back.
    pub latency: Duration,
    /// Reads a second; each occupies the device at least that long.
    pub requests: u32,
    /// Bytes a second; a read occupies the device until all of its own have passed.
    pub bytes: f64,
}

impl Slowness {
    /// How long a read of this many bytes occupies the device.
    fn occupied(self, bytes: usize) -> Duration {
        (Duration::from_secs(1) / self.requests).max(Duration::from_secs_f64(bytes as f64 / self.bytes))
    }
}

/// Serves a file of this many bytes below `folder` until the result is dropped, or this process ends.
///
/// # Errors
/// Why this system has no FUSE.
pub(super) fn serve(folder: &Path, bytes: u64, slowness: Slowness) -> anyhow::Result<BackgroundSession> {
    let medium = Arc::new(RwLock::new(vec![0_u8; bytes as usize]));
    let (asked, reads) = channel();
    let stored = medium.clone();
    thread::spawn(move || answer(&reads, &stored, slowness));
    let disk = Disk { medium, bytes, asked };
    let mut options = Config::default();
    options.mount_options = vec![MountOption::FSName("howslow-slow".into())];
    fuser::spawn_mount(disk, folder, &options)
        .context("no FUSE file system can be mounted; /dev/fuse and root are needed")
}

/// A read that waits for its answer.
struct Read {
    came: Instant,
    offset: usize,
    length: usize,
    reply: ReplyData,
}

/// Answers each read when a device as slow would.
fn answer(reads: &Receiver<Read>, medium: &RwLock<Vec<u8>>, slowness: Slowness) {
    let mut free = Instant::now();
    for read in reads {
        // It begins when it came or when the one before is through; time in which the device rested is lost.
        free = free.max(read.came) + slowness.occupied(read.length);
        thread::sleep((free + slowness.latency).saturating_duration_since(Instant::now()));
        let stored = medium.read().unwrap_or_else(PoisonError::into_inner);
        let end = stored.len().min(read.offset + read.length);
        read.reply.data(&stored[read.offset.min(end)..end]);
    }
}

struct Disk {
    medium: Arc<RwLock<Vec<u8>>>,
    bytes: u64,
    asked: Sender<Read>,
}

impl Disk {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        let size = if is_file { self.bytes } else { 0 };
        FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

/// How long the kernel may keep what it was told of the file: nothing of that changes.
const KEPT: Duration = Duration::from_secs(3600);

impl Filesystem for Disk {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Without it, direct reads wait for each other.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(QUEUE);
        Ok(())
    }

    fn lookup(&self, _request: &Request, _parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name == NAME {
            true => reply.entry(&KEPT, &self.attributes(FILE), Generation(0)),
            false => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, inode: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&KEPT, &self.attributes(inode));
    }

    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // Nothing of the medium is kept in memory below the loop device.
        reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
    }

    fn read(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = Read { came: Instant::now(), offset: offset as usize, length: size as usize, reply };
        if let Err(refused) = self.asked.send(read) {
            refused.0.reply.error(Errno::EIO);
        }
    }

    fn write(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut stored = self.medium.write().unwrap_or_else(PoisonError::into_inner);
        let start = offset as usize;
        match stored.get_mut(start..start + data.len()) {
            Some(place) => {
                place.copy_from_slice(data);
                reply.written(data.len() as u32);
            }
            None => reply.error(Errno::ENOSPC),
        }
    }
}

//! Calls on sockets. The kernel chooses and frees the names, and messages stay on this machine.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use libc::iovec;
use operation::{Failure, Loop, Operation, repeat};

use super::{BLOCK, CALL, PAIR};
use crate::kit::library;
use crate::kit::{Null, call, consuming, exactly, invoke, owned, producing, tcp_pair, tried, turning};

const STREAM: i32 = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;

/// Only the family, for which the kernel chooses the name of a UNIX socket.
const UNNAMED: [u16; 1] = [libc::AF_UNIX as u16];

/// Messages that a socket holds before its sender must wait.
const HELD: u64 = 64;

const MOVE: Operation = CALL.moves(|_| BLOCK as u64);

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.socket", "create a UNIX socket").prepare(|_| tried(producing(unix))),
    CALL.named("call.socketpair", "create two connected UNIX sockets").prepare(|_| tried(producing(pair))),
    CALL.named("call.bind", "give a UNIX socket a name that the kernel chooses").prepare(|_| {
        tried(consuming(unix, |socket| {
            exactly(0, call::bind(&socket, &UNNAMED)?)?;
            Ok(socket)
        }))
    }),
    CALL.named("call.listen", "let a UNIX socket accept connections").prepare(|_| {
        let make = || {
            let socket = unix()?;
            exactly(0, call::bind(&socket, &UNNAMED)?)?;
            Ok(socket)
        };
        tried(consuming(make, |socket: OwnedFd| {
            exactly(0, call::listen(&socket, 1)?)?;
            Ok(socket)
        }))
    }),
    CALL.named("call.connect", "connect to a UNIX socket, which accepts outside the timed region").prepare(|_| {
        let server = UnixServer::new()?;
        tried(
            consuming(unix, move |socket| {
                server.connect(&socket)?;
                Ok(Connected { _socket: socket, listener: Rc::clone(&server.listener) })
            })
            .at_most(HELD),
        )
    }),
    CALL.named("call.accept", "accept a connection to a UNIX socket that is already waiting").prepare(|_| {
        let server = UnixServer::new()?;
        let listener = Rc::clone(&server.listener);
        tried(accepting(server, move || Ok(owned(call::accept(&*listener, Null, Null)?))))
    }),
    CALL.named("call.accept4", "accept a connection to a UNIX socket that is already waiting, to be closed on exec")
        .prepare(|_| {
            let server = UnixServer::new()?;
            let listener = Rc::clone(&server.listener);
            tried(accepting(server, move || Ok(owned(call::accept4(&*listener, Null, Null, libc::SOCK_CLOEXEC)?))))
        }),
    CALL.named("call.getsockname", "ask for the name of a TCP socket").prepare(|_| {
        named(|socket, name, length| {
            // SAFETY: the length is that of the room for the name.
            unsafe { invoke!(getsockname, socket, name, length) }
        })
    }),
    CALL.named("call.getpeername", "ask for the name of a TCP socket's peer").prepare(|_| {
        named(|socket, name, length| {
            // SAFETY: the length is that of the room for the name.
            unsafe { invoke!(getpeername, socket, name, length) }
        })
    }),
    CALL.named("call.setsockopt", "switch keep-alive of a TCP connection on, which starts a timer, or off")
        .version(2)
        .prepare(|_| {
            let (ours, theirs) = tcp_pair()?;
            turning([1_u32, 0], move |alive| {
                let _open = &theirs;
                keep_alive(&ours, alive)
            })
        }),
    CALL.named("call.getsockopt", "ask whether keep-alive of a TCP connection is on").prepare(|_| {
        let (ours, theirs) = tcp_pair()?;
        tried(repeat(move || {
            let _open = &theirs;
            exactly(0, keeps_alive(&ours)?)
        }))
    }),
    PAIR.named("pair.sockopt", "switch keep-alive of a TCP connection on or off, and ask whether it is on")
        .version(2)
        .calls(&["setsockopt", "getsockopt"])
        .prepare(|_| {
            let (ours, theirs) = tcp_pair()?;
            turning([1_u32, 0], move |alive| {
                let _open = &theirs;
                exactly(0, keep_alive(&ours, alive)?)?;
                exactly(alive as usize, keeps_alive(&ours)?).map(|()| 0)
            })
        }),
    MOVE.named("call.sendto", "send 512 bytes through a UNIX socket whose other end is not waiting").prepare(|_| {
        let block = [1_u8; BLOCK];
        sending(1, move |socket| exactly(BLOCK, call::sendto(socket, &block, 0, Null)?))
    }),
    MOVE.named("call.recvfrom", "receive 512 bytes that a UNIX socket holds").prepare(|_| {
        let mut block = [0_u8; BLOCK];
        receiving(1, move |socket| exactly(BLOCK, call::recvfrom(socket, &mut block, 0, Null, Null)?))
    }),
    MOVE.id("call.sendmsg")
        .summary("send 512 bytes through a UNIX socket whose other end is not waiting, by a message header")
        .prepare(|_| {
            let mut message = Message::new();
            // SAFETY: the headers refer to one block, which the message owns.
            sending(1, move |socket| exactly(BLOCK, unsafe { invoke!(sendmsg, socket, message.headers(), 0) }?))
        }),
    MOVE.named("call.recvmsg", "receive 512 bytes that a UNIX socket holds, by a message header").prepare(|_| {
        let mut message = Message::new();
        // SAFETY: the headers refer to one block, which the message owns.
        receiving(1, move |socket| exactly(BLOCK, unsafe { invoke!(recvmsg, socket, message.headers(), 0) }?))
    }),
    CALL.named("call.sendmmsg", "send two messages of 512 bytes through a UNIX socket with one call")
        .moves(|_| 2 * BLOCK as u64)
        .prepare(|_| {
            let mut message = Message::new();
            // SAFETY: the headers refer to one block, which the message owns.
            sending(2, move |socket| exactly(2, unsafe { invoke!(sendmmsg, socket, message.headers(), 2, 0) }?))
        }),
    CALL.named("call.recvmmsg", "receive two messages of 512 bytes that a UNIX socket holds with one call")
        .moves(|_| 2 * BLOCK as u64)
        .prepare(|_| {
            let mut message = Message::new();
            // SAFETY: the headers refer to one block, which the message owns.
            receiving(2, move |socket| exactly(2, unsafe { invoke!(recvmmsg, socket, message.headers(), 2, 0, 0) }?))
        }),
    CALL.named("call.shutdown", "shut down sending on a UNIX socket").prepare(|_| {
        tried(consuming(pair, |sockets| {
            exactly(0, call::shutdown(&sockets[0], libc::SHUT_WR)?)?;
            Ok(sockets)
        }))
    }),
];

fn unix() -> Result<OwnedFd, Failure> {
    Ok(owned(call::socket(libc::AF_UNIX, STREAM, 0)?))
}

fn pair() -> Result<[OwnedFd; 2], Failure> {
    let mut ends = [0_i32; 2];
    exactly(0, call::socketpair(libc::AF_UNIX, STREAM, 0, &mut ends)?)?;
    Ok(ends.map(|end| owned(end as usize)))
}

/// The loop of a call that stores a name of a TCP connection and its length.
fn named(
    request: impl Fn(&OwnedFd, &mut [u8; 32], &mut [u32; 1]) -> Result<usize, Failure> + 'static,
) -> Result<Loop, Failure> {
    let (ours, theirs) = tcp_pair()?;
    let mut name = [0; 32];
    tried(repeat(move || {
        let _open = &theirs;
        let mut length = [32];
        exactly(0, request(&ours, &mut name, &mut length)?)?;
        exactly(size_of::<libc::sockaddr_in>(), length[0] as usize)
    }))
}

#[inline(always)]
fn keep_alive(socket: &OwnedFd, alive: u32) -> Result<usize, Failure> {
    // SAFETY: this option is a number of 4 bytes.
    unsafe { invoke!(setsockopt, socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, &[alive], 4) }
}

#[inline(always)]
fn keeps_alive(socket: &OwnedFd) -> Result<usize, Failure> {
    let (mut answer, mut length) = ([0_u32], [4_u32]);
    // SAFETY: the length is that of the room for the answer.
    exactly(0, unsafe {
        invoke!(getsockopt, socket, libc::SOL_SOCKET, libc::SO_KEEPALIVE, &mut answer, &mut length)
    }?)?;
    Ok(answer[0] as usize)
}

struct UnixServer {
    listener: Rc<OwnedFd>,
    name: Vec<u8>,
}

impl UnixServer {
    fn new() -> Result<UnixServer, Failure> {
        let listener = unix()?;
        exactly(0, call::bind(&listener, &UNNAMED)?)?;
        exactly(0, call::listen(&listener, HELD)?)?;
        let (mut name, mut length) = ([0_u8; 32], [32_u32]);
        // SAFETY: the length is that of the room for the name.
        exactly(0, unsafe { invoke!(getsockname, &listener, &mut name, &mut length) }?)?;
        Ok(UnixServer { listener: Rc::new(listener), name: name[..length[0] as usize].to_vec() })
    }

    #[inline(always)]
    fn connect(&self, socket: &OwnedFd) -> Result<(), Failure> {
        exactly(0, call::connect(socket, &*self.name)?)
    }
}

/// A socket that is connected. Its peer is accepted and closed with it.
struct Connected {
    _socket: OwnedFd,
    listener: Rc<OwnedFd>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        if let Ok(other) = call::accept4(&*self.listener, Null, Null, 0) {
            drop(owned(other));
        }
    }
}

/// A loop that accepts one connection per iteration. They are made before the batch.
fn accepting(server: UnixServer, accept: impl Fn() -> Result<OwnedFd, Failure> + 'static) -> Loop {
    let make = move || {
        let socket = unix()?;
        server.connect(&socket)?;
        Ok(socket)
    };
    consuming(make, move |client: OwnedFd| Ok((client, accept()?))).at_most(HELD)
}

/// A loop that sends `blocks` per iteration. They are received after the batch.
fn sending(blocks: u64, mut send: impl FnMut(&OwnedFd) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let [ours, theirs] = pair()?;
    tried(repeat(move || send(&ours)).at_most(HELD / blocks).verify(move |times| {
        let mut block = [0_u8; BLOCK];
        (0..times * blocks).try_for_each(|_| exactly(BLOCK, library::read(&theirs, &mut block)?))
    }))
}

/// A loop that receives `blocks` per iteration. They are sent before the batch.
fn receiving(blocks: u64, mut receive: impl FnMut(&OwnedFd) -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let [ours, theirs] = pair()?;
    tried(repeat(move || receive(&ours)).at_most(HELD / blocks).before(move |times| {
        (0..times * blocks).try_for_each(|_| exactly(BLOCK, library::write(&theirs, &[1; BLOCK])?))
    }))
}

/// Two messages of a block each, in the layout of `struct mmsghdr`: seven words describe the buffers, the eighth is the
/// length of the received message.
struct Message {
    headers: Box<[[u64; 8]; 2]>,
    _vector: Box<[iovec; 1]>,
    _block: Box<RefCell<[u8; BLOCK]>>,
}

impl Message {
    fn new() -> Message {
        let block = Box::new(RefCell::new([1_u8; BLOCK]));
        let vector = Box::new([iovec { iov_base: block.as_ptr().cast(), iov_len: BLOCK }]);
        let header = [0, 0, vector.as_ptr() as u64, 1, 0, 0, 0, 0];
        Message { headers: Box::new([header; 2]), _vector: vector, _block: block }
    }

    #[inline(always)]
    fn headers(&mut self) -> &mut [[u64; 8]; 2] {
        &mut self.headers
    }
}

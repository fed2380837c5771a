//! Helpers that operations and their tests share. It contains no operation.

pub(crate) mod aio;
pub(crate) mod area;
pub(crate) mod baseline;
pub(crate) mod block;
pub(crate) mod call;
pub(crate) mod channel;
pub(crate) mod check;
pub(crate) mod child;
pub(crate) mod cycle;
pub(crate) mod folder;
pub(crate) mod gap;
pub(crate) mod handler;
pub(crate) mod handshake;
pub(crate) mod huge;
pub(crate) mod invoke;
pub(crate) mod library;
pub(crate) mod loops;
pub(crate) mod mapping;
pub(crate) mod mask;
pub(crate) mod places;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod ring;
pub(crate) mod sandbox;
pub(crate) mod scratch;
pub(crate) mod shared;
pub(crate) mod team;
pub(crate) mod tree;
#[cfg(test)]
pub(crate) mod trial;
pub(crate) mod turn;
pub(crate) mod unit;
pub(crate) mod work;

pub(crate) use aio::{BoundRequest, NumberedContext};
pub(crate) use area::{Anywhere, Area, PAGE, Slots};
pub(crate) use baseline::{BASE, CPUS, ENTRY, NEAR, OTHER, by_c_library};
pub(crate) use block::Block;
pub(crate) use channel::{Channel, End, hold, read_whole, tcp_pair};
pub(crate) use check::{answered, ensure, exactly};
pub(crate) use child::{Child, Start, ended_child, ended_copy, in_child, start_and_end};
pub(crate) use cycle::Cycle;
pub(crate) use folder::{Fresh, apart};
pub(crate) use gap::Gap;
pub(crate) use handler::{
    HANDLED, STACK_WORDS, Thread, bit, change_mask, count_one, counted, handler, install, install_counter,
    install_informed, install_with,
};
pub(crate) use handshake::Handshake;
pub(crate) use huge::{CONTROL, HUGE, MemoryKind, huge_bytes, offered_at, this_time, withheld};
pub(crate) use invoke::{Buffers, Null, invoke, owned};
pub(crate) use loops::{
    FILES, STOCK, at_once, back_and_forth, consuming, emptied, for_each, handles, numbered, on_each, opening, pausing,
    producing, refilled, refusing, steadily, steadily_with, steady, steady_with, tried, turning,
};
pub(crate) use mapping::{Mapping, base_pages_only, huge_pages};
pub(crate) use mask::Mask;
pub(crate) use places::Places;
pub(crate) use process::{NOT_STARTED, execute, fork, spawn, stopped, traced_by_parent, wait_for};
pub(crate) use program::{ELF_MACHINE, do_nothing};
pub(crate) use ring::{GET_EVENTS, polled, register, ring, submit};
pub(crate) use sandbox::{namespaces, own_network};
pub(crate) use scratch::{c_path, device, enter, file_of, folder, names, new_file, scratch, with_file};
pub(crate) use shared::Shared;
pub(crate) use team::{Apart, Memory, Part, Seat, Seats, beside, together, together_checked};
pub(crate) use tree::{Tree, create};
pub(crate) use turn::{OURS, THEIRS, await_turn, let_fall_asleep, pass_turn};
pub(crate) use unit::{Computing, Passing};
pub(crate) use work::{Repeated, Work, alone};

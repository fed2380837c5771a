;; Finds keys in a sorted index file by halving, every probe a read of one entry through WASI's file calls, and adds up
;; the words of the records found. An entry is a key and a record's number; a record has 80 bytes and begins with its key.
;; Memory: 0 the number of entries and 8 to 32776 the keys to look up (the host puts both there), 40000 the vector of the
;; read, 40008 the bytes it read, 40016 the entry, 40032 the record.
(module
  (import "wasi_snapshot_preview1" "fd_pread" (func $fd_pread (param i32 i32 i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  ;; Where the next key to look up is.
  (global $next (mut i32) (i32.const 8))

  ;; Reads so many bytes from this place of a file to an address.
  (func $read (param $file i32) (param $at i32) (param $size i32) (param $offset i64)
    (i32.store (i32.const 40000) (local.get $at))
    (i32.store (i32.const 40004) (local.get $size))
    (if (call $fd_pread (local.get $file) (i32.const 40000) (i32.const 1) (local.get $offset) (i32.const 40008))
      (then unreachable))
    (if (i32.ne (i32.load (i32.const 40008)) (local.get $size))
      (then unreachable)))

  ;; The number of the record with this key.
  (func $find (param $key i64) (result i64)
    (local $low i64)
    (local $high i64)
    (local $middle i64)
    (local $number i64)
    (local.set $high (i64.load (i32.const 0)))
    (block $found
      (loop $halve
        (br_if $found (i64.ge_u (local.get $low) (local.get $high)))
        (local.set $middle (i64.shr_u (i64.add (local.get $low) (local.get $high)) (i64.const 1)))
        ;; The index is descriptor 3.
        (call $read (i32.const 3) (i32.const 40016) (i32.const 16)
          (i64.shl (local.get $middle) (i64.const 4)))
        (if (i64.lt_u (i64.load (i32.const 40016)) (local.get $key))
          (then (local.set $low (i64.add (local.get $middle) (i64.const 1))))
          (else
            (local.set $high (local.get $middle))
            (local.set $number (i64.load (i32.const 40024)))))
        (br $halve)))
    (local.get $number))

  ;; What the record's words add up to.
  (func $sum (result i64)
    (local $sum i64)
    (local $at i32)
    (local.set $at (i32.const 40032))
    (loop $word
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $word (i32.lt_u (local.get $at) (i32.const 40112))))
    (local.get $sum))

  (func (export "run") (param $times i64) (result i64)
    (local $sum i64)
    (local $key i64)
    (block $done
      (loop $again
        (br_if $done (i64.eqz (local.get $times)))
        (local.set $key (i64.load (global.get $next)))
        (global.set $next (i32.add (global.get $next) (i32.const 8)))
        (if (i32.eq (global.get $next) (i32.const 32776))
          (then (global.set $next (i32.const 8))))
        ;; The records are descriptor 4.
        (call $read (i32.const 4) (i32.const 40032) (i32.const 80)
          (i64.mul (call $find (local.get $key)) (i64.const 80)))
        (if (i64.ne (i64.load (i32.const 40032)) (local.get $key))
          (then unreachable))
        (local.set $sum (i64.add (local.get $sum) (call $sum)))
        (local.set $times (i64.sub (local.get $times) (i64.const 1)))
        (br $again)))
    (local.get $sum)))

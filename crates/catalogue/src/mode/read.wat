;; Reads a file record by record through WASI's file calls, and adds up the words of the records.
;; Memory: 0 the size of a record (the host puts it there), 16 the vector of the read, 24 the bytes it read,
;; 32 the place it sought, 1024 the record.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_seek" (func $fd_seek (param i32 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)

  ;; Reads the next record from descriptor 3 and returns the number of bytes that came.
  (func $next (param $size i32) (result i32)
    (i32.store (i32.const 16) (i32.const 1024))
    (i32.store (i32.const 20) (local.get $size))
    (if (call $fd_read (i32.const 3) (i32.const 16) (i32.const 1) (i32.const 24))
      (then unreachable))
    (i32.load (i32.const 24)))

  ;; What the words from 1024 on add up to.
  (func $sum (param $end i32) (result i64)
    (local $sum i64)
    (local $at i32)
    (local.set $at (i32.const 1024))
    (loop $word
      (local.set $sum (i64.add (local.get $sum) (i64.load (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $word (i32.lt_u (local.get $at) (local.get $end))))
    (local.get $sum))

  (func (export "run") (param $times i64) (result i64)
    (local $sum i64)
    (local $size i32)
    (local $length i32)
    (local.set $size (i32.load (i32.const 0)))
    (block $done
      (loop $again
        (br_if $done (i64.eqz (local.get $times)))
        (local.set $length (call $next (local.get $size)))
        ;; At the end of the file: back to its beginning.
        (if (i32.eqz (local.get $length))
          (then
            (if (call $fd_seek (i32.const 3) (i64.const 0) (i32.const 0) (i32.const 32))
              (then unreachable))
            (local.set $length (call $next (local.get $size)))))
        (if (i32.ne (local.get $length) (local.get $size))
          (then unreachable))
        (local.set $sum
          (i64.add (local.get $sum) (call $sum (i32.add (i32.const 1024) (local.get $size)))))
        (local.set $times (i64.sub (local.get $times) (i64.const 1)))
        (br $again)))
    (local.get $sum)))

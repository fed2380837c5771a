;; Calls an empty procedure of the host, again and again: the switch from guest to host and back. Eight calls a turn, so that
;; the loop around them adds little.
(module
  (import "host" "one" (func $one (result i64)))
  (memory (export "memory") 1)

  (func (export "run") (param $times i64) (result i64)
    (local $sum i64)
    (block $done
      (loop $again
        (br_if $done (i64.eqz (local.get $times)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $sum (i64.add (local.get $sum) (call $one)))
        (local.set $times (i64.sub (local.get $times) (i64.const 1)))
        (br $again)))
    (local.get $sum)))

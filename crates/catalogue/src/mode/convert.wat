;; Writes numbers as decimal texts and reads them back, digit by digit, without asking the host for anything. A number adds
;; its value, its text's length and its first digit to the sum.
;; Memory: 8 to 32776 the numbers (the host puts them there), 40000 to 40020 the text, which ends there.
(module
  (memory (export "memory") 1)
  ;; Where the next number is.
  (global $next (mut i32) (i32.const 8))

  ;; Writes the number's digits from the last to the first and returns where the first one is.
  (func $digits (param $number i64) (result i32)
    (local $at i32)
    (local.set $at (i32.const 40020))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i64.store8 (local.get $at)
        (i64.add (i64.const 48) (i64.rem_u (local.get $number) (i64.const 10))))
      (local.set $number (i64.div_u (local.get $number) (i64.const 10)))
      (br_if $digit (i64.ne (local.get $number) (i64.const 0))))
    (local.get $at))

  ;; Reads the digits from this place to the text's end.
  (func $value (param $at i32) (result i64)
    (local $value i64)
    (loop $digit
      (local.set $value
        (i64.add
          (i64.mul (local.get $value) (i64.const 10))
          (i64.sub (i64.load8_u (local.get $at)) (i64.const 48))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $digit (i32.lt_u (local.get $at) (i32.const 40020))))
    (local.get $value))

  (func (export "run") (param $times i64) (result i64)
    (local $sum i64)
    (local $at i32)
    (block $done
      (loop $again
        (br_if $done (i64.eqz (local.get $times)))
        (local.set $at (call $digits (i64.load (global.get $next))))
        (global.set $next (i32.add (global.get $next) (i32.const 8)))
        (if (i32.eq (global.get $next) (i32.const 32776))
          (then (global.set $next (i32.const 8))))
        (local.set $sum (i64.add (local.get $sum) (call $value (local.get $at))))
        (local.set $sum
          (i64.add (local.get $sum) (i64.extend_i32_u (i32.sub (i32.const 40020) (local.get $at)))))
        (local.set $sum (i64.add (local.get $sum) (i64.load8_u (local.get $at))))
        (local.set $times (i64.sub (local.get $times) (i64.const 1)))
        (br $again)))
    (local.get $sum)))

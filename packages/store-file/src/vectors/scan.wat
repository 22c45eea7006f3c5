;; Compares one query with rows of 8-bit integers that lie at some slots, on 128-bit vectors.
(module
  (import "env" "memory" (memory 1))

  ;; Dot products; 0 for a slot that does not exist.
  (func (export "multiply")
    (param $query i32)   ;; width 16-bit integers
    (param $rows i32)    ;; address of the integers in slot 0
    (param $there i32)   ;; how many slots exist
    (param $slots i32)   ;; count 32-bit numbers
    (param $count i32)
    (param $stride i32)  ;; bytes from one row to the next
    (param $width i32)   ;; integers in a row, a multiple of 16
    (param $out i32)     ;; count 32-bit integers
    (local $row i32)
    (local $i i32)
    (local $sum v128)
    (local $values v128)
    (local $at i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (if (i32.lt_u (i32.load (local.get $slots)) (local.get $there)) (then
          (local.set $row (i32.add (local.get $rows) (i32.mul (i32.load (local.get $slots)) (local.get $stride))))
          (local.set $i (i32.const 0))
          (loop $columns
            (local.set $values (v128.load align=1 (i32.add (local.get $row) (local.get $i))))
            (local.set $at (i32.add (local.get $query) (i32.shl (local.get $i) (i32.const 1))))
            ;; Both halves are added before the sum is: one step of waiting for it instead of two.
            (local.set $sum (i32x4.add (local.get $sum) (i32x4.add
              (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $values)) (v128.load (local.get $at)))
              (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $values)) (v128.load offset=16 (local.get $at))))))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br_if $columns (i32.lt_u (local.get $i) (local.get $width))))))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))

  ;; The signs of the integers of rows that lie one after the other, a bit each: their sketches.
  (func (export "sketch")
    (param $row i32)     ;; address of the first row's integers
    (param $count i32)   ;; rows
    (param $stride i32)
    (param $width i32)
    (param $length i32)  ;; bytes of a sketch
    (param $out i32)     ;; count sketches
    (local $i i32)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $i (i32.const 0))
        (loop $columns
          (i32.store16 align=1 (i32.add (local.get $out) (i32.shr_u (local.get $i) (i32.const 3)))
            (i8x16.bitmask (v128.load align=1 (i32.add (local.get $row) (local.get $i)))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br_if $columns (i32.lt_u (local.get $i) (local.get $width))))
        (local.set $row (i32.add (local.get $row) (local.get $stride)))
        (local.set $out (i32.add (local.get $out) (local.get $length)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))

  ;; In how many bits sketches differ from the query's; in all of them for a slot that does not exist.
  (func (export "differ")
    (param $query i32)     ;; address of the query's sketch
    (param $sketches i32)
    (param $there i32)
    (param $slots i32)
    (param $count i32)
    (param $length i32)    ;; bytes of a sketch, a multiple of 8
    (param $out i32)       ;; count 32-bit integers
    (local $sketch i32)
    (local $i i32)
    (local $sum i64)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (i64.extend_i32_u (i32.shl (local.get $length) (i32.const 3))))
        (if (i32.lt_u (i32.load (local.get $slots)) (local.get $there)) (then
          (local.set $sketch
            (i32.add (local.get $sketches) (i32.mul (i32.load (local.get $slots)) (local.get $length))))
          (local.set $sum (i64.const 0))
          (local.set $i (i32.const 0))
          (loop $words
            (local.set $sum (i64.add (local.get $sum) (i64.popcnt (i64.xor
              (i64.load (i32.add (local.get $sketch) (local.get $i)))
              (i64.load (i32.add (local.get $query) (local.get $i)))))))
            (local.set $i (i32.add (local.get $i) (i32.const 8)))
            (br_if $words (i32.lt_u (local.get $i) (local.get $length))))))
        (i32.store (local.get $out) (i32.wrap_i64 (local.get $sum)))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))))

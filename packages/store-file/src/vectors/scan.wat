;; Compares one query with rows of 8-bit integers that lie at some slots, on 128-bit vectors.
(module
  (import "env" "memory" (memory 1))

  ;; Dot products; 0 for a slot that does not exist. Two rows at a time: most of the time goes into waiting for them.
  (func (export "multiply")
    (param $query i32)   ;; width 16-bit integers
    (param $rows i32)    ;; address of the integers in slot 0
    (param $there i32)   ;; how many slots exist, at least one
    (param $slots i32)   ;; count 32-bit numbers
    (param $count i32)
    (param $stride i32)  ;; bytes from one row to the next
    (param $width i32)   ;; integers in a row, a multiple of 16
    (param $out i32)     ;; count 32-bit integers
    (local $end i32)
    (local $second i32)  ;; address of the second slot; the first once more, where it is the last
    (local $a i32)
    (local $b i32)
    (local $i i32)
    (local $at i32)
    (local $low v128)
    (local $high v128)
    (local $values v128)
    (local $sumA v128)
    (local $sumB v128)
    (local.set $end (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $slots) (local.get $end)))
        (local.set $second (i32.add (local.get $slots) (i32.const 4)))
        (if (i32.ge_u (local.get $second) (local.get $end)) (then
          (local.set $second (local.get $slots))))
        (local.set $a (i32.add (local.get $rows)
          (i32.mul (call $within (i32.load (local.get $slots)) (local.get $there)) (local.get $stride))))
        (local.set $b (i32.add (local.get $rows)
          (i32.mul (call $within (i32.load (local.get $second)) (local.get $there)) (local.get $stride))))
        (local.set $sumA (v128.const i32x4 0 0 0 0))
        (local.set $sumB (v128.const i32x4 0 0 0 0))
        (local.set $i (i32.const 0))
        (loop $columns
          (local.set $at (i32.add (local.get $query) (i32.shl (local.get $i) (i32.const 1))))
          (local.set $low (v128.load (local.get $at)))
          (local.set $high (v128.load offset=16 (local.get $at)))
          ;; Both halves are added before the sum is: one step of waiting for it instead of two.
          (local.set $values (v128.load align=1 (i32.add (local.get $a) (local.get $i))))
          (local.set $sumA (i32x4.add (local.get $sumA) (i32x4.add
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $values)) (local.get $low))
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $values)) (local.get $high)))))
          (local.set $values (v128.load align=1 (i32.add (local.get $b) (local.get $i))))
          (local.set $sumB (i32x4.add (local.get $sumB) (i32x4.add
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $values)) (local.get $low))
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $values)) (local.get $high)))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br_if $columns (i32.lt_u (local.get $i) (local.get $width))))
        (i32.store (local.get $out) (select (call $sum (local.get $sumA)) (i32.const 0)
          (i32.lt_u (i32.load (local.get $slots)) (local.get $there))))
        (if (i32.ne (local.get $second) (local.get $slots)) (then
          (i32.store offset=4 (local.get $out) (select (call $sum (local.get $sumB)) (i32.const 0)
            (i32.lt_u (i32.load (local.get $second)) (local.get $there))))))
        (local.set $slots (i32.add (local.get $slots) (i32.const 8)))
        (local.set $out (i32.add (local.get $out) (i32.const 8)))
        (br $next))))

  ;; A slot, or the first one in place of one that does not exist.
  (func $within (param $slot i32) (param $there i32) (result i32)
    (select (local.get $slot) (i32.const 0) (i32.lt_u (local.get $slot) (local.get $there))))

  (func $sum (param $numbers v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $numbers)) (i32x4.extract_lane 1 (local.get $numbers)))
      (i32.add (i32x4.extract_lane 2 (local.get $numbers)) (i32x4.extract_lane 3 (local.get $numbers)))))

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
    (param $length i32)    ;; bytes of a sketch, a multiple of 16
    (param $out i32)       ;; count 32-bit integers
    (local $sketch i32)
    (local $i i32)
    (local $at i32)
    (local $even i64)
    (local $odd i64)
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $even (i64.extend_i32_u (i32.shl (local.get $length) (i32.const 3))))
        (local.set $odd (i64.const 0))
        (if (i32.lt_u (i32.load (local.get $slots)) (local.get $there)) (then
          (local.set $sketch
            (i32.add (local.get $sketches) (i32.mul (i32.load (local.get $slots)) (local.get $length))))
          (local.set $even (i64.const 0))
          (local.set $i (i32.const 0))
          (loop $words
            (local.set $at (i32.add (local.get $sketch) (local.get $i)))
            (local.set $even (i64.add (local.get $even) (i64.popcnt (i64.xor
              (i64.load (local.get $at))
              (i64.load (i32.add (local.get $query) (local.get $i)))))))
            (local.set $odd (i64.add (local.get $odd) (i64.popcnt (i64.xor
              (i64.load offset=8 (local.get $at))
              (i64.load offset=8 (i32.add (local.get $query) (local.get $i)))))))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br_if $words (i32.lt_u (local.get $i) (local.get $length))))))
        (i32.store (local.get $out) (i32.wrap_i64 (i64.add (local.get $even) (local.get $odd))))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))

  ;; Puts in place of some numbers the positions of those that are small, and returns how many these are.
  (func (export "choose")
    (param $numbers i32)   ;; count 32-bit integers
    (param $count i32)
    (param $most i32)      ;; the largest that is small
    (result i32)
    (local $at i32)
    (local $chosen i32)
    (local $isChosen i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $count)))
        (local.set $isChosen (i32.le_u
          (i32.load (i32.add (local.get $numbers) (i32.shl (local.get $at) (i32.const 2))))
          (local.get $most)))
        ;; Written in any case, because a branch here could not be foretold: the next one takes its place.
        (i32.store (i32.add (local.get $numbers) (i32.shl (local.get $chosen) (i32.const 2))) (local.get $at))
        (local.set $chosen (i32.add (local.get $chosen) (local.get $isChosen)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $next)))
    (local.get $chosen)))

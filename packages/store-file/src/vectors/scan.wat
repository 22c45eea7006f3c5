;; Dot products of one query with many rows of 8-bit integers, on 128-bit vectors.
(module
  (import "env" "memory" (memory 1))
  (func (export "scan")
    (param $query i32)   ;; width 16-bit integers
    (param $row i32)     ;; address of the first row's integers
    (param $count i32)   ;; rows
    (param $stride i32)  ;; bytes from one row to the next
    (param $width i32)   ;; integers in a row, a multiple of 16
    (param $out i32)     ;; count 32-bit integers
    (local $i i32)
    (local $sum v128)
    (local $values v128)
    (local $at i32)
    (block $done
      (loop $rows
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $i (i32.const 0))
        (loop $columns
          (local.set $values (v128.load align=1 (i32.add (local.get $row) (local.get $i))))
          (local.set $at (i32.add (local.get $query) (i32.shl (local.get $i) (i32.const 1))))
          ;; Both halves are added before the sum is: one step of waiting for it instead of two.
          (local.set $sum (i32x4.add (local.get $sum) (i32x4.add
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $values)) (v128.load (local.get $at)))
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $values)) (v128.load offset=16 (local.get $at))))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br_if $columns (i32.lt_u (local.get $i) (local.get $width))))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $row (i32.add (local.get $row) (local.get $stride)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $rows)))))

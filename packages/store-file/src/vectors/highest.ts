/** Positions of the highest values that are at least `least`, highest first; no more than `count`. */
export function highest(values: Float32Array, count: number, least: number): number[] {
  if (count <= 0) return []
  // A heap with the lowest of the best on top: most values fail against it at once.
  const heap: number[] = []
  const valueAt = (place: number): number => values[heap[place] as number] as number
  const swap = (a: number, b: number): void => {
    const held = heap[a] as number
    heap[a] = heap[b] as number
    heap[b] = held
  }
  const rise = (place: number): void => {
    for (let at = place; at > 0; ) {
      const parent = (at - 1) >> 1
      if (valueAt(parent) <= valueAt(at)) return
      swap(at, parent)
      at = parent
    }
  }
  const sink = (): void => {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      if (left >= heap.length) return
      const right = left + 1
      const child = right < heap.length && valueAt(right) < valueAt(left) ? right : left
      if (valueAt(at) <= valueAt(child)) return
      swap(at, child)
      at = child
    }
  }
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (value < least) continue
    if (heap.length < count) {
      heap.push(i)
      rise(heap.length - 1)
    } else if (value > valueAt(0)) {
      heap[0] = i
      sink()
    }
  }
  return heap.sort((a, b) => (values[b] as number) - (values[a] as number) || a - b)
}

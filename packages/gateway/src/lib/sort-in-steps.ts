/** Number of items that are sorted or merged in one step. It takes less than 1 ms. */
const STEP = 512

/** Sorts items in steps, so that other work can run in between. The order of equal items is kept. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  let runs: T[][] = []
  for (let i = 0; i < items.length; i += STEP) {
    runs.push(items.slice(i, i + STEP).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: T[][] = []
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* merge(runs[i]!, runs[i + 1] ?? [], compare))
    runs = longer
  }
  return runs[0] ?? []
}

function* merge<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Generator<void, T[]> {
  // Routes are nearly always in order already.
  if (b.length === 0 || compare(a.at(-1)!, b[0]!) <= 0) return a.concat(b)
  const merged: T[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const isFirst = j === b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0)
    merged.push(isFirst ? a[i++]! : b[j++]!)
    if (merged.length % STEP === 0) yield
  }
  return merged
}

/** Runs a generator to its end without a break and returns its result. */
export function runToCompletion<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

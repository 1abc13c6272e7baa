/** A response head that waits for its body. */
export interface HeldHead {
  flushHead(): void
}

/**
 * Response heads are held until the current read of the upstream's connection is worked off, so that a response whose
 * body came with its head goes out in one write. One microtask serves all heads of a turn.
 */
let held: HeldHead[] = []
/** Its reactions run as microtasks without what queueMicrotask() does around each. */
const NOW = Promise.resolve()

/** Calls `flushHead` in the next microtask. */
export function holdHead(head: HeldHead): void {
  if (held.push(head) === 1) void NOW.then(flush)
}

function flush(): void {
  const heads = held
  held = []
  for (const head of heads) head.flushHead()
}

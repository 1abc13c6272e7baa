/** A response head that waits for its body. */
export interface HeldHead {
  flushHead(): void
}

/**
 * Response heads are held until what was read of the target's connection is worked off, so that a response whose body
 * came with its head goes out in one write.
 */
let first: HeldHead | null = null
/** Behind the first; most reads bring one response. */
let others: HeldHead[] = []
let reads = 0
/** Its reactions run as microtasks without what queueMicrotask() does around each. */
const NOW = Promise.resolve()

/** Calls `flushHead` at the end of the read that is worked off now; in the next microtask when there is none. */
export function holdHead(head: HeldHead): void {
  if (first !== null) {
    others.push(head)
    return
  }
  first = head
  if (reads === 0) void NOW.then(flush)
}

/** What is read from a target is worked off from here on, up to the `endRead` that must follow. */
export function beginRead(): void {
  reads++
}

export function endRead(): void {
  reads--
  if (reads === 0) flush()
}

function flush(): void {
  const head = first
  if (head === null) return
  const behind = others
  first = null
  if (behind.length > 0) others = []
  head.flushHead()
  for (const each of behind) each.flushHead()
}

/** Maximum number of turns to wait for. The second half need not be short. */
const MAX_TURNS = 200
/** Maximum duration of a short turn of the event loop, in milliseconds. */
const SHORT_TURN_MS = 0.3

/**
 * Closes a listening socket. The kernel resets connections that are waiting to be accepted
 * (docs/internals/adr/0003). So this happens after a turn of the event loop without a new connection. The turn must be
 * short, because a connection may arrive in it after the last look at the socket. With constant load, the wait ends
 * after `MAX_TURNS`.
 * @param opened returns the number of connections ever opened.
 */
export function closeWhenQuiet(opened: () => number, close: () => void): void {
  let turns = 0
  // The rest of this turn does not count: connections may still arrive in it.
  let last = -1
  let lastMono = 0
  const look = (): void => {
    const count = opened()
    const mono = performance.now()
    const isShort = mono - lastMono < SHORT_TURN_MS || turns > MAX_TURNS / 2
    if (turns++ > MAX_TURNS || (count === last && isShort)) {
      close()
      return
    }
    last = count
    lastMono = mono
    setImmediate(look)
  }
  setImmediate(look)
}

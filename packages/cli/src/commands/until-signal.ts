import { constants } from 'node:os'

/** What ends a process that does nothing about it: from people, from service managers, from a terminal that is closed. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** What a shell calls the end by a signal. */
const SIGNALLED = 128

/**
 * A signal that comes with the first that is to end this process, for commands that would go on for ever and end well
 * then. The second ends it at once, but as a process that exits, so that nothing it has started stays.
 */
export function untilSignal(): { readonly signal: AbortSignal } {
  const stop = new AbortController()
  for (const name of ENDING_SIGNALS)
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(SIGNALLED + constants.signals[name])
      stop.abort()
    })
  return stop
}

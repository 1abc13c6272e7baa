import { constants } from 'node:os'

/** Signals that end a process by default: from users, service managers and closed terminals. */
export const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Offset of exit codes for signals, as in a shell. */
const SIGNALLED = 128

/**
 * Returns an abort signal that fires on the first ending signal, for commands that run until stopped. The
 * second one exits immediately but regularly, so that child processes are ended too.
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

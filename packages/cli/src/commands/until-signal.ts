/** A signal that comes with SIGINT or SIGTERM, for commands that would go on for ever and end well then. */
export function untilSignal(): { readonly signal: AbortSignal } {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop
}

/** What `action` makes. @throws its Error after what it is about. */
export function about<T>(what: string, action: () => T): T {
  try {
    return action()
  } catch (cause) {
    throw new Error(`${what} ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

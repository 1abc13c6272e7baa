const MAX_CHARS = 300

/** What was thrown, as one line; code that nobody here has checked throws anything. */
export function formatReason(error: unknown): string {
  let text: string
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${String(error)}`
  } catch {
    text = 'it threw something that cannot be shown'
  }
  return text.split('\n')[0]!.slice(0, MAX_CHARS)
}

const MAX_CHARS = 300

/** Formats a thrown value as one line. Plugin code can throw anything. */
export function formatReason(error: unknown): string {
  let text: string
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : `it threw ${String(error)}`
  } catch {
    text = 'it threw something that cannot be shown'
  }
  return text.split('\n')[0]!.slice(0, MAX_CHARS)
}

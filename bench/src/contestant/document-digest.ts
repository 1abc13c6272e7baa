import { createHash } from 'node:crypto'

const ANSWER_MS = 10_000

/** SHA-256 of a document whose ports on this machine, and whose folder, are others in every run. */
export function portableDigest(text: string, dir: string): string {
  const portable = text.replaceAll(dir, '').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1')
  return createHash('sha256').update(portable).digest('hex')
}

/** What a gateway calls the plan that it serves; null: it does not tell. */
export async function planDigest(admin: string): Promise<string | null> {
  try {
    const answer = await fetch(`${admin}/v1/status`, { signal: AbortSignal.timeout(ANSWER_MS) })
    return ((await answer.json()) as { readonly digest?: string | null }).digest ?? null
  } catch {
    // The gateway may end at any time; its load finds that out.
    return null
  }
}

import { createHash, randomBytes } from 'node:crypto'

/** A browser session, which stands for the token that it was opened with. */
interface Session {
  readonly tokenId: string
  readonly tokenSha256: string
  readonly openedMs: number
  usedMs: number
}

/** Lifetime of a session in milliseconds. */
export const SESSION_MS = 12 * 3_600_000
/** Time in milliseconds after which an unused session ends. */
const IDLE_MS = 3_600_000
/** Maximum number of sessions per token. The oldest one ends first, so no token can end the sessions of another. */
const MAX_PER_TOKEN = 32

/** Browser sessions by the hash of their id. The ids themselves are not kept. */
export class Sessions {
  readonly #now: () => number
  /** Sessions, oldest first. */
  readonly #sessions = new Map<string, Session>()

  /** @param now monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Opens a session for a token and returns its id. */
  open({ id, sha256 }: { readonly id: string; readonly sha256: string }): string {
    this.#removeExpired()
    const own = [...this.#sessions].filter(([, session]) => session.tokenId === id)
    if (own.length >= MAX_PER_TOKEN) this.#sessions.delete(own[0]![0])
    const sessionId = randomBytes(32).toString('base64url')
    const now = this.#now()
    this.#sessions.set(hashOf(sessionId), { tokenId: id, tokenSha256: sha256, openedMs: now, usedMs: now })
    return sessionId
  }

  /** Returns the hash of the token of an open session, or null. Counts as use of the session. */
  tokenOf(sessionId: string): string | null {
    const session = this.#sessions.get(hashOf(sessionId))
    if (session === undefined || this.#isExpired(session)) return null
    session.usedMs = this.#now()
    return session.tokenSha256
  }

  close(sessionId: string): void {
    this.#sessions.delete(hashOf(sessionId))
  }

  #removeExpired(): void {
    for (const [hash, session] of this.#sessions) if (this.#isExpired(session)) this.#sessions.delete(hash)
  }

  #isExpired({ openedMs, usedMs }: Session): boolean {
    const now = this.#now()
    return now - openedMs >= SESSION_MS || now - usedMs >= IDLE_MS
  }
}

function hashOf(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex')
}

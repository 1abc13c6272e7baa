import { createHash, randomBytes } from 'node:crypto'

/** A browser session. */
interface Session<T> {
  readonly owner: string
  readonly value: T
  readonly openedMs: number
  usedMs: number
}

/** Time in milliseconds after which an unused session ends. */
const IDLE_MS = 3_600_000
/** Maximum number of sessions per owner. The oldest one ends first, so no owner can end the sessions of another. */
const MAX_PER_OWNER = 32

/** Browser sessions with a value by the hash of their id. The ids themselves are not kept. */
export class Sessions<T> {
  readonly #lifetimeMs: number
  readonly #now: () => number
  /** Sessions, oldest first. */
  readonly #sessions = new Map<string, Session<T>>()

  /** @param now monotonic clock in milliseconds. */
  constructor(lifetimeMs: number, now: () => number = () => performance.now()) {
    this.#lifetimeMs = lifetimeMs
    this.#now = now
  }

  /** Opens a session and returns its id. */
  open(owner: string, value: T): string {
    this.#removeExpired()
    const own = [...this.#sessions].filter(([, session]) => session.owner === owner)
    if (own.length >= MAX_PER_OWNER) this.#sessions.delete(own[0]![0])
    const sessionId = randomBytes(32).toString('base64url')
    const now = this.#now()
    this.#sessions.set(hashOf(sessionId), { owner, value, openedMs: now, usedMs: now })
    return sessionId
  }

  /** Returns the value of an open session, or null. Counts as use of the session. */
  get(sessionId: string): T | null {
    const session = this.#sessions.get(hashOf(sessionId))
    if (session === undefined || this.#isExpired(session)) return null
    session.usedMs = this.#now()
    return session.value
  }

  close(sessionId: string): void {
    this.#sessions.delete(hashOf(sessionId))
  }

  #removeExpired(): void {
    for (const [hash, session] of this.#sessions) if (this.#isExpired(session)) this.#sessions.delete(hash)
  }

  #isExpired({ openedMs, usedMs }: Session<T>): boolean {
    const now = this.#now()
    return now - openedMs >= this.#lifetimeMs || now - usedMs >= IDLE_MS
  }
}

function hashOf(sessionId: string): string {
  return createHash('sha256').update(sessionId).digest('hex')
}

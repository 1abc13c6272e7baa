import { hash } from 'node:crypto'
import type { Consumer } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject, parseStrictObject } from '../../shared/json/strict-json.js'
import type { CookieSeal } from './cookie-seal.js'

/** Content of a session cookie. */
export interface Session {
  /** Random id without meaning outside of the gateway. */
  readonly id: string
  /** Number of token refreshes. */
  readonly generation: number
  /** Times of the login and of the last recorded request, in milliseconds since 1970. */
  readonly startedAt: number
  readonly seenAt: number
  /** Claims of the ID token and of the userinfo endpoint. */
  readonly claims: JsonObject
  readonly scopes: string | null
  /** ID token. This and the following members are null if absent or not needed. */
  readonly idToken: string | null
  readonly accessToken: string | null
  readonly refreshToken: string | null
  /**
   * Expiry of the access token and the time from which it is refreshed, in milliseconds since 1970. Null if unknown.
   */
  readonly accessUntil: number | null
  readonly refreshAt: number | null
  /** Early end of the session in milliseconds since 1970, or null if only its lifetime counts. */
  readonly until: number | null
}

/** A session as requests use it. */
export interface OpenSession {
  readonly session: Session
  readonly consumer: Consumer
  readonly claims: ReadonlyMap<string, string>
  /** Headers for the upstream: alternating names and values. */
  readonly lines: readonly string[]
  /** Monotonic time of the last check whether it ended early. */
  checkedMono: number
  isEnded: boolean
  /** Session that has replaced this one, or null. */
  successor: OpenSession | null
}

const PURPOSE = 'session'
/** Maximum number of cached sessions of a worker. */
const MAX_SESSIONS = 10_000
const MAX_BYTES = 32 * 1024 * 1024
/** Memory of a session in addition to its text, in bytes: claims, headers and consumer. */
const SESSION_BYTES = 2000

/** Converts sessions to cookies and back. A session that was opened before costs a hash and a map lookup. */
export class SessionCodec {
  readonly #sealed: CookieSeal
  readonly #prepare: (session: Session) => OpenSession | null
  readonly #open = new LRUCache<string, OpenSession>({ max: MAX_SESSIONS, maxSize: MAX_BYTES })

  /**
   * Creates the codec.
   * @param prepare derives from a session what requests need, or returns null for an unusable session.
   */
  constructor(sealed: CookieSeal, prepare: (session: Session) => OpenSession | null) {
    this.#sealed = sealed
    this.#prepare = prepare
  }

  seal(session: Session): string {
    return this.#sealed.seal(JSON.stringify(session), PURPOSE)
  }

  /** Decrypts a session, or returns null for a foreign value. */
  open(text: string): OpenSession | null {
    const key = hash('sha256', text, 'base64url')
    const known = this.#open.get(key)
    if (known !== undefined) return known
    const opened = this.#sealed.open(text, PURPOSE)
    const session = opened === null ? null : sessionIn(opened)
    if (session === null) return null
    const open = this.#prepare(session)
    if (open === null) return null
    this.#open.set(key, open, { size: SESSION_BYTES + 2 * text.length })
    return open
  }

  prepare(session: Session): OpenSession | null {
    return this.#prepare(session)
  }
}

/** Members that may be absent, because another version of the gateway wrote the session. */
const ABSENT = {
  ...{ scopes: null, idToken: null, accessToken: null, refreshToken: null },
  ...{ accessUntil: null, refreshAt: null, until: null },
}

/** Parses the text of a session, or returns null if a version of the gateway with other members wrote it. */
function sessionIn(text: string): Session | null {
  const object = parseStrictObject(Buffer.from(text))
  if (object === null) return null
  const { id, generation, startedAt, seenAt, claims } = object
  const isSession =
    typeof id === 'string' &&
    [generation, startedAt, seenAt].every((value) => typeof value === 'number') &&
    isJsonObject(claims)
  return isSession ? ({ ...ABSENT, ...object } as unknown as Session) : null
}

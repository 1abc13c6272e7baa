import { hash } from 'node:crypto'
import type { Consumer } from '@sluice/core'
import { LRUCache } from 'lru-cache'
import { isJsonObject, type JsonObject, memberOf, parseStrictObject } from '../../engines/json/strict-json.js'
import type { CookieSeal } from './cookie-seal.js'

/** What a session cookie holds. */
export interface Session {
  /** Random; of no meaning outside. */
  readonly id: string
  /** How many times its tokens were refreshed. */
  readonly generation: number
  /** When the user logged in, and made the last request that was noted, ms since 1970. */
  readonly startedAt: number
  readonly seenAt: number
  /** Of the ID token and of the userinfo endpoint. */
  readonly claims: JsonObject
  readonly scopes: string | null
  /** Null, as all that follows: there is none, or nobody needs it. */
  readonly idToken: string | null
  readonly accessToken: string | null
  readonly refreshToken: string | null
  /** When the access token ends, and from when on another one is asked for, ms since 1970; null: nobody knows. */
  readonly accessUntil: number | null
  readonly refreshAt: number | null
  /** When the session ends though its lifetime does not, ms since 1970; null: it does not. */
  readonly until: number | null
}

/** A session as requests use it. */
export interface OpenSession {
  readonly session: Session
  readonly consumer: Consumer
  readonly claims: ReadonlyMap<string, string>
  /** Header lines for the upstream, names and values in turn. */
  readonly lines: readonly string[]
  /** When it was asked last whether it was ended before its time; monotonic. */
  checkedMono: number
  isEnded: boolean
  /** The one that has taken its place since. */
  successor: OpenSession | null
}

const PURPOSE = 'session'
/** Of a worker. */
const MAX_SESSIONS = 10_000
const MAX_BYTES = 32 * 1024 * 1024
/** A session beside its text: the claims as texts, lines, the consumer. */
const SESSION_BYTES = 2000

/** Makes sessions of cookies and cookies of sessions. Those that were opened before cost a hash and a look into a map. */
export class SessionCodec {
  readonly #sealed: CookieSeal
  readonly #prepare: (session: Session) => OpenSession | null
  readonly #open = new LRUCache<string, OpenSession>({ max: MAX_SESSIONS, maxSize: MAX_BYTES })

  /** @param prepare makes of a session what requests need; null: it is of no use. */
  constructor(sealed: CookieSeal, prepare: (session: Session) => OpenSession | null) {
    this.#sealed = sealed
    this.#prepare = prepare
  }

  seal(session: Session): string {
    return this.#sealed.seal(JSON.stringify(session), PURPOSE)
  }

  /** Null: it is no session of ours. */
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

/** It was written by the gateway; another version may have had other members. */
function sessionIn(text: string): Session | null {
  const object = parseStrictObject(Buffer.from(text))
  if (object === null) return null
  const { id, generation, startedAt, seenAt, claims } = object
  const isSession =
    typeof id === 'string' &&
    typeof generation === 'number' &&
    typeof startedAt === 'number' &&
    typeof seenAt === 'number' &&
    isJsonObject(claims)
  if (!isSession) return null
  const textOf = (name: string): string | null => {
    const value = memberOf(object, name)
    return typeof value === 'string' ? value : null
  }
  const numberOf = (name: string): number | null => {
    const value = memberOf(object, name)
    return typeof value === 'number' ? value : null
  }
  return {
    ...{ id, generation, startedAt, seenAt, claims },
    ...{ scopes: textOf('scopes'), idToken: textOf('idToken'), accessToken: textOf('accessToken') },
    ...{ refreshToken: textOf('refreshToken'), accessUntil: numberOf('accessUntil') },
    ...{ refreshAt: numberOf('refreshAt'), until: numberOf('until') },
  }
}

import { createHash, timingSafeEqual } from 'node:crypto'
import type { AdminRole, AdminToken } from '@sluice/config'
import { Lockout, Sessions } from '@sluice/core'
import { type AdminAnswer, problemAnswer } from './problem.js'

/** Lifetime of a browser session in milliseconds. */
export const SESSION_MS = 12 * 3_600_000

/** Access level of an endpoint: open, or the minimum role. */
export type Access = 'open' | AdminRole

/** The parts of a request needed to authenticate it. */
export interface Caller {
  readonly peer: string
  /** Authorization header; empty if absent. */
  readonly authorization: string
  /** Id of the browser session; empty if absent. A token takes precedence. */
  readonly sessionId?: string
}

/** The caller's name and role, or the refusal. */
export type Admission =
  | { readonly ok: true; readonly actor: string; readonly role: AdminRole }
  | { readonly ok: false; readonly answer: AdminAnswer }

/** Rank by role. A role includes the permissions of those below it. */
const RANK: Readonly<Record<AdminRole, number>> = { viewer: 1, operator: 2, admin: 3 }
const CHALLENGE = { 'www-authenticate': 'Bearer realm="sluice-admin"' }

/** Authenticates and authorizes callers. */
export class Authenticator {
  readonly #lockout: Lockout
  /** Hashes of the tokens that sessions stand for. */
  readonly #sessions = new Sessions<string>(SESSION_MS)
  #tokens: readonly { readonly token: AdminToken; readonly digest: Buffer }[] = []

  constructor(lockout = new Lockout()) {
    this.#lockout = lockout
  }

  /**
   * Sets the valid tokens. Without tokens every caller is an admin, which the configuration allows on
   * loopback only.
   */
  use(tokens: readonly AdminToken[]): void {
    this.#tokens = tokens.map((token) => ({ token, digest: Buffer.from(token.sha256, 'hex') }))
  }

  /** True if callers need a token. */
  get hasTokens(): boolean {
    return this.#tokens.length > 0
  }

  /** Opens a browser session for a token. Returns its id, or the refusal. */
  login(peer: string, token: string): Admission & { readonly sessionId?: string } {
    const found = this.#check({ peer, authorization: `Bearer ${token}` })
    if ('ok' in found) return found
    return {
      ...admitted(found.id, { peer }, found.role),
      sessionId: this.#sessions.open(found.id, found.sha256),
    }
  }

  logout(sessionId: string): void {
    this.#sessions.close(sessionId)
  }

  /** Returns the caller's name, or the refusal. */
  admit(caller: Caller, access: Access): Admission {
    if (access === 'open' || !this.hasTokens) return admitted('local', caller, 'admin')
    const found = this.#check(caller)
    if ('ok' in found) return found
    if (RANK[found.role] >= RANK[access]) return admitted(found.id, caller, found.role)
    const detail = `token '${found.id}' has the role ${found.role}, but this endpoint requires ${access}`
    return refused(problemAnswer('GW_ADMIN_ROLE_MISSING', detail))
  }

  /** Returns the caller's token, or the refusal. */
  #check(caller: Caller): AdminToken | Extract<Admission, { readonly ok: false }> {
    const session = caller.authorization === '' ? this.#ofSession(caller.sessionId ?? '') : null
    if (session !== null) return session
    const presented = /^bearer +([\x21-\x7e]+) *$/i.exec(caller.authorization)?.[1]
    if (presented === undefined) {
      const detail =
        'send a token as `Authorization: Bearer TOKEN`; gw takes it from GW_TOKEN or --token-file'
      return refused(problemAnswer('GW_ADMIN_AUTH_MISSING', detail, { headers: CHALLENGE }))
    }
    const token = this.#find(presented)
    if (token === null) {
      // A valid token is always accepted: others behind the same address may be the ones guessing.
      const secondsLeft = this.#lockout.secondsLeft(caller.peer)
      if (secondsLeft > 0) return lockedOut(secondsLeft)
      this.#lockout.wrong(caller.peer)
      const detail = 'the token matches none in admin.tokens; check the token and the document'
      return refused(problemAnswer('GW_ADMIN_AUTH_INVALID', detail, { headers: CHALLENGE }))
    }
    return token
  }

  /** Returns the token of a session, or null. A deploy that removes a token also ends its sessions. */
  #ofSession(sessionId: string): AdminToken | null {
    const sha256 = sessionId === '' ? null : this.#sessions.get(sessionId)
    return this.#tokens.find(({ token }) => token.sha256 === sha256)?.token ?? null
  }

  /** Returns the token, or null. All tokens are compared, so that the time taken reveals nothing. */
  #find(presented: string): AdminToken | null {
    const digest = createHash('sha256').update(presented).digest()
    let found: AdminToken | null = null
    for (const known of this.#tokens) {
      if (known.digest.length === digest.length && timingSafeEqual(known.digest, digest)) found = known.token
    }
    return found
  }
}

function admitted(name: string, { peer }: { readonly peer: string }, role: AdminRole) {
  return { ok: true, actor: `${name}@${peer}`, role } as const
}

function refused(answer: AdminAnswer): Extract<Admission, { readonly ok: false }> {
  return { ok: false, answer }
}

function lockedOut(seconds: number): Extract<Admission, { readonly ok: false }> {
  const detail = `too many wrong tokens from this address; try again in ${seconds} s`
  return refused(
    problemAnswer('GW_ADMIN_LOCKED_OUT', detail, { headers: { 'retry-after': String(seconds) } }),
  )
}

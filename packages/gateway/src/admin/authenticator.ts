import { createHash, timingSafeEqual } from 'node:crypto'
import type { AdminRole, AdminToken } from '@sluice/config'
import { Lockout } from './lockout.js'
import { type AdminAnswer, problemAnswer } from './problem.js'

/** What an endpoint asks of its caller: nothing, or at least this role. */
export type Access = 'open' | AdminRole

/** A request, as far as the check of its caller goes. */
export interface Caller {
  readonly peer: string
  /** The Authorization field; empty when absent. */
  readonly authorization: string
}

/** The caller's name, or the refusal. */
export type Admission =
  | { readonly ok: true; readonly actor: string }
  | { readonly ok: false; readonly answer: AdminAnswer }

/** Each role may do what those before it may. */
const RANK: Readonly<Record<AdminRole, number>> = { viewer: 1, operator: 2, admin: 3 }
const CHALLENGE = { 'www-authenticate': 'Bearer realm="sluice-admin"' }

/** Decides who may call what. */
export class Authenticator {
  readonly #lockout: Lockout
  #tokens: readonly { readonly token: AdminToken; readonly digest: Buffer }[] = []

  constructor(lockout = new Lockout()) {
    this.#lockout = lockout
  }

  /** The tokens from now on. None: every caller is an admin, which the configuration allows on loopback only. */
  use(tokens: readonly AdminToken[]): void {
    this.#tokens = tokens.map((token) => ({ token, digest: Buffer.from(token.sha256, 'hex') }))
  }

  admit(caller: Caller, access: Access): Admission {
    if (access === 'open' || this.#tokens.length === 0) return admitted('local', caller)
    const presented = /^bearer +([\x21-\x7e]+) *$/i.exec(caller.authorization)?.[1]
    if (presented === undefined) {
      const detail =
        'send a token as `Authorization: Bearer TOKEN`; gw takes it from GW_TOKEN or --token-file'
      return refused(problemAnswer('GW_ADMIN_AUTH_MISSING', detail, { headers: CHALLENGE }))
    }
    const token = this.#find(presented)
    if (token === null) {
      // A token that is known is always heard: others behind the same address may be the ones that guess.
      const secondsLeft = this.#lockout.secondsLeft(caller.peer)
      if (secondsLeft > 0) return lockedOut(secondsLeft)
      this.#lockout.wrong(caller.peer)
      const detail = 'no token under admin.tokens has this SHA-256; check the token and the document'
      return refused(problemAnswer('GW_ADMIN_AUTH_INVALID', detail, { headers: CHALLENGE }))
    }
    if (RANK[token.role] >= RANK[access]) return admitted(token.id, caller)
    const detail = `token '${token.id}' has the role ${token.role}, and this needs ${access}`
    return refused(problemAnswer('GW_ADMIN_ROLE_MISSING', detail))
  }

  /** Every token is compared, so that the time taken says nothing about which one was near. */
  #find(presented: string): AdminToken | null {
    const digest = createHash('sha256').update(presented).digest()
    let found: AdminToken | null = null
    for (const known of this.#tokens) {
      if (known.digest.length === digest.length && timingSafeEqual(known.digest, digest)) found = known.token
    }
    return found
  }
}

function admitted(name: string, caller: Caller): Admission {
  return { ok: true, actor: `${name}@${caller.peer}` }
}

function refused(answer: AdminAnswer): Admission {
  return { ok: false, answer }
}

function lockedOut(seconds: number): Admission {
  const detail = `this address has sent too many wrong tokens; try again in ${seconds} s`
  return refused(
    problemAnswer('GW_ADMIN_LOCKED_OUT', detail, { headers: { 'retry-after': String(seconds) } }),
  )
}

import { createHmac } from 'node:crypto'
import type { StickyPlan } from '@sluice/config'
import type { Exchange } from '@sluice/core'
import { nameOf } from './balancer.js'
import { requestCookie } from './request-key.js'
import type { Target } from './target.js'

/** Length in bytes of the id for a target. */
const ID_BYTES = 9

/**
 * Sessions that stay with their target, by a cookie of an id and its signature:
 *
 *     gw-target=<id>.<HMAC-SHA256 of upstream and id>
 *
 * The id is itself an HMAC of the target's name, so it does not reveal the address. All values are computed once, and a
 * cookie is valid if it is one of them.
 */
export class StickySessions {
  readonly #cookie: string
  readonly #attributes: string
  readonly #targets = new Map<string, Target>()
  readonly #values = new Map<Target, string>()

  /** @param upstream name of the upstream, so that its cookies are not valid for another one. */
  constructor(plan: StickyPlan, upstream: string, targets: readonly Target[]) {
    this.#cookie = plan.cookie
    this.#attributes = attributesOf(plan)
    for (const target of targets) {
      const id = hmac(plan.secret, 'id', nameOf(target)).subarray(0, ID_BYTES).toString('base64url')
      const value = `${id}.${hmac(plan.secret, 'cookie', upstream, id).toString('base64url')}`
      this.#targets.set(value, target)
      this.#values.set(target, value)
    }
  }

  /** Returns the target of the session, or null without a valid cookie. */
  findTarget(x: Exchange): Target | null {
    const value = requestCookie(x, this.#cookie)
    return value === null ? null : (this.#targets.get(value) ?? null)
  }

  /** Adds Set-Cookie to the response, unless the request already had the cookie for this target. */
  setCookie(x: Exchange, target: Target): void {
    const value = this.#values.get(target)
    if (value === undefined || this.findTarget(x) === target) return
    x.responseHeaders.push('set-cookie', `${this.#cookie}=${value}${this.#attributes}`)
  }
}

function hmac(secret: string, ...parts: readonly string[]): Buffer {
  return createHmac('sha256', secret).update(parts.join('\0')).digest()
}

function attributesOf({ path, ttlMs, httpOnly, secure, sameSite }: StickyPlan): string {
  const parts = [`; Path=${path}`]
  if (ttlMs !== null) parts.push(`; Max-Age=${Math.ceil(ttlMs / 1000)}`)
  if (httpOnly) parts.push('; HttpOnly')
  if (secure) parts.push('; Secure')
  parts.push(`; SameSite=${sameSite[0]!.toUpperCase()}${sameSite.slice(1)}`)
  return parts.join('')
}

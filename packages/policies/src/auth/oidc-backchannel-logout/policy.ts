import {
  type CompileEnv,
  definePolicy,
  type Exchange,
  type Reply,
  StateUnavailable,
  substitute,
} from '@sluice/core'
import { OneTimeUse } from '../../crypto/replay/one-time-use.js'
import { ReplayCache } from '../../crypto/replay/replay-cache.js'
import { KeysUnavailable } from '../../identity/issuer/remote-key-set.js'
import { endedSessions } from '../../identity/session/ended-sessions.js'
import { loginUnavailable } from '../../identity/session/redirect.js'
import type { ClaimsSet } from '../../identity/token/claims-set.js'
import { ProviderTokens } from '../../identity/token/provider-tokens.js'
import { durationWithin, reasonOf } from '../../shared/call/call-options.js'
import { digestOf } from '../../shared/call/call-sharing.js'
import { isJsonObject, memberOf } from '../../shared/json/strict-json.js'
import { formText, isForm } from '../../shared/message/form.js'
import { type BackchannelLogoutConfig, backchannelLogoutSchema } from './schema.js'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const MAX_BODY_BYTES = 16 * 1024
const MAX_REMEMBER_MS = 30 * 86_400_000
/**
 * Maximum age of a logout token in milliseconds. Older tokens are refused, so each `jti` is remembered only
 * this long.
 */
const MAX_AGE_MS = 600_000
const MAX_TOKENS = 100_000
const NO_STORE = ['cache-control', 'no-store']
/** Accepted types (OpenID Connect Back-Channel Logout 1.0, section 2.4). Older providers send `JWT`. */
const TYPES = ['logout+jwt', 'jwt']

/** The `oidc-backchannel-logout` policy. Ends sessions when the provider reports a logout. */
export const oidcBackchannelLogout = definePolicy({
  name: 'oidc-backchannel-logout',
  summary: 'Ends `oidc` sessions when the provider reports that the user has logged out.',
  schema: backchannelLogoutSchema,
  cost: 'io',
  compile(config, env) {
    const receiver = new LogoutReceiver(config, env)
    return {
      name: 'oidc-backchannel-logout',
      onRequest: (x) => receiver.admit(x),
      onRequestBody: (x, body) => receiver.receive(x, body),
    }
  },
})

interface LogoutToken {
  readonly jti: string
  readonly sub: string | null
  readonly sid: string | null
}

class LogoutReceiver {
  readonly #env: CompileEnv
  readonly #tokens: ProviderTokens
  readonly #once: OneTimeUse
  readonly #ended
  readonly #rememberMs: number
  readonly #refusals

  /** @throws Error for an invalid address or time. */
  constructor(config: BackchannelLogoutConfig, env: CompileEnv) {
    this.#env = env
    this.#tokens = new ProviderTokens(config, env, TYPES)
    this.#rememberMs = durationWithin(MAX_REMEMBER_MS, config.rememberFor, 'rememberFor')
    const space = `oidc-logout/${digestOf(config.issuer, config.clientId)}`
    const seen = env.shared(space, () => new ReplayCache(MAX_TOKENS, 2 * MAX_AGE_MS))
    this.#once = new OneTimeUse(env, { space, seen, sharing: {} })
    this.#ended = endedSessions(config.issuer, config.clientId, env)
    this.#refusals = {
      request: env.refusal('GW_BAD_REQUEST', "POST a form with one 'logout_token'", NO_STORE),
      token: env.refusal('GW_LOGOUT_TOKEN', 'the logout token is not valid for this client', NO_STORE),
    }
  }

  admit(x: Exchange): Reply | null {
    if (x.method !== 'POST' || !isForm(x) || x.contentLength === 0) return this.#refusals.request
    x.bodyLimit = Math.min(x.bodyLimit, MAX_BODY_BYTES)
    return null
  }

  async receive(x: Exchange, body: Uint8Array): Promise<Reply> {
    const written = formText(body, 'logout_token')
    if (written === null) return this.#refusals.request
    try {
      const token = logoutTokenIn(await this.#tokens.verify(written, x))
      const now = Date.now()
      if (await this.#once.wasUsed(token.jti, now)) throw new Error('the token was used before')
      // Sessions end before the token counts as used. If this fails, the provider retries with the same
      // token.
      await this.#end(token)
      const verdict = await this.#once.use(token.jti, now)
      if (verdict === 'replayed') throw new Error('the token was used before')
      if (verdict !== 'first') return loginUnavailable(this.#env, NO_STORE)
      return substitute(200, NO_STORE, EMPTY)
    } catch (error) {
      x.record.reason = reasonOf(error)
      const isDown = error instanceof StateUnavailable || error instanceof KeysUnavailable
      return isDown ? loginUnavailable(this.#env, NO_STORE) : this.#refusals.token
    }
  }

  #end({ sid, sub }: LogoutToken): Promise<void> {
    return sid === null
      ? this.#ended.end('sub', sub!, this.#rememberMs)
      : this.#ended.end('sid', sid, this.#rememberMs)
  }
}

const EMPTY = new Uint8Array(0)

/**
 * Reads a logout token (OpenID Connect Back-Channel Logout 1.0, section 2.6).
 * @throws Error that says what is wrong.
 */
function logoutTokenIn({ all }: ClaimsSet): LogoutToken {
  const [jti, sid, sub, iat] = ['jti', 'sid', 'sub', 'iat'].map((name) => memberOf(all, name))
  if (typeof jti !== 'string' || jti === '' || jti.length > 256) throw new Error("the token has no 'jti'")
  if (typeof iat !== 'number' || Math.abs(Date.now() - iat * 1000) > MAX_AGE_MS)
    throw new Error("'iat' is missing or more than 10 minutes off")
  const events = memberOf(all, 'events')
  if (!isJsonObject(events) || !isJsonObject(memberOf(events, EVENT)))
    throw new Error('the token has no logout event')
  if (memberOf(all, 'nonce') !== undefined)
    throw new Error("the token has a 'nonce', which only ID tokens have")
  if (typeof sid !== 'string' && typeof sub !== 'string')
    throw new Error("the token has neither 'sid' nor 'sub'")
  return { jti, sid: typeof sid === 'string' ? sid : null, sub: typeof sub === 'string' ? sub : null }
}

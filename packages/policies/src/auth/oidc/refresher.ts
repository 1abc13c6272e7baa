import type { CompileEnv, Exchange, StateStore } from '@sluice/core'
import { GrantRefused } from '../../identity/oauth/token-response.js'
import type { OpenSession, Session, SessionCodec } from '../../identity/session/session.js'
import type { ProviderTokens } from '../../identity/token/provider-tokens.js'
import { CallBreaker } from '../../shared/call/call-breaker.js'
import { MARGIN_MS, singleFlight } from '../../shared/call/single-flight.js'
import { memberOf } from '../../shared/json/strict-json.js'
import type { Provider } from './provider.js'
import { type TokenUse, tokensOf } from './token-use.js'

/** Time in milliseconds during which requests with the previous cookie get the refreshed session. */
const GRACE_MS = 60_000
const FAILURES = 3
const OPEN_MS = 5000

interface RefresherParts {
  readonly provider: Provider
  readonly tokens: ProviderTokens
  readonly codec: SessionCodec
  readonly use: TokenUse
  readonly timeoutMs: number
}

/** Error that ends a session because it cannot be refreshed, not even later. */
export class SessionEnded extends Error {
  override readonly name = 'SessionEnded'
}

/**
 * Refreshes sessions. Each refresh token is used once, by one worker of one gateway. Many providers treat a
 * second use as theft and end the session.
 */
export class Refresher {
  readonly #parts: RefresherParts
  readonly #store: StateStore
  readonly #prefix: string
  readonly #running = new Map<string, Promise<OpenSession>>()
  readonly #breaker = new CallBreaker({ failures: FAILURES, openMs: OPEN_MS })

  constructor(parts: RefresherParts, space: string, env: Pick<CompileEnv, 'state'>) {
    this.#parts = parts
    this.#store = env.state.store('cluster')
    this.#prefix = `oidc-refreshed:${space}:`
  }

  /** Refreshes a session. Rejects with SessionEnded, or with any Error if the provider is unavailable. */
  refresh(open: OpenSession, x: Exchange): Promise<OpenSession> {
    const { id, generation } = open.session
    const key = `${this.#prefix}${id}:${generation}`
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const refreshed = this.#singleFlight(key, open, x).finally(() => this.#running.delete(key))
    this.#running.set(key, refreshed)
    return refreshed
  }

  async #singleFlight(key: string, open: OpenSession, x: Exchange): Promise<OpenSession> {
    const { codec, timeoutMs } = this.#parts
    const next = await singleFlight({
      ...{ store: this.#store, key, waitMs: 2 * timeoutMs + MARGIN_MS },
      read: (sealed) => codec.open(Buffer.from(sealed).toString()),
      ask: async () => {
        const session = await this.#ask(open.session, x)
        const next = codec.prepare(session)
        if (next === null) throw new SessionEnded('the new claims do not identify a consumer')
        return { value: next, bytes: Buffer.from(codec.seal(session)), ttlMs: GRACE_MS }
      },
    })
    next.checkedMono = open.checkedMono
    open.successor = next
    return next
  }

  async #ask(session: Session, x: Exchange): Promise<Session> {
    const { provider, tokens, use } = this.#parts
    if (!this.#breaker.admits())
      throw new Error('the circuit breaker is open after repeated failures of the provider')
    try {
      const issued = await provider.refresh(session.refreshToken!)
      this.#breaker.note(true)
      const { idToken, accessToken } = issued
      const context = { x, nonce: memberOf(session.claims, 'nonce'), accessToken, isRefreshed: true }
      const claims = idToken === null ? {} : (await tokens.verifyIdToken(idToken, context)).all
      // The user must stay the same (OpenID Connect Core 1.0, section 12.2). The issuer is also compared
      // because it differs between tenants.
      for (const name of ['sub', 'iss']) {
        const value = memberOf(claims, name)
        if (value !== undefined && value !== memberOf(session.claims, name))
          throw new SessionEnded('the new ID token belongs to another user')
      }
      return {
        ...session,
        ...{ generation: session.generation + 1, seenAt: Date.now() },
        claims: { ...session.claims, ...claims },
        ...tokensOf(issued, use, session),
      }
    } catch (error) {
      if (error instanceof GrantRefused) throw new SessionEnded(error.message)
      if (!(error instanceof SessionEnded)) this.#breaker.note(false)
      throw error
    }
  }
}

import type { StateStore } from '@sluice/core'
import { MARGIN_MS, singleFlight } from '../../shared/call/single-flight.js'
import { memberOf, parseStrictObject } from '../../shared/json/strict-json.js'
import type { IssuedToken } from './token-source.js'

/** Tokens shared by all workers of a gateway through the supervisor, so that one worker fetches for all. */
export class GatewayTokens {
  readonly #store: StateStore
  readonly #waitMs: number

  /** @param store gateway store, never a cluster store: tokens must not leave the process tree. */
  constructor(store: StateStore, timeoutMs: number) {
    this.#store = store
    this.#waitMs = timeoutMs + MARGIN_MS
  }

  /**
   * Returns a token that this worker or another one has fetched. Rejects with the error of `ask`.
   * @param key digest that identifies the token's subject.
   * @param last token to replace, or '' for the first.
   */
  async get(key: string, last: string, ask: () => Promise<IssuedToken>): Promise<IssuedToken> {
    const name = `token:${key}`
    return singleFlight({
      store: this.#store,
      key: name,
      waitMs: this.#waitMs,
      find: async () => {
        const token = parse(await this.#store.get(name))
        return token === null || token.value === last ? null : token
      },
      ask: async () => {
        const token = await ask()
        const stored = JSON.stringify({ value: token.value, until: Date.now() + token.lifeMs })
        await this.#store.set(name, Buffer.from(stored), Math.ceil(token.lifeMs)).catch(() => {})
        return token
      },
    })
  }
}

function parse(bytes: Uint8Array | null): IssuedToken | null {
  const stored = bytes === null ? null : parseStrictObject(bytes)
  if (stored === null) return null
  const lifeMs = Number(memberOf(stored, 'until')) - Date.now()
  return lifeMs > 0 ? { value: String(memberOf(stored, 'value')), lifeMs } : null
}

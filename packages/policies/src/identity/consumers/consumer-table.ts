import { type Consumer, consumerOf } from '@sluice/core'
import type { ConsumerEntry } from './consumer-entry.js'
import { Users } from './users.js'

/** Maximum number of consumers in a file. */
export const MAX_CONSUMERS = 100_000

/** An API key and its owner. */
export interface KnownKey {
  readonly consumer: Consumer
  /** Expiry in milliseconds since the epoch, or infinity. */
  readonly expiresAt: number
}

/** Consumers of a file by credential. Not modified once it is in use. */
export class ConsumerTable {
  /** Keys by their hexadecimal SHA-256. The digest of a guessed key reveals nothing about the stored ones. */
  readonly keys = new Map<string, KnownKey>()
  readonly users = new Users()
  readonly #ids = new Set<string>()

  /** Adds a consumer. @throws Error for a duplicate id or key, or an invalid password hash. */
  add(entry: ConsumerEntry): void {
    const { id, keys, password } = entry
    if (this.#ids.has(id)) throw new Error('duplicate consumer id')
    if (this.#ids.size >= MAX_CONSUMERS) throw new Error(`the file has more than ${MAX_CONSUMERS} consumers`)
    this.#ids.add(id)
    const { groups, roles, scopes, metadata: claims } = entry
    const known = { name: entry.name ?? id, groups, roles, scopes, claims }
    for (const { id: credential, sha256, expiresAt } of keys) {
      if (this.keys.has(sha256)) throw new Error('duplicate key')
      this.keys.set(sha256, { consumer: consumerOf('api-key', id, { ...known, credential }), expiresAt })
    }
    if (password !== null) this.users.add(id, password, consumerOf('basic-auth', id, known))
  }
}

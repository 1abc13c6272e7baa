import { type Consumer, consumerOf } from '@sluice/core'
import type { ConsumerEntry } from './consumer-entry.js'
import { Users } from './users.js'

/** Most consumers of a file. */
export const MAX_CONSUMERS = 100_000

/** A key that somebody has. */
export interface KnownKey {
  readonly consumer: Consumer
  /** Ms since the epoch; infinite when it does not expire. */
  readonly expiresAt: number
}

/** The consumers of a file, by what they prove themselves with; never changes once it serves. */
export class ConsumerTable {
  /** By the SHA-256 of the key, hexadecimal: the digest of a guess shows nothing about those that are stored. */
  readonly keys = new Map<string, KnownKey>()
  readonly users = new Users()
  readonly #ids = new Set<string>()

  /** @throws Error for an id or a key that is there already, and a password that is no hash. */
  add(entry: ConsumerEntry): void {
    const { id, keys, password } = entry
    if (this.#ids.has(id)) throw new Error('its id stands in the file twice')
    if (this.#ids.size >= MAX_CONSUMERS) throw new Error(`the file has more than ${MAX_CONSUMERS} consumers`)
    this.#ids.add(id)
    const { groups, roles, scopes, metadata: claims } = entry
    const known = { name: entry.name ?? id, groups, roles, scopes, claims }
    for (const { id: credential, sha256, expiresAt } of keys) {
      if (this.keys.has(sha256)) throw new Error('one of its keys stands in the file twice')
      this.keys.set(sha256, { consumer: consumerOf('api-key', id, { ...known, credential }), expiresAt })
    }
    if (password !== null) this.users.add(id, password, consumerOf('basic-auth', id, known))
  }
}

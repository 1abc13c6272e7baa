import { randomBytes } from 'node:crypto'
import type { PersistPlan } from '@sluice/config'
import type { Argument } from '../../state/valkey/connection.js'
import { ValkeyServer } from '../../state/valkey/server.js'
import type { PurgeLog } from './purge-log.js'

/** Timeout of a write in milliseconds, after which Valkey counts as unavailable. */
const WRITE_MS = 2000
/** Maximum number of fields in the metadata hash: purges, and a few more. */
const MAX_FIELDS = 1010

/** The values in Valkey that belong to this server. */
export interface StoredGeneration {
  /** Part of each key name. With a new generation, earlier values are no longer found. */
  readonly generation: string
  /** Number of this start of the server on these values. */
  readonly epoch: number
}

/** The Valkey commands of a persistent cache server. All of them reject if Valkey does not confirm. */
export class PersistServer {
  readonly server: ValkeyServer
  readonly #prefix: string
  readonly #meta: string
  readonly #owner = randomBytes(8).toString('hex')

  constructor(plan: PersistPlan, report: (event: string, fields: Readonly<Record<string, unknown>>) => void) {
    this.#prefix = plan.keyPrefix
    this.#meta = `${plan.keyPrefix}meta`
    this.server = new ValkeyServer({
      plan,
      timeoutMs: WRITE_MS,
      budget: { calls: 0, bytes: 0 },
      counts: { answered: 0, failed: 0, late: 0, refused: 0, sumMs: 0 },
      report,
    })
  }

  /** Takes over the values of a previous server with this prefix. Returns null if there is nothing usable. */
  async adopt(log: PurgeLog): Promise<StoredGeneration | null> {
    const generation = await this.#readMeta(log)
    if (generation === null) return null
    const epoch = Number(await this.#ask(['HINCRBY', this.#meta, 'e', '1']))
    await this.#ask(['HSET', this.#meta, 'o', this.#owner])
    return Number.isSafeInteger(epoch) && epoch > 0 && epoch < 2 ** 32 ? { generation, epoch } : null
  }

  /** Starts a new generation. Earlier values are no longer found, and expire on their own. */
  async renew(): Promise<StoredGeneration> {
    const generation = randomBytes(8).toString('hex')
    await this.forgetAll()
    await this.#ask(['HSET', this.#meta, 'g', generation, 'e', '1', 'o', this.#owner])
    return { generation, epoch: 1 }
  }

  /** Makes sure that no later start of a server finds the current values. */
  async forgetAll(): Promise<void> {
    await this.#ask(['UNLINK', this.#meta])
  }

  /** Returns true if this server owns the values, false if another one does, and null if nobody does. */
  async isOwner(): Promise<boolean | null> {
    const owner = (await this.#ask(['HGET', this.#meta, 'o'])) as Buffer | null
    return owner === null ? null : owner.toString() === this.#owner
  }

  /** Reads at most this many bytes; empty if there is no value. */
  async read(generation: string, key: string, maxBytes: number): Promise<Buffer> {
    return (await this.#ask(['GETRANGE', this.#nameOf(generation, key), '0', String(maxBytes)])) as Buffer
  }

  async write(generation: string, key: string, record: Buffer, ttlMs: number): Promise<void> {
    const ttl = String(Math.max(1, Math.ceil(ttlMs)))
    await this.#ask(['SET', this.#nameOf(generation, key), record, 'PX', ttl], record.length)
  }

  /** Removes a value. Returns true if there was one. */
  async remove(generation: string, key: string): Promise<boolean> {
    return (await this.#ask(['UNLINK', this.#nameOf(generation, key)])) === 1
  }

  async keepPurge(field: string, value: string): Promise<void> {
    await this.#ask(['HSET', this.#meta, field, value])
  }

  async #readMeta(log: PurgeLog): Promise<string | null> {
    const count = await this.#ask(['HLEN', this.#meta]).catch((error: Error) => {
      // Something else has written to this key.
      if (error.message.includes('WRONGTYPE')) return MAX_FIELDS + 1
      throw error
    })
    if (Number(count) > MAX_FIELDS) return null
    const fields = (await this.#ask(['HGETALL', this.#meta])) as Buffer[]
    let generation: string | null = null
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [field, value] = [fields[i]!.toString(), fields[i + 1]!.toString()]
      if (field === 'g' && /^[0-9a-f]{16}$/.test(value)) generation = value
      else if (field.startsWith('p') && !log.take(field, value)) return null
    }
    return generation
  }

  #ask(args: readonly Argument[], valueBytes = 0): Promise<unknown> {
    return this.server.ask(args, { valueBytes })
  }

  /** Returns the name of a key in Valkey. Keys hold one byte per character. */
  #nameOf(generation: string, key: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#prefix}${generation}:`), Buffer.from(key, 'latin1')])
  }
}

import { randomBytes } from 'node:crypto'
import type { PersistPlan } from '@sluice/config'
import type { Argument } from '../../state/valkey/connection.js'
import { ValkeyServer } from '../../state/valkey/server.js'
import type { PurgeLog } from './purge-log.js'

/** A write that is not answered so long says that Valkey is away. */
const WRITE_MS = 2000
/** Fields of what is kept beside the values: purges, and a few more. */
const MAX_FIELDS = 1010

/** Which values in Valkey are those of this server. */
export interface Holding {
  /** Part of the name of each. With another one, nothing that was there is found any more. */
  readonly generation: string
  /** Which start of the server on these values. */
  readonly epoch: number
}

/** What a server keeps in Valkey, command by command. All of them reject when Valkey does not confirm. */
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

  /** Takes over what a server with this prefix has left; null: nothing that can be used. */
  async adopt(log: PurgeLog): Promise<Holding | null> {
    const generation = await this.#readMeta(log)
    if (generation === null) return null
    const epoch = Number(await this.#ask(['HINCRBY', this.#meta, 'e', '1']))
    await this.#ask(['HSET', this.#meta, 'o', this.#owner])
    return Number.isSafeInteger(epoch) && epoch > 0 && epoch < 2 ** 32 ? { generation, epoch } : null
  }

  /** Begins anew: what is there is found by nobody any more, and ends with its time. */
  async renew(): Promise<Holding> {
    const generation = randomBytes(8).toString('hex')
    await this.forgetAll()
    await this.#ask(['HSET', this.#meta, 'g', generation, 'e', '1', 'o', this.#owner])
    return { generation, epoch: 1 }
  }

  /** Has no start of a server find what is there. */
  async forgetAll(): Promise<void> {
    await this.#ask(['UNLINK', this.#meta])
  }

  /** Null: nobody has what is there any more; false: another server has. */
  async isOwner(): Promise<boolean | null> {
    const owner = (await this.#ask(['HGET', this.#meta, 'o'])) as Buffer | null
    return owner === null ? null : owner.toString() === this.#owner
  }

  /** At most so many bytes. Empty: there is none. */
  async read(generation: string, key: string, maxBytes: number): Promise<Buffer> {
    return (await this.#ask(['GETRANGE', this.#nameOf(generation, key), '0', String(maxBytes)])) as Buffer
  }

  async write(generation: string, key: string, record: Buffer, ttlMs: number): Promise<void> {
    const ttl = String(Math.max(1, Math.ceil(ttlMs)))
    await this.#ask(['SET', this.#nameOf(generation, key), record, 'PX', ttl], record.length)
  }

  /** Whether there was one. */
  async remove(generation: string, key: string): Promise<boolean> {
    return (await this.#ask(['UNLINK', this.#nameOf(generation, key)])) === 1
  }

  async keepPurge(field: string, value: string): Promise<void> {
    await this.#ask(['HSET', this.#meta, field, value])
  }

  async #readMeta(log: PurgeLog): Promise<string | null> {
    const count = await this.#ask(['HLEN', this.#meta]).catch((error: Error) => {
      // Others have written there.
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

  /** Keys are bytes, one a character. */
  #nameOf(generation: string, key: string): Buffer {
    return Buffer.concat([Buffer.from(`${this.#prefix}${generation}:`), Buffer.from(key, 'latin1')])
  }
}

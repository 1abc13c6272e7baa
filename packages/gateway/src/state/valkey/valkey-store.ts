import type { StatePlan } from '@sluice/config'
import {
  type Grant,
  type LimitRule,
  MAX_STATE_VALUE_BYTES,
  type StateStore,
  StateUnavailable,
  storedKey,
} from '@sluice/core'
import { ValkeyCluster } from './cluster.js'
import { ADD_SCRIPT, LIMIT_SCRIPT, type Script } from './scripts.js'
import { type SendOptions, type ValkeyCounts, ValkeyServer, type ValkeyServers } from './server.js'

/** Options for `ValkeyStore`. */
export interface ValkeyOptions {
  readonly plan: StatePlan
  readonly report: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

/** Number of keys that a server scans per step, and maximum number of steps. */
const SCAN_COUNT = 1000
const MAX_SCANS = 100_000
/** Limits skip a slow server, see `onStoreDown`. */
const SKIP_IF_SLOW: SendOptions = { skipIfSlow: true }

/** A state store in a Valkey or Redis server, or in a cluster. */
export class ValkeyStore implements StateStore {
  /**
   * Resolves when connected, if that is impossible, or after a timeout. A worker that serves without it
   * counts locally, or refuses.
   */
  readonly opened: Promise<void>
  readonly counts: ValkeyCounts = { answered: 0, failed: 0, late: 0, refused: 0, sumMs: 0 }
  readonly #keyPrefix: string
  readonly #servers: ValkeyServers

  constructor({ plan, report }: ValkeyOptions) {
    const { url, cluster, keyPrefix, timeoutMs, slowAfterMs, username, password, tls } = plan
    this.#keyPrefix = keyPrefix
    const shared = { timeoutMs, slowAfterMs, report, counts: this.counts, budget: { calls: 0, bytes: 0 } }
    const common = { username, password, tls }
    this.#servers =
      url === null
        ? new ValkeyCluster({ ...shared, plan: common, urls: cluster })
        : new ValkeyServer({ ...shared, plan: { ...common, url } })
    this.opened = this.#servers.opened
  }

  /** Reason why the server, or a part of the cluster, is unusable; null if there is none. */
  get problem(): string | null {
    return this.#servers.problem
  }

  /** True while answers take longer than `slowAfter`. */
  get isSlow(): boolean {
    return this.#servers.isSlow
  }

  async get(key: string): Promise<Uint8Array | null> {
    return (await this.#send('GET', key)) as Buffer | null
  }

  async set(key: string, value: Uint8Array, ttlMs: number, only?: 'absent'): Promise<boolean> {
    if (value.length > MAX_STATE_VALUE_BYTES) throw new RangeError('the value is too large for the store')
    const name = this.#nameOf(key)
    const args = ['SET', name, Buffer.from(value), 'PX', wholeMs(ttlMs)]
    if (only !== undefined) args.push('NX')
    return (await this.#servers.send(name, args, { valueBytes: value.length })) !== null
  }

  async delete(key: string): Promise<boolean> {
    return (await this.#send('DEL', key)) === 1
  }

  async add(key: string, amount: number, ttlMs: number): Promise<number> {
    return Number(await this.#run(ADD_SCRIPT, key, [String(amount), wholeMs(ttlMs)]))
  }

  async take(key: string, rule: LimitRule, amount: number): Promise<Grant> {
    const answer = await this.#run(LIMIT_SCRIPT, key, [...ruleArguments(rule), String(amount)], SKIP_IF_SLOW)
    const [granted, remaining, retryAfterMs, resetMs] = Array.isArray(answer) ? answer.map(Number) : []
    const grant = { granted, remaining, retryAfterMs, resetMs } as Grant
    if (!Object.values(grant).every(Number.isFinite))
      throw new StateUnavailable('the server sent an invalid answer')
    return grant
  }

  async giveBack(key: string, rule: LimitRule, amount: number): Promise<void> {
    if (amount > 0) await this.#run(LIMIT_SCRIPT, key, [...ruleArguments(rule), String(-amount)])
  }

  async list(prefix: string, most: number): Promise<string[]> {
    const { length } = this.#keyPrefix
    const keys = new Set<string>()
    for (const server of this.#servers.all()) {
      if (keys.size >= most) break
      await this.#scan(server, prefix, (found) => {
        for (const key of found) if (keys.size < most) keys.add(key.toString().slice(length))
        return keys.size < most
      })
    }
    return [...keys]
  }

  async deleteAll(prefix: string): Promise<number> {
    let deleted = 0
    const failures: unknown[] = []
    for (const server of this.#servers.all()) {
      const done = this.#scan(server, prefix, async (found) => {
        // All keys of one command would have to be in the same slot.
        const answers = await Promise.all(found.map((key) => this.#servers.send(key, ['UNLINK', key])))
        for (const answer of answers) deleted += Number(answer)
        return true
      })
      // Continue with the other nodes.
      await done.catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
    return deleted
  }

  close(): void {
    this.#servers.close()
  }

  #nameOf(key: string): string {
    return this.#keyPrefix + storedKey(key)
  }

  #send(command: string, key: string): Promise<unknown> {
    const name = this.#nameOf(key)
    return this.#servers.send(name, [command, name])
  }

  /** Scans a server's keys. @param take receives keys; returns true to continue. */
  async #scan(
    server: Pick<ValkeyServer, 'ask'>,
    prefix: string,
    take: (keys: readonly Buffer[]) => boolean | Promise<boolean>,
  ): Promise<void> {
    const pattern = `${escapeGlob(this.#keyPrefix + prefix)}*`
    let cursor = '0'
    for (let i = 0; i < MAX_SCANS; i++) {
      const answer = await server.ask(['SCAN', cursor, 'MATCH', pattern, 'COUNT', String(SCAN_COUNT)])
      const [next, keys] = answer as [Buffer, Buffer[]]
      cursor = String(next)
      if (!(await take(keys)) || cursor === '0') return
    }
  }

  /** Runs a script. Servers lose scripts at a restart and at a failover. */
  async #run(
    { sha, text }: Script,
    key: string,
    args: readonly string[],
    options: SendOptions = {},
  ): Promise<unknown> {
    const name = this.#nameOf(key)
    const rest = ['1', name, ...args]
    try {
      return await this.#servers.send(name, ['EVALSHA', sha, ...rest], options)
    } catch (error) {
      if (!(error instanceof StateUnavailable) || !error.message.includes('NOSCRIPT')) throw error
      return this.#servers.send(name, ['EVAL', text, ...rest], options)
    }
  }
}

function ruleArguments({ algorithm, limit, periodMs, burst, anchorMs = 0 }: LimitRule): string[] {
  return [algorithm, String(limit), String(periodMs), String(burst), String(anchorMs)]
}

function wholeMs(ms: number): string {
  return String(Math.max(1, Math.ceil(ms)))
}

/** Escapes the characters that are special in the server's glob patterns. */
function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}

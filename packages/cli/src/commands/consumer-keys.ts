import { parseDuration } from '@sluice/core'
import { newKey, parseInstant } from '@sluice/policies'
import {
  type ConsumerRecord,
  changeConsumers,
  consumerIn,
  type KeyRecord,
  readConsumers,
} from '../consumers/edited-file.js'
import type { OutputOptions } from '../input/options.js'
import { Failure, usageError } from '../output/failure.js'
import { print, printResult, printTable, say } from '../output/output.js'
import { countText } from '../output/text.js'

const DAY_MS = 86_400_000
/** Maximum lifetime of a key: ten years. */
const MAX_LIFE_MS = 3650 * DAY_MS

interface FileOptions {
  readonly file: string
}

interface CreateOptions extends FileOptions, OutputOptions {
  readonly id?: string
  /** Lifetime, such as `90d`. */
  readonly expires?: string
}

/** Creates a key for a consumer and prints it once. Removes expired keys of the consumer. */
export function createKey(options: CreateOptions, consumer: string): Promise<void> {
  return addKey(options, consumer, (keys) => keys)
}

interface RotateOptions extends CreateOptions {
  readonly overlap: string
}

/** Creates a key for a consumer, and lets its existing keys expire. */
export function rotateKey(options: RotateOptions, consumer: string): Promise<void> {
  const end = momentIn(options.overlap)
  return addKey(options, consumer, (keys) =>
    keys.map((key) => (endOf(key) < Date.parse(end) ? key : { ...key, expires: end })),
  )
}

/** Removes a key of a consumer. */
export function revokeKey({ file }: FileOptions, id: string, key: string): void {
  changeConsumers(file, (consumers) => {
    const owner = consumerIn(file, consumers, id)
    const { keys = [] } = owner
    const left = keys.filter((one) => one.id !== key)
    if (left.length === keys.length)
      throw new Failure(`the consumer '${id}' has no key '${key}'; list its keys with gw key list ${id}`)
    return withKeys(consumers, owner, left)
  })
  say(`revoked the key '${key}' of '${id}'; gateways reject it once they have reloaded the file`)
}

/** Lists keys with their expiry times, without digests. */
export async function listKeys({ file, output }: FileOptions & OutputOptions, id?: string): Promise<void> {
  const all = readConsumers(file)
  const now = Date.now()
  const consumers = id === undefined ? all : [consumerIn(file, all, id)]
  const keys = consumers.flatMap(({ id: consumer, keys: its = [] }) =>
    its.map((key) => ({
      consumer,
      key: key.id,
      expires: key.expires ?? null,
      hasExpired: endOf(key) <= now,
    })),
  )
  const rows = keys.map(({ consumer, key, expires, hasExpired }) => [
    ...[consumer, key, `${hasExpired ? 'expired ' : ''}${expires ?? 'never'}`],
  ])
  await printResult({ keys }, output, () => printTable(['CONSUMER', 'KEY', 'EXPIRES'], rows))
}

async function addKey(
  { file, id, expires, output }: CreateOptions,
  consumer: string,
  change: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): Promise<void> {
  const { key, sha256 } = newKey()
  const now = Date.now()
  const made: KeyRecord = {
    id: id ?? new Date(now).toISOString().replace(/[-:]|\.\d+/g, ''),
    sha256,
    ...(expires === undefined ? {} : { expires: momentIn(expires) }),
  }
  let expired: readonly string[] = []
  changeConsumers(file, (consumers) => {
    const owner = consumerIn(file, consumers, consumer)
    const { keys = [] } = owner
    const alive = keys.filter((one) => endOf(one) > now)
    expired = keys.filter((one) => !alive.includes(one)).map((one) => one.id)
    if (alive.some((one) => one.id === made.id))
      throw new Failure(
        `the consumer '${consumer}' already has a key '${made.id}'; choose another one with --id`,
      )
    return withKeys(consumers, owner, [...change(alive), made])
  })
  await printResult({ consumer, id: made.id, key }, output, () => print(`id  ${made.id}`, `key ${key}`))
  if (expired.length > 0) say(`removed ${countText(expired.length, 'expired key')}: ${expired.join(' ')}`)
  say(
    'give the key to its owner; it is not stored anywhere. Gateways that read the file accept it within a second',
  )
}

/** Expiry time of a key in ms since the epoch; infinite if it does not expire. */
function endOf({ expires }: KeyRecord): number {
  return expires === undefined ? Number.POSITIVE_INFINITY : parseInstant(expires)
}

function withKeys(
  consumers: readonly ConsumerRecord[],
  owner: ConsumerRecord,
  keys: readonly KeyRecord[],
): readonly ConsumerRecord[] {
  return consumers.map((consumer) => (consumer === owner ? { ...consumer, keys } : consumer))
}

/** Returns the time after a lifetime. @param text a duration, or days such as `90d` */
function momentIn(text: string): string {
  return new Date(Date.now() + lifeMs(text)).toISOString()
}

function lifeMs(text: string): number {
  const days = /^(\d{1,4})d$/.exec(text)
  try {
    const ms = days === null ? parseDuration(text) : Number(days[1]) * DAY_MS
    if (ms > 0 && ms <= MAX_LIFE_MS) return ms
  } catch {}
  throw usageError(`'${text}' is not a valid lifetime; use for example 24h or 90d, at most ten years`)
}

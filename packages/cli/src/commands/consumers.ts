import { parseDuration } from '@sluice/core'
import { hashPassword, newKey } from '@sluice/policies'
import {
  type ConsumerRecord,
  changeConsumers,
  type KeyRecord,
  readConsumers,
} from '../consumers/edited-file.js'
import { EXIT, Failure, messageOf } from '../failure.js'
import { readSecret } from '../input/secret.js'
import { isTable, print, printTable, printValue, say } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'

interface FileOptions {
  readonly file: string
}

interface AddOptions extends FileOptions {
  readonly name?: string
  readonly group?: readonly string[]
  readonly role?: readonly string[]
  readonly scope?: readonly string[]
  readonly password?: boolean
}

/** Adds a consumer; its password comes from stdin. */
export async function addConsumer(options: AddOptions, id: string): Promise<number> {
  const { name, group, role, scope } = options
  const password = options.password === true ? await hashedPassword() : null
  const added: ConsumerRecord = {
    id: id.normalize('NFC'),
    ...(name === undefined ? {} : { name }),
    ...(group === undefined ? {} : { groups: group }),
    ...(role === undefined ? {} : { roles: role }),
    ...(scope === undefined ? {} : { scopes: scope }),
    ...(password === null ? {} : { password }),
  }
  changeConsumers(options.file, (consumers) => {
    if (consumers.some((consumer) => consumer.id === added.id))
      throw new Failure(EXIT.failed, `there is a consumer '${id}' already; remove it first`)
    return [...consumers, added]
  })
  say(`added the consumer '${id}'`)
  return EXIT.ok
}

/** Removes a consumer, with its keys and its password. */
export function removeConsumer({ file }: FileOptions, id: string): number {
  changeConsumers(file, (consumers) => {
    consumerIn(consumers, id)
    return consumers.filter((consumer) => consumer.id !== id)
  })
  say(`removed the consumer '${id}'`)
  return EXIT.ok
}

/** Lists consumers, without hashes. */
export async function listConsumers({ file, output }: FileOptions & OutputOptions): Promise<number> {
  const consumers = readConsumers(file).map(({ keys = [], password, ...rest }) => ({
    ...rest,
    keys: keys.length,
    hasPassword: password !== undefined,
  }))
  if (!isTable(output)) await printValue({ consumers }, output)
  else {
    const rows = consumers.map(({ id, groups = [], roles = [], scopes = [], keys, hasPassword }) => [
      id,
      groups.join(' ') || '-',
      roles.join(' ') || '-',
      scopes.join(' ') || '-',
      keys,
      hasPassword ? 'yes' : 'no',
    ])
    printTable(['ID', 'GROUPS', 'ROLES', 'SCOPES', 'KEYS', 'PASSWORD'], rows)
  }
  return EXIT.ok
}

const DAY_MS = 86_400_000
/** Longest life of a key: ten years. */
const MAX_LIFE_MS = 3650 * DAY_MS

interface CreateOptions extends FileOptions, OutputOptions {
  readonly id?: string
  /** Such as `90d`. */
  readonly expires?: string
}

/** Makes one more key for a consumer, which is shown this once. */
export function createKey(options: CreateOptions, consumer: string): Promise<number> {
  return addKey(options, consumer, (keys) => keys)
}

interface RotateOptions extends CreateOptions {
  readonly overlap: string
}

/** Makes a key, and lets those that the consumer has expire after a while. */
export function rotateKey(options: RotateOptions, consumer: string): Promise<number> {
  const end = momentIn(options.overlap)
  return addKey(options, consumer, (keys) =>
    keys.map((key) =>
      key.expires !== undefined && Date.parse(key.expires) < Date.parse(end) ? key : { ...key, expires: end },
    ),
  )
}

/** Removes a key of a consumer. */
export function revokeKey({ file }: FileOptions, id: string, key: string): number {
  changeConsumers(file, (consumers) => {
    const { keys = [] } = consumerIn(consumers, id)
    const left = keys.filter((one) => one.id !== key)
    if (left.length === keys.length)
      throw new Failure(EXIT.failed, `the consumer '${id}' has no key '${key}'`)
    return withKeys(consumers, id, left)
  })
  say(`revoked the key '${key}' of '${id}'; gateways refuse it as soon as they have read the file`)
  return EXIT.ok
}

/** Lists keys with their ends, without digests. */
export async function listKeys({ file, output }: FileOptions & OutputOptions, id?: string): Promise<number> {
  const all = readConsumers(file)
  const consumers = id === undefined ? all : [consumerIn(all, id)]
  const keys = consumers.flatMap(({ id: consumer, keys: its = [] }) =>
    its.map(({ id: key, expires = null }) => ({ consumer, key, expires })),
  )
  if (!isTable(output)) await printValue({ keys }, output)
  else {
    const rows = keys.map(({ consumer, key, expires }) => [consumer, key, expires ?? 'never'])
    printTable(['CONSUMER', 'KEY', 'EXPIRES'], rows)
  }
  return EXIT.ok
}

async function addKey(
  { file, id, expires, output }: CreateOptions,
  consumer: string,
  change: (keys: readonly KeyRecord[]) => readonly KeyRecord[],
): Promise<number> {
  const { key, sha256 } = newKey()
  const made: KeyRecord = {
    id: id ?? new Date().toISOString().replace(/[-:]|\.\d+/g, ''),
    sha256,
    ...(expires === undefined ? {} : { expires: momentIn(expires) }),
  }
  changeConsumers(file, (consumers) => {
    const { keys = [] } = consumerIn(consumers, consumer)
    if (keys.some((one) => one.id === made.id))
      throw new Failure(
        EXIT.failed,
        `the consumer '${consumer}' has a key '${made.id}' already; name it by --id`,
      )
    return withKeys(consumers, consumer, [...change(keys), made])
  })
  if (!isTable(output)) await printValue({ consumer, id: made.id, key }, output)
  else print(`id  ${made.id}`, `key ${key}`)
  say(
    'give the key to its owner; it is not kept anywhere. Gateways that read the file take it within a second',
  )
  return EXIT.ok
}

function withKeys(
  consumers: readonly ConsumerRecord[],
  id: string,
  keys: readonly KeyRecord[],
): readonly ConsumerRecord[] {
  return consumers.map((consumer) => (consumer.id === id ? { ...consumer, keys } : consumer))
}

function consumerIn(consumers: readonly ConsumerRecord[], id: string): ConsumerRecord {
  const found = consumers.find((consumer) => consumer.id === id)
  if (found === undefined)
    throw new Failure(EXIT.failed, `there is no consumer '${id}'; gw consumer list shows all`)
  return found
}

/** @param text a duration of the document, or days such as `90d`. */
function momentIn(text: string): string {
  return new Date(Date.now() + lifeMs(text)).toISOString()
}

function lifeMs(text: string): number {
  const days = /^(\d{1,4})d$/.exec(text)
  try {
    const ms = days === null ? parseDuration(text) : Number(days[1]) * DAY_MS
    if (ms > 0 && ms <= MAX_LIFE_MS) return ms
  } catch {}
  throw new Failure(EXIT.usage, `'${text}' is not a time such as 24h or 90d, up to ten years`)
}

async function hashedPassword(): Promise<string> {
  try {
    const password = await readSecret('password')
    if (password === null) throw new Failure(EXIT.failed, 'interrupted')
    return await hashPassword(password)
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(EXIT.failed, messageOf(error))
  }
}

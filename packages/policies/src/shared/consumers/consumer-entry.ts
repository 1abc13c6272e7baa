import { isJsonObject, type JsonObject, parseStrictObject } from '../../engines/json/strict-json.js'
import { parseInstant } from '../instant.js'
import { hasControls } from './controls.js'

/** A key of a consumer, as the file has it. */
export interface KeyEntry {
  readonly id: string
  readonly sha256: string
  /** Ms since the epoch; infinite when the key does not expire. */
  readonly expiresAt: number
}

/** A consumer, as a line of the file has it. */
export interface ConsumerEntry {
  readonly id: string
  readonly name: string | null
  readonly groups: readonly string[]
  readonly roles: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly metadata: ReadonlyMap<string, string> | null
  readonly keys: readonly KeyEntry[]
  /** A scrypt hash; null: it has no password. */
  readonly password: string | null
}

const MEMBERS = new Set(['id', 'name', 'groups', 'roles', 'scopes', 'metadata', 'keys', 'password'])
const KEY_MEMBERS = new Set(['id', 'sha256', 'expires'])
/** Longest text of an entry, in characters. */
const MAX_TEXT = 256
/** Most items of a list of an entry. */
const MAX_ITEMS = 100

/**
 * Reads a line of a file of consumers: a JSON object without repeated names.
 * @throws Error that says what is wrong, without what stands there: it may be a secret in the wrong place.
 */
export function readConsumerEntry(line: Uint8Array): ConsumerEntry {
  const value = parseStrictObject(line)
  if (value === null) throw new Error('it is not a JSON object')
  const stranger = Object.keys(value).find((name) => !MEMBERS.has(name))
  if (stranger !== undefined) throw new Error(`it has members beside ${[...MEMBERS].join(', ')}`)
  return {
    id: nameIn(value, 'id'),
    name: value['name'] === undefined ? null : textOf(value['name'], 'name'),
    groups: namesIn(value, 'groups') ?? [],
    roles: namesIn(value, 'roles'),
    scopes: namesIn(value, 'scopes'),
    metadata: metadataIn(value),
    keys: itemsOf(value['keys'] ?? [], 'keys').map(keyOf),
    password: value['password'] === undefined ? null : textOf(value['password'], 'password', 1024),
  }
}

function keyOf(value: unknown): KeyEntry {
  if (!isJsonObject(value) || Object.keys(value).some((name) => !KEY_MEMBERS.has(name)))
    throw new Error(`keys have ${[...KEY_MEMBERS].join(', ')} and nothing else`)
  const sha256 = value['sha256']
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw new Error('sha256 of a key is not 64 hexadecimal digits in lower case')
  const expires = value['expires']
  const expiresAt = expires === undefined ? Number.POSITIVE_INFINITY : momentOf(expires)
  return { id: nameIn(value, 'id'), sha256, expiresAt }
}

function momentOf(value: unknown): number {
  try {
    return parseInstant(textOf(value, 'expires'))
  } catch {
    throw new Error('expires of a key is not a moment such as 2030-01-31 or 2030-01-31T12:00:00Z')
  }
}

function namesIn(value: JsonObject, member: string): readonly string[] | null {
  if (value[member] === undefined) return null
  return itemsOf(value[member], member).map((item) => textOf(item, member))
}

function metadataIn({ metadata }: JsonObject): ReadonlyMap<string, string> | null {
  if (metadata === undefined) return null
  if (!isJsonObject(metadata)) throw new Error('metadata is not an object')
  const entries = Object.entries(metadata)
  if (entries.length > MAX_ITEMS) throw new Error(`metadata has more than ${MAX_ITEMS} members`)
  return new Map(entries.map(([name, text]) => [name, textOf(text, 'metadata')]))
}

function itemsOf(value: unknown, member: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${member} is not a list`)
  if (value.length > MAX_ITEMS) throw new Error(`${member} has more than ${MAX_ITEMS} items`)
  return value
}

/** NFC (UAX 15), because two spellings that look the same must not be two consumers. */
function nameIn(value: JsonObject, member: string): string {
  const text = textOf(value[member], member)
  if (text !== text.normalize('NFC') || text !== text.trim())
    throw new Error(`${member} is not in normal form NFC, or has spaces around it`)
  return text
}

function textOf(value: unknown, member: string, max = MAX_TEXT): string {
  if (typeof value !== 'string' || value === '' || value.length > max)
    throw new Error(`${member} is not a text of 1 to ${max} characters`)
  if (hasControls(value)) throw new Error(`${member} has control characters`)
  return value
}

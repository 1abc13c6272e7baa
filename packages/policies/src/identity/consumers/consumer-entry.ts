import { isJsonObject, type JsonObject, parseStrictObject } from '../../shared/json/strict-json.js'
import { parseInstant } from '../../shared/time/instant.js'

/** An API key of a consumer in a consumer file. */
export interface KeyEntry {
  readonly id: string
  readonly sha256: string
  /** Expiry in milliseconds since the epoch, or infinity. */
  readonly expiresAt: number
}

/** A line of a consumer file. */
export interface ConsumerEntry {
  readonly id: string
  readonly name: string | null
  readonly groups: readonly string[]
  readonly roles: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly metadata: ReadonlyMap<string, string> | null
  readonly keys: readonly KeyEntry[]
  /** Password hash (scrypt), or null. */
  readonly password: string | null
}

const MEMBERS = new Set(['id', 'name', 'groups', 'roles', 'scopes', 'metadata', 'keys', 'password'])
const KEY_MEMBERS = new Set(['id', 'sha256', 'expires'])
/** Maximum length of a text in characters. */
const MAX_TEXT = 256
/** Maximum number of items in a list. */
const MAX_ITEMS = 100

/**
 * Parses a line of a consumer file: a JSON object without duplicate names.
 * @throws Error that says what is wrong without quoting the line, because it may contain a misplaced secret.
 */
export function readConsumerEntry(line: Uint8Array): ConsumerEntry {
  const value = parseStrictObject(line)
  if (value === null) throw new Error('the line is not a JSON object')
  const stranger = Object.keys(value).find((name) => isUnknown(name, MEMBERS))
  if (stranger !== undefined)
    throw new Error(`the line has unknown members; allowed are ${[...MEMBERS].join(', ')}`)
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

/** True for unknown members, except notes such as `x-ticket`, which are ignored. */
function isUnknown(name: string, known: ReadonlySet<string>): boolean {
  return !known.has(name) && !name.startsWith('x-')
}

function keyOf(value: unknown): KeyEntry {
  if (!isJsonObject(value) || Object.keys(value).some((name) => isUnknown(name, KEY_MEMBERS)))
    throw new Error(`invalid key; allowed members are ${[...KEY_MEMBERS].join(', ')}`)
  const sha256 = value['sha256']
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256))
    throw new Error('sha256 of a key is not 64 lower-case hexadecimal digits')
  const expires = value['expires']
  const expiresAt = expires === undefined ? Number.POSITIVE_INFINITY : momentOf(expires)
  return { id: nameIn(value, 'id'), sha256, expiresAt }
}

function momentOf(value: unknown): number {
  try {
    return parseInstant(textOf(value, 'expires'))
  } catch {
    throw new Error('expires of a key is not a date or time such as 2030-01-31 or 2030-01-31T12:00:00Z')
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

/** Returns a text in NFC (UAX 15), so that two names that look the same cannot be two consumers. */
function nameIn(value: JsonObject, member: string): string {
  const text = textOf(value[member], member)
  if (text !== text.normalize('NFC') || text !== text.trim())
    throw new Error(`${member} is not in Unicode form NFC or has surrounding spaces`)
  return text
}

function textOf(value: unknown, member: string, max = MAX_TEXT): string {
  if (typeof value !== 'string' || value === '' || value.length > max)
    throw new Error(`${member} is not a text of 1 to ${max} characters`)
  if (hasControls(value)) throw new Error(`${member} has control characters`)
  return value
}

const CONTROLS = /[\u0000-\u001f\u007f]/

/** Returns true if a text has control characters, which headers and log lines cannot contain. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text)
}

import { isExact } from '../../shared/json/exact.js'
import { isJsonObject, type JsonObject, memberOf } from '../../shared/json/strict-json.js'

/** Maximum nesting depth of claims that conditions can read. */
const MAX_DEPTH = 4
/** Maximum number of claims of a token that conditions can read. */
const MAX_CLAIMS = 256

/**
 * Returns the claim with this name or, for a name with dots, the nested claim. Returns undefined if there is
 * none.
 */
export function claimAt(claims: JsonObject, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const name of path.split('.')) {
    if (!isJsonObject(value)) return undefined
    value = memberOf(value, name)
  }
  return value
}

/**
 * Returns a claim as text. Strings, numbers and booleans are converted directly. A list of these is joined
 * with spaces, as scopes are written. Other lists and objects become JSON.
 * Returns null if there is no claim, or if a number in it has lost digits.
 */
export function claimText(value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (!isExact(value)) return null
  if (isScalar(value)) return String(value)
  if (Array.isArray(value) && value.every(isScalar)) return value.join(' ')
  return JSON.stringify(value)
}

/**
 * Returns the claims as conditions see them: by name, nested claims by path.
 * @param lists receives the items of claims that are lists of several strings, numbers or booleans.
 */
export function claimTexts(
  claims: JsonObject,
  lists: Map<string, readonly string[]> | null = null,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  addTexts({ texts, lists }, claims, { prefix: '', depth: 1 })
  return texts
}

/** Top-level names take precedence over equal paths. */
function addTexts(
  found: { readonly texts: Map<string, string>; readonly lists: Map<string, readonly string[]> | null },
  claims: JsonObject,
  at: { readonly prefix: string; readonly depth: number },
): void {
  const inner: [string, JsonObject][] = []
  for (const [name, value] of Object.entries(claims)) {
    if (found.texts.size >= MAX_CLAIMS) return
    const path = at.prefix + name
    const text = claimText(value)
    if (text !== null && !found.texts.has(path)) {
      found.texts.set(path, text)
      if (isListOfSeveral(value)) found.lists?.set(path, value.map(String))
    }
    if (isJsonObject(value) && at.depth < MAX_DEPTH) inner.push([path, value])
  }
  for (const [path, value] of inner) addTexts(found, value, { prefix: `${path}.`, depth: at.depth + 1 })
}

/** Returns the items of claims that are lists, by path, or null if there are none. */
export function claimLists(claims: JsonObject): ReadonlyMap<string, readonly string[]> | null {
  const lists = new Map<string, readonly string[]>()
  claimTexts(claims, lists)
  return lists.size === 0 ? null : lists
}

function isListOfSeveral(value: unknown): value is readonly (string | number | boolean)[] {
  return Array.isArray(value) && value.length > 1 && value.every(isScalar)
}

/** Returns the items of a claim that is a list of strings, or a string with spaces. */
export function claimItems(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.split(' ').filter((item) => item !== '')
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Returns the scopes of a token from `scope` (RFC 8693, 4.2) and `scp`, or null if it has neither. */
export function scopesOf(claims: JsonObject): readonly string[] | null {
  const given = [claimAt(claims, 'scope'), claimAt(claims, 'scp')].filter((value) => value !== undefined)
  return given.length === 0 ? null : [...new Set(given.flatMap(claimItems))]
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

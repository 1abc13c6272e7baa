import type { TSchema } from '@sinclair/typebox'
import type { Catalog, DeprecatedKey, DeprecatedKeys } from '@sluice/core'
import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import { expanded, itemSchemas, keySchemas, mayContain } from '../schema/branches.js'
import { documentSchema } from '../schema/document.js'

/** A deprecated key or value in a document, or an error about one. */
interface Deprecation extends Issue {
  /** Path in the normalized document. */
  readonly path: DocumentPath
  readonly at: 'key' | 'value'
  readonly severity: 'error' | 'warning'
  readonly rule?: string
}

/** A document in which every setting has its current form. */
export interface NormalizedDocument {
  /** The document. Parts without old forms are those of the original. */
  readonly value: unknown
  readonly deprecations: readonly Deprecation[]
  /** Returns the path in the original document. */
  writtenPath(path: DocumentPath): DocumentPath
}

/**
 * Brings a document into its current form, so that nothing else has to know old keys: renames deprecated keys
 * and values, and writes out shorthands. Keywords of the schemas of the document and its policies say how:
 * - `deprecatedKeys` of an object: its old keys and their replacement (see DeprecatedKey).
 * - `deprecatedValues`: old values and their replacement.
 * - `shorthand`: `list` for a list that may be written as its only item, or the key of an object that may be
 *   written as the string under this key.
 * Keys that start with `x-` are left out of objects with fixed keys. Where the user chooses the keys, they are data.
 * @param root the document as read, which may be invalid
 * @param resolve returns the value of a string with references, or null if it has none
 */
export function normalizeDocument(
  root: unknown,
  catalog: Catalog,
  resolve: (text: string) => string | null = (text) => text,
): NormalizedDocument {
  return new Normalizer(catalog, resolve).normalize(root)
}

/** A location in both forms of the document. */
interface Place {
  readonly path: DocumentPath
  readonly written: DocumentPath
  /** Schema that `$ref` refers to. */
  readonly schema: TSchema
}

class Normalizer {
  readonly #catalog: Catalog
  readonly #resolve: (text: string) => string | null
  readonly #deprecations: Deprecation[] = []
  #hasExtensions = false
  /** Paths in the original document, by path in the new one, for parts whose path has changed. */
  readonly #moved = new Map<string, DocumentPath>()

  constructor(catalog: Catalog, resolve: (text: string) => string | null) {
    this.#catalog = catalog
    this.#resolve = resolve
  }

  normalize(root: unknown): NormalizedDocument {
    this.#hasExtensions = hasExtensions(root)
    const value = this.#part([documentSchema], root, { path: [], written: [], schema: documentSchema })
    return { value, deprecations: this.#deprecations, writtenPath: (path) => this.#writtenPath(path) }
  }

  #writtenPath(path: DocumentPath): DocumentPath {
    if (this.#moved.size === 0) return path
    for (let length = path.length; length > 0; length--) {
      const written = this.#moved.get(formatPath(path.slice(0, length)))
      if (written !== undefined) return [...written, ...path.slice(length)]
    }
    return path
  }

  #part(schemas: readonly TSchema[], value: unknown, place: Place): unknown {
    if (!this.#hasExtensions && !schemas.some(mayChange)) return value
    const branches = schemas.flatMap((schema) => expanded(schema, place.schema))
    const current = this.#currentValue(branches, value, place)
    if (Array.isArray(current)) return this.#items(branches, current, place)
    return isMapping(current) ? this.#members(branches, current, place) : current
  }

  /** Replaces a deprecated value, and writes out a shorthand. */
  #currentValue(branches: readonly TSchema[], value: unknown, place: Place): unknown {
    if (value === null || value === undefined || (typeof value === 'object' && !Array.isArray(value)))
      return value
    const replacement = this.#replacement(keywordOf(branches, 'deprecatedValues'), value)
    if (replacement !== undefined) {
      const key = String(place.written.at(-1))
      this.#warn(
        place.path,
        `'${key}: ${String(value)}' is deprecated`,
        `write ${key}: ${flowText(replacement)}`,
      )
      return replacement
    }
    const shorthand = keywordOf<string>(branches, 'shorthand')
    if (shorthand === undefined || Array.isArray(value)) return value
    if (shorthand !== 'list' && typeof value !== 'string') return value
    const part = shorthand === 'list' ? 0 : shorthand
    this.#moved.set(formatPath([...place.path, part]), place.written)
    return shorthand === 'list' ? [value] : { [shorthand]: value }
  }

  #replacement(values: Readonly<Record<string, unknown>> | undefined, value: unknown): unknown {
    if (values === undefined || typeof value === 'object') return undefined
    const text = String(typeof value === 'string' ? (this.#resolve(value) ?? '') : value)
    return Object.hasOwn(values, text) ? values[text] : undefined
  }

  #items(branches: readonly TSchema[], items: readonly unknown[], place: Place): unknown {
    const current = items.map((item, i) => {
      const below = branches.flatMap((schema) => itemSchemas(schema, i))
      return this.#part(below, item, this.#below(place, i))
    })
    return current.some((item, i) => item !== items[i]) ? current : items
  }

  #members(branches: readonly TSchema[], mapping: Record<string, unknown>, place: Place): unknown {
    const own = this.#hasExtensions ? withoutExtensions(branches, mapping) : mapping
    // At the top level, such keys often hold anchors.
    if (own !== mapping && place.path.length > 0)
      for (const key of Object.keys(mapping).filter((one) => !Object.hasOwn(own, one))) {
        const known = key.slice(2)
        const isKnown = branches.some((schema) => keySchemas(schema, known).length > 0)
        const text = { message: `'${key}' has no effect`, remedy: `did you mean '${known}'?` }
        const at = { path: [...place.path, key], at: 'key', severity: 'warning' } as const
        if (isKnown) this.#deprecations.push({ ...at, rule: 'likely-typo', ...text })
      }
    const renamed = this.#renamed(branches, own, place)
    let current: Record<string, unknown> = renamed
    for (const [key, item] of Object.entries(renamed)) {
      const value = this.#member(branches, renamed, key, this.#below(place, key))
      if (value === item) continue
      if (current === renamed) current = { ...renamed }
      current[key] = value
    }
    return current
  }

  #member(
    branches: readonly TSchema[],
    mapping: Record<string, unknown>,
    key: string,
    place: Place,
  ): unknown {
    const below = branches.flatMap((schema) => keySchemas(schema, key))
    if (!below.some((schema) => schema['ofPolicy'] === true)) return this.#part(below, mapping[key], place)
    const use = typeof mapping['use'] === 'string' ? this.#resolve(mapping['use']) : null
    const schema = this.#catalog.get(use ?? '')?.schema
    return schema === undefined ? mapping[key] : this.#part([schema], mapping[key], { ...place, schema })
  }

  /** Returns the object with its deprecated keys renamed. */
  #renamed(
    branches: readonly TSchema[],
    mapping: Record<string, unknown>,
    place: Place,
  ): Record<string, unknown> {
    const old = branches.flatMap((schema) => Object.entries(deprecatedKeysOf(schema)))
    const found = old.filter(([key]) => Object.hasOwn(mapping, key))
    if (found.length === 0) return mapping
    const rules = new Map(found)
    let renamed: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(mapping)) {
      const rule = rules.get(key)
      // An old list that came first has taken the items of this key.
      const isJoined = Array.isArray(renamed[key])
      if (rule === undefined && !isJoined)
        renamed[key] = isMapping(renamed[key]) && isMapping(value) ? { ...renamed[key], ...value } : value
      else if (rule !== undefined) renamed = this.#withRenamed({ renamed, mapping, key, rule }, place)
    }
    return renamed
  }

  #withRenamed(
    { renamed, mapping, key, rule }: RenamedKey,
    { path, written }: Place,
  ): Record<string, unknown> {
    const { use, values, joins } = typeof rule === 'string' ? { use: rule } : rule
    const parts = use.split('.')
    const at = [...path, ...parts]
    if (isSet(mapping, parts)) {
      if (joins) return this.#joined({ renamed, mapping, key, rule }, { use, path, written })
      const message = `'${key}' is the old name of '${use}', and both are set`
      this.#deprecations.push({
        path: [...path, key],
        at: 'key',
        severity: 'error',
        message,
        remedy: `remove ${key}`,
      })
      return renamed
    }
    this.#moved.set(formatPath(at), [...written, key])
    const value = this.#replacement(values, mapping[key]) ?? mapping[key]
    const text = value === mapping[key] ? `use '${use}'` : `write ${use}: ${flowText(value)}`
    this.#warn(at, `'${key}' is deprecated`, text)
    return withMember(renamed, parts, value)
  }

  /** Adds the items of an old list to those of its replacement, whichever comes first in the object. */
  #joined(
    { renamed, mapping, key }: RenamedKey,
    { use, path, written }: { readonly use: string } & Pick<Place, 'path' | 'written'>,
  ): Record<string, unknown> {
    const [items, own] = [itemsOf(mapping[key]), itemsOf(mapping[use])]
    if (!Array.isArray(mapping[use])) this.#moved.set(formatPath([...path, use, 0]), [...written, use])
    for (const i of items.keys())
      this.#moved.set(formatPath([...path, use, own.length + i]), [...written, key, i])
    this.#warn([...path, use, own.length], `'${key}' is deprecated`, `add its items to '${use}'`)
    return { ...renamed, [use]: [...own, ...items] }
  }

  #below({ path, written, schema }: Place, part: string | number): Place {
    const below = [...path, part]
    const moved = this.#moved.size === 0 ? undefined : this.#moved.get(formatPath(below))
    return { path: below, written: moved ?? [...written, part], schema }
  }

  #warn(path: DocumentPath, message: string, remedy: string): void {
    this.#deprecations.push({ path, at: 'key', severity: 'warning', rule: 'deprecated', message, remedy })
  }
}

/** True if any key in a value starts with `x-`. */
function hasExtensions(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasExtensions)
  if (!isMapping(value)) return false
  return Object.entries(value).some(([key, part]) => isExtension(key) || hasExtensions(part))
}

function isExtension(key: string): boolean {
  return key.startsWith('x-')
}

/** Returns an object without extension keys, or unchanged if a branch of its schema allows any key. */
function withoutExtensions(
  branches: readonly TSchema[],
  mapping: Record<string, unknown>,
): Record<string, unknown> {
  const isFixed = branches.some((schema) => schema['additionalProperties'] === false)
  const isOpen = branches.some(
    (schema) => schema['type'] === 'object' && schema['additionalProperties'] !== false,
  )
  if (!isFixed || isOpen || !Object.keys(mapping).some(isExtension)) return mapping
  const isKept = (key: string) =>
    !isExtension(key) || branches.some((schema) => keySchemas(schema, key).length > 0)
  return Object.fromEntries(Object.entries(mapping).filter(([key]) => isKept(key)))
}

interface RenamedKey {
  /** Members before it, with current keys. */
  readonly renamed: Record<string, unknown>
  readonly mapping: Readonly<Record<string, unknown>>
  readonly key: string
  readonly rule: DeprecatedKey
}

/** True if a value of a schema may have an old form. */
function mayChange(schema: TSchema): boolean {
  return ['"deprecatedKeys":', '"deprecatedValues":', '"shorthand":', '"ofPolicy":true'].some((json) =>
    mayContain(schema, json),
  )
}

function keywordOf<T = Readonly<Record<string, unknown>>>(
  branches: readonly TSchema[],
  keyword: string,
): T | undefined {
  return branches.find((schema) => schema[keyword] !== undefined)?.[keyword]
}

function deprecatedKeysOf(schema: TSchema): DeprecatedKeys {
  return schema['deprecatedKeys'] ?? {}
}

/** True if an object has a value at a path. */
function isSet(mapping: Readonly<Record<string, unknown>>, [key = '', ...rest]: readonly string[]): boolean {
  if (!Object.hasOwn(mapping, key)) return false
  const value = mapping[key]
  return rest.length === 0 || !isMapping(value) || isSet(value, rest)
}

/** Returns a copy of an object with a value at a path. */
function withMember(
  mapping: Readonly<Record<string, unknown>>,
  [key = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (rest.length === 0) return { ...mapping, [key]: value }
  const inner = isMapping(mapping[key]) ? mapping[key] : {}
  return { ...mapping, [key]: withMember(inner, rest, value) }
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

/** Formats a value as it is written in a document. */
function flowText(value: unknown): string {
  if (!isMapping(value)) return String(value)
  const members = Object.entries(value).map(([key, item]) => `${key}: ${flowText(item)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

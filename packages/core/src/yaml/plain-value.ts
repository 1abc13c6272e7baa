import type { Node, Pair, Scalar, YAMLMap } from 'yaml'
import type { AliasTargets } from './alias.js'
import { isAlias, isMap, isScalar, isSeq } from './library.js'
import type { SourceIssue } from './source-issue.js'

/**
 * Maximum number of values that aliases may add to a document: a fixed number, plus some for each value in
 * the text. A few lines with aliases could otherwise expand to billions of values.
 */
const MAX_REPEATED = 20_000
const MAX_REPEATED_PER_VALUE = 10
/** Maximum nesting depth of aliases. */
const MAX_ALIAS_DEPTH = 20

/** Members by key of the mappings that have a merge key (`<<`), with those that it adds. */
export type MergedMembers = ReadonlyMap<YAMLMap, Members>
type Members = ReadonlyMap<string, Pair>

interface PlainValue {
  readonly value: unknown
  readonly merged: MergedMembers
  readonly issues: readonly SourceIssue[]
}

/**
 * Converts the syntax tree to plain data: objects with string keys, lists, strings, numbers, booleans, null. Merge
 * keys (https://yaml.org/type/merge.html) are resolved: the keys of the mapping itself win, then the first source.
 */
export function plainValue(root: Node | null, aliases: AliasTargets): PlainValue {
  const reader = new Reader(aliases)
  return { value: reader.read(root), merged: reader.merged, issues: reader.issues }
}

class Reader {
  readonly issues: SourceIssue[] = []
  readonly merged = new Map<YAMLMap, Members>()
  readonly #aliases: AliasTargets
  /** Mappings whose keys are checked. */
  readonly #checked = new Set<YAMLMap>()
  #aliasDepth = 0
  #written = 0
  #repeated = 0
  #isExhausted = false

  constructor(aliases: AliasTargets) {
    this.#aliases = aliases
  }

  read(node: unknown): unknown {
    if (this.#aliasDepth > 0) this.#repeated++
    else this.#written++
    if (isMap(node)) return this.#mapping(node)
    if (isSeq(node)) return node.items.map((item) => this.read(item))
    if (isAlias(node)) return this.#alias(node)
    return isScalar(node) ? node.value : null
  }

  #alias(alias: Node): unknown {
    const target = this.#aliases.get(alias)
    return target === undefined ? null : this.#repeat(alias, target, () => this.read(target))
  }

  /** Returns the result of `read`, which reads the target of an alias. Null if that would take too long. */
  #repeat<T>(alias: Node, target: Node, read: () => T): T | null {
    if (this.#isExhausted) return null
    if (isAround(alias, target)) return this.#refuse(alias, 'this alias refers to a value that contains it')
    const most = MAX_REPEATED + MAX_REPEATED_PER_VALUE * this.#written
    if (this.#repeated > most || this.#aliasDepth === MAX_ALIAS_DEPTH) {
      this.#isExhausted = true
      return this.#refuse(alias, `aliases expand to more than ${most} values or ${MAX_ALIAS_DEPTH} levels`)
    }
    this.#aliasDepth++
    const value = read()
    this.#aliasDepth--
    return value
  }

  #refuse(alias: Node, message: string): null {
    this.#addIssue(alias, message, 'write the value without an alias')
    return null
  }

  #mapping(map: YAMLMap): Record<string, unknown> {
    const mapping: Record<string, unknown> = {}
    let merge: Node | null = null
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) {
        if (merge !== null) this.#addIssue(key, "duplicate key '<<'", 'write one list: <<: [*a, *b]')
        merge ??= key
        continue
      }
      const name = this.#key(key)
      if (name === null) continue
      if (Object.hasOwn(mapping, name)) {
        this.#addIssue(key, `duplicate key '${name}'`, 'keep one of them')
      } else {
        mapping[name] = this.read(value)
      }
    }
    this.#checked.add(map)
    return merge === null ? mapping : this.#withMerged(mapping, map, merge)
  }

  #withMerged(mapping: Record<string, unknown>, map: YAMLMap, merge: Node): Record<string, unknown> {
    for (const [name, { value }] of this.#members(map)) {
      if (Object.hasOwn(mapping, name)) continue
      mapping[name] = value === null ? null : this.#repeat(merge, value as Node, () => this.read(value))
    }
    return mapping
  }

  /** Returns the members of a mapping by key: its own, then those of its merge key. */
  #members(map: YAMLMap): Members {
    const known = this.merged.get(map)
    if (known !== undefined) return known
    const members = new Map<string, Pair>()
    for (const pair of map.items) {
      const name = nameOf(pair.key, this.#aliases)
      if (name !== null && name !== '__proto__' && !isMergeKey(pair.key) && !members.has(name))
        members.set(name, pair)
    }
    const merge = map.items.find(({ key }) => isMergeKey(key))
    if (merge === undefined) return members
    this.merged.set(map, members)
    const list = isAlias(merge.value) ? this.#aliases.get(merge.value) : merge.value
    for (const item of isSeq(list) ? list.items : [merge.value]) {
      for (const [name, pair] of this.#source(item, merge.key as Node)) {
        this.#repeated++
        if (!members.has(name)) members.set(name, pair)
      }
    }
    return members
  }

  /** Returns the members of an object that a merge key names. */
  #source(item: unknown, merge: Node): Members {
    const source = isAlias(item) ? this.#aliases.get(item) : item
    const at = isAlias(item) ? item : merge
    if (isMap(source) && !isAlias(item)) this.#checkKeys(source)
    if (isMap(source)) return this.#repeat(at, source, () => this.#members(source)) ?? new Map()
    // An alias without an anchor is already reported.
    const remedy = 'write <<: *name with the anchor &name of an object, or quote the key if it is a name'
    if (source !== undefined) this.#addIssue(at, "'<<' can only merge objects", remedy)
    return new Map()
  }

  /** Reports keys of an object in place, which is not read as a value. Anchored objects are. */
  #checkKeys(map: YAMLMap): void {
    if (this.#checked.has(map)) return
    this.#checked.add(map)
    const names = new Set<string>()
    for (const { key } of map.items) {
      const name = isMergeKey(key) ? '<<' : this.#key(key)
      if (name !== null && names.has(name)) this.#addIssue(key, `duplicate key '${name}'`, 'keep one of them')
      if (name !== null) names.add(name)
    }
  }

  #key(key: unknown): string | null {
    const name = nameOf(key, this.#aliases)
    if (isMap(key)) this.#addIssue(key, 'an object cannot be a key', 'quote a text that starts with {')
    else if (name === null) this.#addIssue(key, 'a key must be a string', 'write one word before the colon')
    if (name !== '__proto__') return name
    this.#addIssue(key, "the key '__proto__' is not allowed", 'choose another name')
    return null
  }

  #addIssue(node: unknown, message: string, remedy: string): void {
    this.issues.push({ offset: offsetOf(node), message, remedy })
  }
}

/** Returns the name of a key, or null if it is not a word. */
export function nameOf(key: unknown, aliases: AliasTargets): string | null {
  const node = isAlias(key) ? aliases.get(key) : key
  return isScalar(node) && node.value !== null ? String(node.value) : null
}

/** True for `<<` without quotes. */
export function isMergeKey(key: unknown): key is Scalar {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
}

/** True if the target contains the alias. */
function isAround(alias: Node, target: Node): boolean {
  const [start, end] = [target.range?.[0] ?? 0, target.range?.[2] ?? 0]
  const offset = offsetOf(alias)
  return offset >= start && offset < end
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0
}

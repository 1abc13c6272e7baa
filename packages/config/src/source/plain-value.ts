import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import type { AliasTargets } from './alias.js'
import type { SourceIssue } from './source-issue.js'

/**
 * Maximum number of values that aliases may add to a document: a fixed number, plus some for each value in
 * the text. A few lines with aliases could otherwise expand to billions of values.
 */
const MAX_REPEATED = 20_000
const MAX_REPEATED_PER_VALUE = 10
/** Maximum nesting depth of aliases. */
const MAX_ALIAS_DEPTH = 20

/**
 * Converts the syntax tree to plain data: objects with string keys, lists, strings, numbers, booleans, null.
 */
export function plainValue(
  root: Node | null,
  aliases: AliasTargets,
): { value: unknown; issues: readonly SourceIssue[] } {
  const reader = new Reader(aliases)
  return { value: reader.read(root), issues: reader.issues }
}

class Reader {
  readonly issues: SourceIssue[] = []
  readonly #aliases: AliasTargets
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
    if (target === undefined || this.#isExhausted) return null
    if (isAround(alias, target)) return this.#refuse(alias, 'this alias refers to a value that contains it')
    const most = MAX_REPEATED + MAX_REPEATED_PER_VALUE * this.#written
    if (this.#repeated > most || this.#aliasDepth === MAX_ALIAS_DEPTH) {
      this.#isExhausted = true
      return this.#refuse(alias, `aliases expand to more than ${most} values or ${MAX_ALIAS_DEPTH} levels`)
    }
    this.#aliasDepth++
    const value = this.read(target)
    this.#aliasDepth--
    return value
  }

  #refuse(alias: Node, message: string): null {
    this.#addIssue(alias, message, 'write the value without an alias')
    return null
  }

  #mapping(map: YAMLMap): Record<string, unknown> {
    const mapping: Record<string, unknown> = {}
    for (const { key, value } of map.items) {
      const name = this.#key(key)
      if (name === null) continue
      if (Object.hasOwn(mapping, name)) {
        this.#addIssue(key, `duplicate key '${name}'`, 'keep one of them')
      } else {
        mapping[name] = this.read(value)
      }
    }
    return mapping
  }

  #key(key: unknown): string | null {
    const node = isAlias(key) ? this.#aliases.get(key) : key
    if (!isScalar(node) || node.value === null) {
      this.#addIssue(key, 'a key must be a string', 'write one word before the colon')
      return null
    }
    const name = String(node.value)
    if (name !== '__proto__') return name
    this.#addIssue(key, "the key '__proto__' is not allowed", 'choose another name')
    return null
  }

  #addIssue(node: unknown, message: string, remedy: string): void {
    this.issues.push({ offset: offsetOf(node), message, remedy })
  }
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

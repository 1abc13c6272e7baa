import { isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import type { AliasTargets } from './alias.js'
import type { SourceFlaw } from './source-flaw.js'

/**
 * Values that aliases may add to a document, a few lines of which can otherwise stand for billions: so many, and as many
 * again for each value that is written.
 */
const MAX_REPEATED = 20_000
const MAX_REPEATED_PER_VALUE = 10
/** Aliases within what an alias stands for, and so on. */
const MAX_ALIAS_DEPTH = 20

/** The tree of nodes as plain data: mappings with text keys, lists, texts, numbers, booleans, null. */
export function plainValue(
  root: Node | null,
  aliases: AliasTargets,
): { value: unknown; flaws: readonly SourceFlaw[] } {
  const reader = new Reader(aliases)
  return { value: reader.read(root), flaws: reader.flaws }
}

class Reader {
  readonly flaws: SourceFlaw[] = []
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
    if (isAround(alias, target)) return this.#refuse(alias, 'this alias repeats a value that holds it')
    const most = MAX_REPEATED + MAX_REPEATED_PER_VALUE * this.#written
    if (this.#repeated > most || this.#aliasDepth === MAX_ALIAS_DEPTH) {
      this.#isExhausted = true
      return this.#refuse(alias, `aliases repeat more than ${most} values or ${MAX_ALIAS_DEPTH} levels`)
    }
    this.#aliasDepth++
    const value = this.read(target)
    this.#aliasDepth--
    return value
  }

  #refuse(alias: Node, message: string): null {
    this.#flaw(alias, message, 'write the value out')
    return null
  }

  #mapping(map: YAMLMap): Record<string, unknown> {
    const mapping: Record<string, unknown> = {}
    for (const { key, value } of map.items) {
      const name = this.#key(key)
      if (name === null) continue
      if (Object.hasOwn(mapping, name)) {
        this.#flaw(key, `the key '${name}' stands twice in this mapping`, 'keep one of them')
      } else {
        mapping[name] = this.read(value)
      }
    }
    return mapping
  }

  #key(key: unknown): string | null {
    const node = isAlias(key) ? this.#aliases.get(key) : key
    if (!isScalar(node) || node.value === null) {
      this.#flaw(key, 'a key must be text', 'write one word before the colon')
      return null
    }
    const name = String(node.value)
    if (name !== '__proto__') return name
    this.#flaw(key, "the key '__proto__' is not allowed", 'choose another name')
    return null
  }

  #flaw(node: unknown, message: string, remedy: string): void {
    this.flaws.push({ offset: offsetOf(node), message, remedy })
  }
}

/** Whether the target is a collection whose text holds the alias. */
function isAround(alias: Node, target: Node): boolean {
  const [start, end] = [target.range?.[0] ?? 0, target.range?.[2] ?? 0]
  const offset = offsetOf(alias)
  return offset >= start && offset < end
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0
}

import type { LineCounter, Node, Pair, YAMLMap } from 'yaml'
import type { AliasTargets } from './alias.js'
import { isAlias, isMap, isScalar, isSeq } from './library.js'
import { type MergedMembers, nameOf } from './plain-value.js'

/** Keys and list positions from the root. */
export type YamlPath = readonly (string | number)[]

/** A position in the text. */
export interface Position {
  readonly offset: number
  /** Line, starting at 1. */
  readonly line: number
  /** Column, starting at 1. */
  readonly column: number
  /** Start of the content of a string value if it is written without escapes, otherwise null. */
  readonly literalOffset: number | null
}

/** Finds the positions of paths. Mappings are indexed on first use, so that repeated lookups stay cheap. */
export class Positions {
  readonly #root: Node | null
  readonly #aliases: AliasTargets
  readonly #merged: MergedMembers
  readonly #source: { readonly lines: LineCounter; readonly text: string }
  readonly #indexes = new Map<YAMLMap, Map<string, Pair>>()

  constructor(
    root: Node | null,
    { aliases, merged }: { readonly aliases: AliasTargets; readonly merged: MergedMembers },
    source: { readonly lines: LineCounter; readonly text: string },
  ) {
    this.#root = root
    this.#aliases = aliases
    this.#merged = merged
    this.#source = source
  }

  of(path: YamlPath, at: 'key' | 'value'): Position {
    let key: Node | null = null
    let value: Node | null = this.#root
    for (const part of path) {
      const next = this.#step(value, part)
      if (next === null) return this.#at(key ?? value, value)
      key = next.key
      value = next.value
    }
    const isEmpty = value === null || (isScalar(value) && value.source === '')
    return this.#at(at === 'key' || isEmpty ? (key ?? value) : value, value)
  }

  ofOffset(offset: number): Position {
    const { line, col } = this.#source.lines.linePos(offset)
    return { offset, line: Math.max(line, 1), column: Math.max(col, 1), literalOffset: null }
  }

  #at(node: Node | null, value: Node | null): Position {
    return {
      ...this.ofOffset(node?.range?.[0] ?? 0),
      literalOffset: node === value ? this.#literal(node) : null,
    }
  }

  #literal(node: Node | null): number | null {
    if (!isScalar(node) || typeof node.value !== 'string') return null
    const [start, end] = [node.range?.[0] ?? 0, node.range?.[1] ?? 0]
    const written = this.#source.text.slice(start, end)
    if (written === node.value) return start
    return written.slice(1, -1) === node.value ? start + 1 : null
  }

  #step(from: Node | null, part: string | number): { key: Node | null; value: Node | null } | null {
    const node = from !== null && isAlias(from) ? (this.#aliases.get(from) ?? null) : from
    if (isSeq(node)) {
      const item = typeof part === 'number' ? node.items[part] : undefined
      return item === undefined ? null : { key: null, value: item as Node }
    }
    const pair = isMap(node) ? this.#index(node).get(String(part)) : undefined
    return pair === undefined ? null : { key: pair.key as Node, value: pair.value as Node | null }
  }

  #index(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#merged.get(map) ?? this.#indexes.get(map)
    if (known !== undefined) return known
    const index = new Map<string, Pair>()
    for (const pair of map.items) {
      const name = nameOf(pair.key, this.#aliases) ?? ''
      if (!index.has(name)) index.set(name, pair)
    }
    this.#indexes.set(map, index)
    return index
  }
}

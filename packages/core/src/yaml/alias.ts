import type { Alias, Node } from 'yaml'
import { isAlias, isCollection, isPair } from './library.js'
import type { SourceIssue } from './source-issue.js'

/** Target node of each alias. */
export type AliasTargets = ReadonlyMap<Node, Node>

/** Links every `*name` to the last `&name` before it (YAML 1.2 section 7.1). */
export function linkAliases(root: Node | null): { targets: AliasTargets; issues: readonly SourceIssue[] } {
  const linker = new Linker()
  linker.visit(root)
  return { targets: linker.targets, issues: linker.issues }
}

class Linker {
  readonly targets = new Map<Node, Node>()
  readonly issues: SourceIssue[] = []
  readonly #anchors = new Map<string, Node>()

  visit(node: unknown): void {
    if (isPair(node)) {
      this.visit(node.key)
      this.visit(node.value)
    } else if (isAlias(node)) {
      this.#link(node)
    } else if (isCollection(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node)
      for (const item of node.items) this.visit(item)
    } else if (isAnchored(node)) {
      this.#anchors.set(node.anchor, node)
    }
  }

  #link(alias: Alias): void {
    const target = this.#anchors.get(alias.source)
    if (target !== undefined) {
      this.targets.set(alias, target)
      return
    }
    this.issues.push({
      offset: alias.range?.[0] ?? 0,
      message: `the alias '*${alias.source}' has no anchor before it`,
      remedy: `if it is a string, quote it: '*${alias.source}'; otherwise write &${alias.source} before the value to repeat`,
    })
  }
}

function isAnchored(node: unknown): node is Node & { anchor: string } {
  return typeof node === 'object' && node !== null && 'anchor' in node && typeof node.anchor === 'string'
}

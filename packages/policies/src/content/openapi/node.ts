/** An object in a description. */
export type Node = Readonly<Record<string, unknown>>

/** An object in a description and its JSON pointer. */
export interface Entry {
  readonly node: Node
  readonly pointer: string
}

/** Maximum length of a reference chain. */
const MAX_HOPS = 16

/** Returns the value as an object, or an empty object for any other value. */
export function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : {}
}

/** Returns the object under a name, with references resolved, or null if there is none. */
export function childEntry(root: Node, { node, pointer }: Entry, name: string): Entry | null {
  if (!Object.hasOwn(node, name)) return null
  return resolveReferences(root, { node: asNode(node[name]), pointer: `${pointer}/${escapePointer(name)}` })
}

/** Returns every object under an object, with references resolved. */
export function childEntries(root: Node, entry: Entry | null): (readonly [string, Entry])[] {
  if (entry === null) return []
  return Object.keys(entry.node).map((name) => [name, childEntry(root, entry, name)!] as const)
}

/** Resolves references. @throws Error for an unresolvable or circular reference. */
export function resolveReferences(root: Node, entry: Entry): Entry {
  let at = entry
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const reference = at.node['$ref']
    if (typeof reference !== 'string') return at
    at = { node: asNode(valueAt(root, reference)), pointer: reference.slice(1) }
  }
  throw new Error(`the references at #${entry.pointer} are circular`)
}

/** Returns the value that a reference points to. @throws Error for an unresolvable reference. */
export function valueAt(root: Node, reference: string): unknown {
  let value: unknown = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    const holder = value as Node
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(holder, name)
    if (!isThere) throw new Error(`cannot resolve the reference ${reference}`)
    value = holder[name]
  }
  return value
}

/** Escapes a name for a JSON pointer in a URL fragment. */
export function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

/** An object of a description. */
export type Node = Readonly<Record<string, unknown>>

/** An object of a description and where it stands, as a JSON pointer. */
export interface Entry {
  readonly node: Node
  readonly pointer: string
}

/** Most references in a row. */
const MAX_HOPS = 16

/** A value as an object; an empty one for anything else. */
export function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : {}
}

/** The object under a name of another one; references are followed. Null: there is none. */
export function under(root: Node, { node, pointer }: Entry, name: string): Entry | null {
  if (!Object.hasOwn(node, name)) return null
  return resolved(root, { node: asNode(node[name]), pointer: `${pointer}/${escaped(name)}` })
}

/** Every object under an object; references are followed. */
export function eachUnder(root: Node, entry: Entry | null): (readonly [string, Entry])[] {
  if (entry === null) return []
  return Object.keys(entry.node).map((name) => [name, under(root, entry, name)!] as const)
}

/** Follows references. @throws Error when one leads nowhere, or in a circle. */
export function resolved(root: Node, entry: Entry): Entry {
  let at = entry
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const reference = at.node['$ref']
    if (typeof reference !== 'string') return at
    at = { node: asNode(valueAt(root, reference)), pointer: reference.slice(1) }
  }
  throw new Error(`the references at #${entry.pointer} lead in a circle`)
}

/** @throws Error when a reference within the document leads nowhere. */
export function valueAt(root: Node, reference: string): unknown {
  let value: unknown = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    const holder = value as Node
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(holder, name)
    if (!isThere) throw new Error(`the reference ${reference} leads nowhere`)
    value = holder[name]
  }
  return value
}

/** A name as a part of a JSON pointer in a fragment. */
export function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

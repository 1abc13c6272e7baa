import { isSchemaNode, type SchemaNode, walkSchema } from './schema-walk.js'

/** A schema document and its address, or null if only its own `$id` identifies it. */
export interface SchemaDocument {
  readonly schema: unknown
  readonly address: string | null
}

/** Resolves references within a set of loaded documents. */
export class SchemaReferences {
  /** Schema objects by absolute address including the anchor. */
  readonly #targets = new Map<string, SchemaNode>()
  readonly #bases = new Map<SchemaNode, string>()

  /** @param idKeyword `$id`, or `id` in draft 04. */
  constructor(documents: readonly SchemaDocument[], idKeyword: '$id' | 'id') {
    for (const [i, { schema, address }] of documents.entries()) {
      const start = address ?? `schema:/${i}`
      if (isSchemaNode(schema)) this.#targets.set(start, schema)
      walkSchema(schema, (node, parent) => {
        const outer = parent === null ? start : this.#bases.get(parent)!
        this.#bases.set(node, this.#enter(node, outer, node[idKeyword]))
      })
    }
  }

  /** Objects that can be a schema. */
  get nodes(): Iterable<SchemaNode> {
    return this.#bases.keys()
  }

  /** Returns the target of a node's reference, or null if there is no reference or the target is not loaded. */
  target(node: SchemaNode): SchemaNode | null {
    const reference = node['$ref']
    if (typeof reference !== 'string') return null
    const address = resolveAddress(reference, this.#bases.get(node)!)
    const known = this.#targets.get(address.replace(/#$/, ''))
    if (known !== undefined) return known
    const hash = address.indexOf('#')
    const resource = hash < 0 ? undefined : this.#targets.get(address.slice(0, hash))
    return resource === undefined ? null : follow(resource, address.slice(hash + 1))
  }

  /** Registers the addresses of a node. @returns the base address of relative references in it. */
  #enter(node: SchemaNode, outer: string, id: unknown): string {
    let base = outer
    if (typeof id === 'string') {
      const address = resolveAddress(id, outer)
      this.#targets.set(address.replace(/#$/, ''), node)
      if (!id.startsWith('#')) base = address.replace(/#.*$/s, '')
    }
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = node[keyword]
      if (typeof anchor === 'string') this.#targets.set(`${base}#${anchor}`, node)
    }
    return base
  }
}

function resolveAddress(reference: string, base: string): string {
  if (reference.startsWith('#')) return base + reference
  return URL.canParse(reference, base) ? new URL(reference, base).href : reference
}

/** Returns the target of a JSON pointer (RFC 6901) in a fragment. */
function follow(root: SchemaNode, fragment: string): SchemaNode | null {
  if (!fragment.startsWith('/')) return null
  let value: unknown = root
  for (const part of fragment.split('/').slice(1)) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null
    value = (value as SchemaNode)[name]
  }
  return isSchemaNode(value) ? value : null
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

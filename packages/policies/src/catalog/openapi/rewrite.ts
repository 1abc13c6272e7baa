import { setMember } from '../../engines/json-schema/schema-walk.js'
import { asNode, type Node, valueAt } from './node.js'

/** Which messages the schemas are for: each has members that the other one does not need. */
export type Direction = 'request' | 'response'

/** Members whose own members are names that the author chose. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
  'schemas',
  'parameters',
  'responses',
  'headers',
  'requestBodies',
  'pathItems',
  'paths',
  'content',
  'encoding',
])

/** What says nothing about validity; `$id` and `$schema` inside would change what references mean. */
const DROPPED: ReadonlySet<string> = new Set([
  'example',
  'examples',
  'discriminator',
  'xml',
  'externalDocs',
  'links',
  'callbacks',
  'security',
  'securitySchemes',
  'servers',
  'tags',
  'info',
  'webhooks',
])

/** Members that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'required'])

/** A description whose schemas are plain JSON Schema 2020-12 for one direction. */
export function rewritten(root: Node, direction: Direction): Node {
  const isOld = String(root['openapi']).startsWith('3.0')
  return new Rewriting(root, { direction, isOld }).object(root)
}

/** One pass over a description. */
class Rewriting {
  readonly #root: Node
  readonly #isOld: boolean
  /** The mark of members that the direction does not need. */
  readonly #mark: 'readOnly' | 'writeOnly'

  constructor(root: Node, { direction, isOld }: { readonly direction: Direction; readonly isOld: boolean }) {
    this.#root = root
    this.#isOld = isOld
    this.#mark = direction === 'request' ? 'readOnly' : 'writeOnly'
  }

  object(node: Node): Node {
    const reference = node['$ref']
    // OpenAPI 3.0: what stands beside a reference is ignored.
    if (typeof reference === 'string' && this.#isOld) return { $ref: checkedReference(reference) }
    if (typeof reference === 'string') checkedReference(reference)
    const out: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(node)) {
      if (DROPPED.has(name) || name.startsWith('x-')) continue
      if (VALUES.has(name)) setMember(out, name, value)
      else if (MAPS.has(name)) setMember(out, name, this.#map(value))
      else setMember(out, name, this.#value(value))
    }
    this.#relaxRequired(node, out)
    if (this.#isOld) modernise(out)
    return out
  }

  #value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#value(item))
    return typeof value === 'object' && value !== null ? this.object(asNode(value)) : value
  }

  #map(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return this.#value(value)
    const out: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) setMember(out, name, this.#value(member))
    return out
  }

  #relaxRequired(node: Node, out: Record<string, unknown>): void {
    const required = node['required']
    if (!Array.isArray(required)) return
    const properties = asNode(node['properties'])
    const kept = required.filter((name) => !this.#isMarked(properties[String(name)]))
    if (kept.length > 0) out['required'] = kept
    else delete out['required']
  }

  #isMarked(property: unknown): boolean {
    const node = asNode(property)
    if (node[this.#mark] === true) return true
    const reference = node['$ref']
    return (
      typeof reference === 'string' &&
      asNode(valueAt(this.#root, checkedReference(reference)))[this.#mark] === true
    )
  }
}

function checkedReference(reference: string): string {
  if (reference === '#' || reference.startsWith('#/')) return reference
  throw new Error(
    `it refers to '${reference}'; only references within one file are followed, so bundle it first`,
  )
}

/** What OpenAPI 3.0 has of its own, in the words of later drafts. */
function modernise(schema: Record<string, unknown>): void {
  const { type, nullable } = schema
  if (nullable === true && typeof type === 'string') schema['type'] = [type, 'null']
  delete schema['nullable']
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (schema[exclusive] === true) {
      schema[exclusive] = schema[bound]
      delete schema[bound]
    } else if (schema[exclusive] === false) delete schema[exclusive]
  }
}

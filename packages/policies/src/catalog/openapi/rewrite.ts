import { compileLinearRegex } from '../../engines/json/linear-regex.js'
import { LINK_KEYWORD } from '../../engines/json-schema/exact-keywords.js'
import { setMember } from '../../engines/json-schema/schema-walk.js'
import { asNode, escaped, type Node, valueAt } from './node.js'

/** The messages that a schema is for: each has members that the other one does not need. */
export type Direction = 'request' | 'response'

/** A schema of the description and its use. */
export interface SchemaUse {
  readonly pointer: string
  readonly direction: Direction
  /** Members that it must not require, because another schema of the same value marks them for the other direction. */
  readonly optional: readonly string[]
}

/** Keywords that assert something by a value. */
const ASSERTIONS = words(
  'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems ' +
    'minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired nullable',
)
/** Keywords with schemas for parts of the value: one, a list of them, and one for each name. */
const PARTS = words(
  'additionalProperties items contains propertyNames unevaluatedItems unevaluatedProperties',
)
const PART_LISTS = words('prefixItems')
const PART_MAPS = words('properties patternProperties')
/** The same for the value itself. */
const SAME = words('not if then else')
const SAME_LISTS = words('allOf anyOf oneOf')
const SAME_MAPS = words('dependentSchemas')
/** Keywords whose schemas decide about others: fewer required members would make these stricter. */
const CONDITIONS = words('not if')

const CIRCLE =
  "its references lead in a circle without going into the document; let one stand under 'properties' or 'items'"

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** Options for `SchemaRewriter`. */
export interface RewriterOptions {
  /** Patterns that cannot be matched are left out and noted, instead of refusing the description. */
  readonly skipsUnsupported: boolean
  /** Returns the key of the link that stands for a reference. */
  readonly linkTo: (use: SchemaUse) => string
}

/**
 * Writes schemas of a description as JSON Schema 2020-12 for one direction, with links in the place of references. It
 * walks along keywords, so that data such as examples is never taken for a schema.
 */
export class SchemaRewriter {
  /** Places with patterns that were left out. */
  readonly skipped = new Set<string>()
  readonly #root: Node
  readonly #isOld: boolean
  readonly #itemKeywords = new Set<string>()
  readonly #options: RewriterOptions
  readonly #marked = { request: new WeakMap<Node, Set<string>>(), response: new WeakMap<Node, Set<string>>() }

  constructor(root: Node, options: RewriterOptions) {
    this.#root = root
    this.#isOld = String(root['openapi']).startsWith('3.0')
    this.#options = options
  }

  /** @throws Error when a reference leads nowhere, or out of the file. */
  rewrite(use: SchemaUse): unknown {
    return this.#schema(valueAt(this.#root, `#${use.pointer}`), use)
  }

  #schema(value: unknown, use: SchemaUse): unknown {
    if (typeof value !== 'object' || value === null) return value
    const node = asNode(value)
    const optional = [...new Set([...use.optional, ...this.#marks(node, use.direction)])]
    const out: Record<string, unknown> = {}
    const reference = node['$ref']
    if (typeof reference === 'string') out[LINK_KEYWORD] = this.#link(reference, { ...use, optional })
    // OpenAPI 3.0: what stands beside a reference is ignored.
    if (typeof reference === 'string' && this.#isOld) return out
    if (Object.hasOwn(node, '$dynamicRef'))
      throw new Error(`the schema of #${use.pointer} has a '$dynamicRef', which is not supported; use '$ref'`)
    for (const name of Object.keys(node)) this.#keyword(node, name, { out, use: { ...use, optional } })
    if (this.#isOld) modernise(out)
    return out
  }

  #keyword(
    node: Node,
    name: string,
    { out, use }: { readonly out: Record<string, unknown>; readonly use: SchemaUse },
  ): void {
    const value = node[name]
    const pointer = `${use.pointer}/${escaped(name)}`
    this.#checkItems(name)
    const part = { ...use, pointer, optional: CONDITIONS.has(name) || !isSameValue(name) ? [] : use.optional }
    if (name === 'required') out[name] = strings(value).filter((one) => !use.optional.includes(one))
    else if (name === 'pattern') {
      if (this.#isSupported(value, pointer)) out[name] = value
    } else if (ASSERTIONS.has(name)) out[name] = value
    else if (PARTS.has(name) || SAME.has(name)) out[name] = this.#schema(value, part)
    else if (PART_LISTS.has(name) || SAME_LISTS.has(name)) {
      const list = Array.isArray(value) ? value : []
      out[this.#combination(name, list, part)] = list.map((one, i) =>
        this.#schema(one, { ...part, pointer: `${pointer}/${i}` }),
      )
    } else if (PART_MAPS.has(name) || SAME_MAPS.has(name)) out[name] = this.#map(name, asNode(value), part)
  }

  #map(name: string, map: Node, use: SchemaUse): Node {
    const out: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(map)) {
      const part = { ...use, pointer: `${use.pointer}/${escaped(key)}` }
      if (name === 'patternProperties' && !this.#isSupported(key, part.pointer)) continue
      // An object within an object is compiled by itself, so that no step is long.
      const isLarge = PART_MAPS.has(name) && Object.hasOwn(asNode(value), 'properties')
      const schema = isLarge ? { [LINK_KEYWORD]: this.#options.linkTo(part) } : this.#schema(value, part)
      setMember(out, key, schema)
    }
    return out
  }

  /** Choices that a member which is not needed here would tell apart may all be right. */
  #combination(name: string, list: readonly unknown[], use: SchemaUse): string {
    if (name !== 'oneOf') return name
    const isBlurred = list.some((one) => {
      const optional = new Set([...use.optional, ...this.#marks(asNode(one), use.direction)])
      return [...this.#group(asNode(one))].some((node) =>
        strings(node['required']).some((member) => optional.has(member)),
      )
    })
    return isBlurred ? 'anyOf' : name
  }

  #link(reference: string, { direction, optional }: SchemaUse): string {
    const target = asNode(valueAt(this.#root, checkedReference(reference)))
    const required = new Set([...this.#group(target)].flatMap((node) => strings(node['required'])))
    const own = this.#marks(target, direction)
    // Only what makes a difference there: links to one schema are one link nearly always.
    const inherited = optional.filter((name) => required.has(name) && !own.has(name)).sort()
    return this.#options.linkTo({ pointer: reference.slice(1), direction, optional: inherited })
  }

  /** Members that a schema, or another one of the same value, marks for the other direction. */
  #marks(node: Node, direction: Direction): Set<string> {
    const known = this.#marked[direction].get(node)
    if (known !== undefined) return known
    const mark = direction === 'request' ? 'readOnly' : 'writeOnly'
    const marks = new Set<string>()
    this.#marked[direction].set(node, marks)
    for (const { properties } of this.#group(node)) {
      for (const [name, property] of Object.entries(asNode(properties))) {
        if ([...this.#group(asNode(property))].some((one) => one[mark] === true)) marks.add(name)
      }
    }
    return marks
  }

  /** A schema and those that it applies to the same value, through references too. */
  #group(node: Node, found = new Set<Node>(), open = new Set<Node>()): Set<Node> {
    if (open.has(node)) throw new Error(CIRCLE)
    if (found.has(node)) return found
    found.add(node)
    open.add(node)
    for (const next of this.#sameValue(node)) this.#group(next, found, open)
    open.delete(node)
    return found
  }

  #sameValue(node: Node): Node[] {
    const { $ref: reference } = node
    const target = typeof reference === 'string' ? [valueAt(this.#root, checkedReference(reference))] : []
    const combined = [...SAME_LISTS].flatMap((name) => node[name] ?? [])
    return [...target, ...combined, node['then'], node['else']].flatMap((one) => one ?? []).map(asNode)
  }

  /** The compiler knows how many items are evaluated, not which. */
  #checkItems(keyword: string): void {
    if (keyword === 'unevaluatedItems' || keyword === 'contains') this.#itemKeywords.add(keyword)
    if (this.#itemKeywords.size < 2) return
    throw new Error("a description cannot use both 'unevaluatedItems' and 'contains'; use 'items' instead")
  }

  #isSupported(pattern: unknown, pointer: string): boolean {
    if (!this.#options.skipsUnsupported) return true
    try {
      compileLinearRegex(String(pattern))
      return true
    } catch {
      this.skipped.add(`#${pointer}`)
      return false
    }
  }
}

function isSameValue(name: string): boolean {
  return SAME.has(name) || SAME_LISTS.has(name) || SAME_MAPS.has(name)
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function checkedReference(reference: string): string {
  if (reference === '#' || reference.startsWith('#/')) return reference
  throw new Error(
    `it refers to '${reference}'; only references within one file are followed, so bundle it first`,
  )
}

/** Converts keywords specific to OpenAPI 3.0 to JSON Schema 2020-12. */
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

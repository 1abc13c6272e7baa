import { compileLinearRegex } from '../../engines/json/linear-regex.js'
import { LINK_KEYWORD } from '../../engines/json-schema/exact-keywords.js'
import { setMember } from '../../engines/json-schema/schema-walk.js'
import { asNode, escapePointer, type Node, valueAt } from './node.js'

/** Direction of a message. `readOnly` and `writeOnly` members depend on it. */
export type Direction = 'request' | 'response'

/** A schema of the description, used for one direction. */
export interface SchemaUse {
  readonly pointer: string
  readonly direction: Direction
  /** Members not to require, because another schema of the same value marks them for the other direction. */
  readonly optional: readonly string[]
}

/** Keywords that constrain the value without subschemas. */
const ASSERTIONS = words(
  'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format maxItems ' +
    'minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired nullable',
)
/** Keywords with subschemas for parts of the value: a single schema, a list, and a map. */
const PARTS = words(
  'additionalProperties items contains propertyNames unevaluatedItems unevaluatedProperties',
)
const PART_LISTS = words('prefixItems')
const PART_MAPS = words('properties patternProperties')
/** Keywords with subschemas for the value itself, in the same three forms. */
const SAME = words('not if then else')
const SAME_LISTS = words('allOf anyOf oneOf')
const SAME_MAPS = words('dependentSchemas')
/** Keywords that test a schema. Fewer required members would change their result. */
const CONDITIONS = words('not if')

const CIRCLE = "circular references without a level in between: put one under 'properties' or 'items'"

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

interface RewriterOptions {
  /** True if unsupported patterns are omitted and recorded, instead of refusing the description. */
  readonly skipsUnsupported: boolean
  /** Returns the key of the link that replaces a reference. */
  readonly linkTo: (use: SchemaUse) => string
}

/**
 * Rewrites schemas of a description to JSON Schema 2020-12 for one direction, with links in place of
 * references. It visits only keywords, so data such as examples is never mistaken for a schema.
 */
export class SchemaRewriter {
  /** JSON pointers of omitted patterns. */
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

  /** Rewrites a schema. @throws Error for a reference that is unresolvable or points outside the file. */
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
    // OpenAPI 3.0 ignores keywords beside a reference.
    if (typeof reference === 'string' && this.#isOld) return out
    if (Object.hasOwn(node, '$dynamicRef'))
      throw new Error(`the schema of #${use.pointer} has a '$dynamicRef', which is not supported: use '$ref'`)
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
    const pointer = `${use.pointer}/${escapePointer(name)}`
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
      const part = { ...use, pointer: `${use.pointer}/${escapePointer(key)}` }
      if (name === 'patternProperties' && !this.#isSupported(key, part.pointer)) continue
      // Nested objects are compiled separately to keep each compile step short.
      const isLarge = PART_MAPS.has(name) && Object.hasOwn(asNode(value), 'properties')
      const schema = isLarge ? { [LINK_KEYWORD]: this.#options.linkTo(part) } : this.#schema(value, part)
      setMember(out, key, schema)
    }
    return out
  }

  /**
   * Returns the keyword for a combination. A `oneOf` becomes `anyOf` if its choices differ only in a member
   * that is optional here.
   */
  #combination(name: string, list: readonly unknown[], use: SchemaUse): string {
    if (name !== 'oneOf') return name
    const losesDistinction = list.some((one) => {
      const optional = new Set([...use.optional, ...this.#marks(asNode(one), use.direction)])
      return [...this.#group(asNode(one))].some((node) =>
        strings(node['required']).some((member) => optional.has(member)),
      )
    })
    return losesDistinction ? 'anyOf' : name
  }

  #link(reference: string, { direction, optional }: SchemaUse): string {
    const target = asNode(valueAt(this.#root, checkedReference(reference)))
    const required = new Set([...this.#group(target)].flatMap((node) => strings(node['required'])))
    const own = this.#marks(target, direction)
    // Omits names that make no difference in the target, so that nearly all references to a schema share one
    // link.
    const inherited = optional.filter((name) => required.has(name) && !own.has(name)).sort()
    return this.#options.linkTo({ pointer: reference.slice(1), direction, optional: inherited })
  }

  /**
   * Returns the members that a schema, or another schema of the same value, marks for the other direction.
   */
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

  /** Returns a schema and all schemas that apply to the same value, with references resolved. */
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

  /**
   * Refuses `unevaluatedItems` with `contains`. The compiler tracks how many items are evaluated, not which
   * ones.
   */
  #checkItems(keyword: string): void {
    if (keyword === 'unevaluatedItems' || keyword === 'contains') this.#itemKeywords.add(keyword)
    if (this.#itemKeywords.size < 2) return
    throw new Error("a description cannot use both 'unevaluatedItems' and 'contains': use 'items' instead")
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
  throw new Error(`external reference '${reference}': bundle the description into one file first`)
}

/** Converts keywords of OpenAPI 3.0 to JSON Schema 2020-12. */
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

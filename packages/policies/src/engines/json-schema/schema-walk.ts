/** An object of a schema document. */
export type SchemaNode = Record<string, unknown>

/** Keywords whose members are schemas under names that the author chose. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
])

/** Keywords that hold values instead of schemas. */
const VALUES: ReadonlySet<string> = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'example',
  'dependentRequired',
])

/** Maximum nesting depth of schemas: beyond it the compiler overflows the stack. */
const MAX_SCHEMA_DEPTH = 250

/** Returns true if a value is an object that can be a schema. */
export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Copies a schema document. Calls `change` for each object that can be a schema, the inner ones first. Objects under
 * unknown keywords count too, because a reference may point to them.
 * @throws Error if schemas nest too deeply.
 */
export function copySchema(
  value: unknown,
  change: (node: SchemaNode, isRoot: boolean) => void,
  depth = 0,
): unknown {
  if (depth > MAX_SCHEMA_DEPTH) throw new Error(`the schema nests deeper than ${MAX_SCHEMA_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => copySchema(item, change, depth + 1))
  if (!isSchemaNode(value)) return value
  const copy: SchemaNode = {}
  for (const [name, member] of Object.entries(value)) {
    if (VALUES.has(name)) setMember(copy, name, member)
    else if (MAPS.has(name) && isSchemaNode(member)) {
      setMember(
        copy,
        name,
        copyMap(member, (one) => copySchema(one, change, depth + 2)),
      )
    } else setMember(copy, name, copySchema(member, change, depth + 1))
  }
  change(copy, depth === 0)
  return copy
}

/** Calls `visit` for each object of a schema document that can be a schema, the outer ones first. */
export function walkSchema(
  value: unknown,
  visit: (node: SchemaNode, parent: SchemaNode | null) => void,
): void {
  const walk = (one: unknown, parent: SchemaNode | null): void => {
    if (Array.isArray(one)) for (const item of one) walk(item, parent)
    if (!isSchemaNode(one)) return
    visit(one, parent)
    for (const [name, member] of Object.entries(one)) {
      if (VALUES.has(name)) continue
      if (MAPS.has(name) && isSchemaNode(member)) for (const child of Object.values(member)) walk(child, one)
      else walk(member, one)
    }
  }
  walk(value, null)
}

function copyMap(map: SchemaNode, copy: (member: unknown) => unknown): SchemaNode {
  const out: SchemaNode = {}
  for (const [name, member] of Object.entries(map)) setMember(out, name, copy(member))
  return out
}

/** Sets a member, even one called `__proto__`. */
export function setMember(out: SchemaNode, name: string, value: unknown): void {
  Object.defineProperty(out, name, { value, enumerable: true, writable: true, configurable: true })
}

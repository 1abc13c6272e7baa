/** The part of JSON Schema that the descriptions of APIs use. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
}

type Schemas = Readonly<Record<string, Schema>>

/**
 * Returns TypeScript types for the schemas of an API, exported if they are among `used`. Schemas that they refer to
 * follow. The dashboard uses these types, so an incompatible change of the API breaks its build.
 */
export function typesOfSchemas(schemas: Schemas, used: readonly string[], api: string): string {
  const types = withReferences(schemas, used).map((name) => {
    const { description } = schemas[name]!
    const comment = `/** ${description ?? `Schema \`${name}\` of the ${api}.`} */\n`
    return `${used.includes(name) ? `${comment}export ` : ''}type ${name} = ${typeOf(schemas[name]!, '')}\n`
  })
  return types.join('\n')
}

function withReferences(schemas: Schemas, names: readonly string[]): readonly string[] {
  const used = JSON.stringify(names.map((name) => schemas[name])).matchAll(/#\/components\/schemas\/(\w+)/g)
  const all = [...new Set([...names, ...[...used].map(([, name]) => name!)])]
  return all.length === names.length ? all : withReferences(schemas, all)
}

function typeOf(schema: Schema, indent: string): string {
  const { $ref, anyOf, allOf, type } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (anyOf !== undefined) return anyOf.map((one) => typeOf(one, indent)).join(' | ')
  if (allOf !== undefined) return allOf.map((one) => typeOf(one, indent)).join(' & ')
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
  if (schema.const !== undefined) return literal(schema.const)
  return [type ?? 'unknown']
    .flat()
    .map((name) => namedType(name, schema, indent))
    .join(' | ')
}

function namedType(
  name: string,
  { items, properties, required, additionalProperties }: Schema,
  indent: string,
) {
  if (name === 'integer') return 'number'
  if (name === 'array') {
    const item = typeOf(items ?? {}, indent)
    return /[|{]/.test(item) && !/^\{.*\}$/s.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`
  }
  if (name !== 'object') return name
  if (properties !== undefined) {
    const below = `${indent}  `
    const members = Object.entries(properties).map(([key, member]) => {
      const mark = required?.includes(key) === true ? '' : '?'
      return `${below}readonly ${/^\w+$/.test(key) ? key : literal(key)}${mark}: ${typeOf(member, below)}\n`
    })
    return `{\n${members.join('')}${indent}}`
  }
  const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
  return `Readonly<Record<string, ${value}>>`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
}

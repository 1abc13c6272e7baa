import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { OPENAPI_SCHEMAS } from './openapi-schemas.js'

/** Types of the dashboard, generated from the description of the admin API so that they cannot drift apart. */
const FILE = new URL('../../../ui/src/app/data/admin-api.ts', import.meta.url)
/** Schemas that the dashboard uses. Those that they refer to follow. */
const USED = [
  ...['Session', 'Metrics', 'RouteTraffic', 'Status', 'Worker', 'Deploy', 'Deploys', 'Changes', 'Change'],
  ...['Routes', 'Route', 'Policy', 'Upstreams', 'Upstream', 'Target', 'Explanation', 'ExplainedPolicy'],
  ...['Records', 'LogRecord', 'SearchedLog', 'ExplainedRecord', 'RecordedPolicy', 'Document', 'Applied'],
  ...['Diagnostic', 'StepTrace', 'TracedStep', 'StepChange'],
]

interface Schema {
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

const SCHEMAS = OPENAPI_SCHEMAS as unknown as Readonly<Record<string, Schema>>

test('the dashboard has the types of the description', () => {
  const all = withReferences(USED)
  const types = all.map((name) => {
    const { description } = SCHEMAS[name]!
    const comment = `/** ${description ?? `Schema \`${name}\` of the admin API.`} */\n`
    return `${USED.includes(name) ? `${comment}export ` : ''}type ${name} = ${typeOf(SCHEMAS[name]!, '')}\n`
  })
  const head = '// Generated from the OpenAPI description: UPDATE_GOLDEN=1 with answer-types.test.\n'
  const text = [head, ...types].join('\n')
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, text)
  assert.equal(readFileSync(FILE, 'utf8'), text)
})

function withReferences(names: readonly string[]): readonly string[] {
  const used = JSON.stringify(names.map((name) => SCHEMAS[name])).matchAll(/#\/components\/schemas\/(\w+)/g)
  const all = [...new Set([...names, ...[...used].map(([, name]) => name!)])]
  return all.length === names.length ? all : withReferences(all)
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

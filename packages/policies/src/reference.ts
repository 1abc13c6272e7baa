import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DURATION_PATTERN, type Policy, RATE_PATTERN, SIZE_PATTERN } from '@sluice/core'

/** The JSON Schema keywords that the reference reads. */
interface SchemaNode {
  readonly type?: string
  readonly pattern?: string
  readonly description?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly anyOf?: readonly SchemaNode[]
  readonly items?: SchemaNode
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly secret?: boolean
}

/** Folders of `src` that hold the policies. */
export const POLICY_GROUPS = ['auth', 'traffic', 'content', 'transform'] as const

/** Folder of the packages, in the repository or in `node_modules`. */
const PACKAGES = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Returns the folder of a policy, such as `policies/src/auth/jwt`.
 * @throws Error if there is no such folder
 */
export function folderOf({ name }: Policy): string {
  const folders = ['policies', 'policies-xml'].flatMap((owner) =>
    POLICY_GROUPS.map((group) => `${owner}/src/${group}/${name}`),
  )
  const found = folders.find((folder) => existsSync(`${PACKAGES}${folder}/example.yaml`))
  if (found === undefined) throw new Error(`no folder of the policy ${name} holds an example.yaml`)
  return found
}

/** Returns the YAML excerpt of a document that uses the policy. */
export function exampleOf(policy: Policy): string {
  return readFileSync(`${PACKAGES}${folderOf(policy)}/example.yaml`, 'utf8')
}

/**
 * Returns the Markdown reference page of a policy: its summary, example, parameters and behaviour.
 * @param example YAML excerpt of a document. The page has no example if it is empty.
 */
export function referenceOf(policy: Policy, example = ''): string {
  const schema: SchemaNode = policy.schema
  return [
    `# ${policy.name}`,
    policy.summary,
    ...(example === '' ? [] : [`## Example\n\n\`\`\`yaml\n${example.trimEnd()}\n\`\`\``]),
    `## Parameters\n\n${table(schema)}`,
    ...(schema.description === undefined ? [] : [`## Behaviour\n\n${schema.description}`]),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n')
}

function table(schema: SchemaNode): string {
  const head = ['| parameter | type | default | meaning |', '| --- | --- | --- | --- |']
  return [...head, ...rows(schema, '')].join('\n')
}

function rows(schema: SchemaNode, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const at = path === '' ? name : `${path}.${name}`
    const isRequired = schema.required?.includes(name) === true
    const cells = [`\`${at}\``, typeOf(child), defaultOf(child, isRequired), child.description ?? '']
    const inner = child.type === 'array' ? rows(child.items ?? {}, `${at}[]`) : rows(child, at)
    return [`| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`, ...inner]
  })
}

function defaultOf(schema: SchemaNode, isRequired: boolean): string {
  if (isRequired) return 'required'
  // The keys of an object have their own defaults.
  return schema.default === undefined || schema.type === 'object' ? '' : `\`${String(schema.default)}\``
}

/** Types of strings by their pattern. The index of policies describes them. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  [DURATION_PATTERN, 'duration'],
  [SIZE_PATTERN, 'size'],
  [RATE_PATTERN, 'rate'],
])

function typeOf(schema: SchemaNode): string {
  if (schema.secret === true) return 'secret string'
  if (schema.const !== undefined) return `\`${String(schema.const)}\``
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (schema.pattern !== undefined && FORMATS.has(schema.pattern)) return FORMATS.get(schema.pattern)!
  if (schema.type === 'array')
    return `list of ${typeOf(schema.items ?? {}).replaceAll(/\b(string|object|integer|duration|size|rate)\b/g, '$1s')}`
  const values = Object.values(schema.patternProperties ?? {})[0]
  return values === undefined ? (schema.type ?? 'any') : `object (NAME: ${typeOf(values)})`
}

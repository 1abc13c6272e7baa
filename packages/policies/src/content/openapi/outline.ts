import { valueOfSource } from '../../shared/options/text-source.js'
import { checkedDescription, METHODS } from './description.js'
import { asNode, childEntries, type Node } from './node.js'
import { pathsOf } from './operation.js'

/** Security schemes that a caller must use together, with their scopes. Empty: no credentials are needed. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

/** An operation of an API. */
export interface ApiOperation {
  readonly path: string
  /** Method in upper case. */
  readonly method: string
  /** `operationId`, or null if the operation has none. */
  readonly id: string | null
  readonly tags: readonly string[]
  /** Alternative requirements, of which a caller must meet one. Empty: no credentials are needed. */
  readonly security: readonly SecurityRequirement[]
  /** True if the operation itself declares that it needs no credentials, with `security: []`. */
  readonly isPublic: boolean
  /** True if the operation or its path has its own servers. */
  readonly hasServers: boolean
}

/** The parts of an API description that routing needs. */
export interface ApiOutline {
  readonly title: string
  readonly version: string
  /** Server addresses with default values for their variables. Some are relative. */
  readonly servers: readonly string[]
  readonly operations: readonly ApiOperation[]
  /** Security schemes by name, with references resolved. */
  readonly securitySchemes: ReadonlyMap<string, Node>
}

/**
 * Reads the outline of an API from its OpenAPI description.
 * @throws Error if the file is unreadable or not OpenAPI 3.0 or 3.1.
 */
export async function readApiOutline(file: string): Promise<ApiOutline> {
  const root = await checkedDescription(valueOfSource({ file }))
  const info = asNode(root['info'])
  const components = asNode(root['components'])
  const schemes = { node: asNode(components['securitySchemes']), pointer: '/components/securitySchemes' }
  return {
    title: String(info['title']),
    version: String(info['version']),
    servers: serversOf(root),
    operations: pathsOf(root).flatMap(([path, { node }]) =>
      METHODS.filter((method) => Object.hasOwn(node, method)).map((method) => {
        const operation = asNode(node[method])
        return {
          path,
          method: method.toUpperCase(),
          id: typeof operation['operationId'] === 'string' ? operation['operationId'] : null,
          tags: listOf(operation['tags']).map(String),
          security: listOf(operation['security'] ?? root['security']) as SecurityRequirement[],
          isPublic: Array.isArray(operation['security']) && operation['security'].length === 0,
          hasServers: [operation, node].some(({ servers }) => servers !== undefined),
        }
      }),
    ),
    securitySchemes: new Map(childEntries(root, schemes).map(([name, entry]) => [name, entry.node])),
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function serversOf(root: Node): string[] {
  return listOf(root['servers']).map((server) => {
    const { url, variables } = asNode(server)
    const values = asNode(variables)
    return String(url).replaceAll(/\{([^{}]+)\}/g, (_, name: string) =>
      String(asNode(values[name])['default'] ?? ''),
    )
  })
}

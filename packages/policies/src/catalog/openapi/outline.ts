import { valueOfSource } from '../../shared/text-source.js'
import { checkedDescription, METHODS } from './description.js'
import { asNode, type Node } from './node.js'
import { pathsOf } from './operation.js'

/** A path of an API and what can be done with it. */
export interface ApiPath {
  readonly path: string
  /** In upper case. */
  readonly methods: readonly string[]
}

/** What a gateway has to know of an API to route to it. */
export interface ApiOutline {
  readonly title: string
  readonly version: string
  /** Addresses of the API, whose variables have their defaults; some are relative. */
  readonly servers: readonly string[]
  readonly paths: readonly ApiPath[]
}

/**
 * Reads the outline of an API from its OpenAPI description.
 * @throws Error when the file cannot be read or is no OpenAPI 3.0 or 3.1.
 */
export async function readApiOutline(file: string): Promise<ApiOutline> {
  const root = await checkedDescription(valueOfSource({ file }))
  const info = asNode(root['info'])
  return {
    title: String(info['title']),
    version: String(info['version']),
    servers: serversOf(root),
    paths: pathsOf(root).map(([path, { node }]) => ({
      path,
      methods: METHODS.filter((method) => Object.hasOwn(node, method)).map((method) => method.toUpperCase()),
    })),
  }
}

function serversOf(root: Node): string[] {
  const servers = root['servers']
  return (Array.isArray(servers) ? servers : []).map((server) => {
    const { url, variables } = asNode(server)
    const values = asNode(variables)
    return String(url).replaceAll(/\{([^{}]+)\}/g, (_, name: string) =>
      String(asNode(values[name])['default'] ?? ''),
    )
  })
}

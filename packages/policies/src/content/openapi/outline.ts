import { valueOfSource } from '../../shared/options/text-source.js'
import { checkedDescription, METHODS } from './description.js'
import { asNode, type Node } from './node.js'
import { pathsOf } from './operation.js'

/** A path of an API and its methods. */
export interface ApiPath {
  readonly path: string
  /** Methods in upper case. */
  readonly methods: readonly string[]
}

/** The parts of an API description that routing needs. */
export interface ApiOutline {
  readonly title: string
  readonly version: string
  /** Server addresses with default values for their variables. Some are relative. */
  readonly servers: readonly string[]
  readonly paths: readonly ApiPath[]
}

/**
 * Reads the outline of an API from its OpenAPI description.
 * @throws Error if the file is unreadable or not OpenAPI 3.0 or 3.1.
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

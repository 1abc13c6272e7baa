import { type ValueSource, valueOfSource } from '../../shared/options/text-source.js'
import { asNode, type Entry, type Node, resolveReferences } from './node.js'
import { pathsOf } from './operation.js'
import { PathTable } from './path-table.js'

/** An operation of an API, and the path item that contains it. */
export interface DescribedOperation {
  readonly operation: Node
  readonly pathItem: Node
}

/** A valid OpenAPI description, for programs that make examples from it. */
export class ApiDescription {
  readonly root: Node
  readonly #paths = new PathTable<Entry>()

  /** @throws Error if the description cannot be read */
  constructor(source: ValueSource) {
    this.root = asNode(valueOfSource(source))
    for (const [path, entry] of pathsOf(this.root)) this.#paths.add(path, entry)
  }

  /** Returns the operation of a request, or null. @param path canonical path, with the `basePath` */
  find(method: string, path: string, basePath = ''): DescribedOperation | null {
    if (!path.startsWith(basePath)) return null
    const item = this.#paths.find(path, basePath)?.value.node
    const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
    return item === undefined || operation === undefined
      ? null
      : { operation: asNode(operation), pathItem: item }
  }

  /** Returns an object with its reference resolved; empty for any other value. @throws Error for a broken reference */
  resolve(value: unknown): Node {
    return resolveReferences(this.root, { node: asNode(value), pointer: '' }).node
  }
}

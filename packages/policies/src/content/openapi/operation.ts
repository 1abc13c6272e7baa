import { METHODS } from './description.js'
import { type Media, mediaOf } from './media.js'
import { asNode, childEntries, childEntry, type Entry, type Node } from './node.js'
import { LOCATIONS, type Location, ownsName, parametersOf, textValue } from './parameter.js'
import type { SchemaSource } from './schemas.js'
import { compileTextCheck, type TextCheck } from './text-check.js'

/** Check of one response of an operation. */
export interface ResponseCheck {
  /** Header check, or null if no header fields are described. */
  readonly headers: TextCheck | null
  readonly media: readonly Media[]
}

/** Compiled checks of one method of a path. */
export interface Operation {
  /** Checks by parameter location. Locations without parameters are absent. */
  readonly checks: ReadonlyMap<Location, TextCheck>
  /** Returns true if the description has a query parameter of this name. */
  knowsQuery(name: string): boolean
  /** True if a path parameter uses the matrix style, `;id=5`. */
  readonly hasMatrix: boolean
  /** Body check, or null if no body is described. */
  readonly body: { readonly isRequired: boolean; readonly media: readonly Media[] } | null
  /** Response checks by status, range (`2XX`) or `default`. */
  readonly responses: ReadonlyMap<string, ResponseCheck>
}

/** Operations of a path, by method in upper case. */
export type PathItem = ReadonlyMap<string, Operation>

/**
 * Returns the operations of a path. Their schemas are compiled later.
 * @throws Error for unresolved references.
 */
export function compilePathItem(root: Node, path: Entry, use: OperationUse): PathItem {
  const item = new Map<string, Operation>()
  for (const method of METHODS) {
    const operation = childEntry(root, path, method)
    if (operation !== null) item.set(method.toUpperCase(), compileOperation(root, [path, operation], use))
  }
  return item
}

interface OperationUse {
  readonly schemas: SchemaSource
  /** True if response schemas are compiled, too. */
  readonly checksResponses: boolean
}

function compileOperation(root: Node, [path, entry]: readonly [Entry, Entry], use: OperationUse): Operation {
  const parameters = parametersOf(root, path, entry)
  const toRequest = { schemas: use.schemas, direction: 'request' } as const
  const checks = new Map<Location, TextCheck>()
  for (const location of LOCATIONS) {
    const here = parameters.filter((parameter) => parameter.location === location)
    if (here.length > 0) checks.set(location, compileTextCheck(here, location, toRequest))
  }
  const body = childEntry(root, entry, 'requestBody')
  const query = parameters.filter(({ location }) => location === 'query')
  return {
    checks,
    knowsQuery: (name) => query.some((of) => ownsName(of, name)),
    hasMatrix: parameters.some(({ location, style }) => location === 'path' && style === 'matrix'),
    body: body && {
      isRequired: body.node['required'] === true,
      media: mediaOf(root, childEntry(root, body, 'content'), toRequest),
    },
    responses: use.checksResponses ? compileResponses(root, entry, use.schemas) : new Map(),
  }
}

function compileResponses(root: Node, operation: Entry, schemas: SchemaSource): Map<string, ResponseCheck> {
  const use = { schemas, direction: 'response' } as const
  const responses = new Map<string, ResponseCheck>()
  for (const [status, entry] of childEntries(root, childEntry(root, operation, 'responses'))) {
    const headers = childEntries(root, childEntry(root, entry, 'headers'))
      .filter(([name]) => name.toLowerCase() !== 'content-type')
      .map(([name, header]) => textValue(root, header, { name: name.toLowerCase(), style: 'simple' }))
    responses.set(status.toUpperCase(), {
      headers: headers.length === 0 ? null : compileTextCheck(headers, 'header', use),
      media: mediaOf(root, childEntry(root, entry, 'content'), use),
    })
  }
  return responses
}

/** Returns the check for a status: that of the exact status, of its range, or the default. */
export function responseFor({ responses }: Operation, status: number): ResponseCheck | undefined {
  return (
    responses.get(String(status)) ??
    responses.get(`${Math.floor(status / 100)}XX`) ??
    responses.get('DEFAULT')
  )
}

/** Returns the described paths with their entries. */
export function pathsOf(root: Node): (readonly [string, Entry])[] {
  const at: Entry = { node: asNode(root['paths']), pointer: '/paths' }
  return childEntries(root, at).filter(([path]) => path.startsWith('/'))
}

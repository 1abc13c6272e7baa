import { METHODS } from './description.js'
import { type Media, mediaOf } from './media.js'
import { asNode, type Entry, eachUnder, type Node, under } from './node.js'
import { LOCATIONS, type Location, ownsName, parametersOf, textValue } from './parameter.js'
import type { SchemaSource } from './schemas.js'
import { compileTextCheck, type TextCheck } from './text-check.js'

/** A response that an operation may have. */
export interface ResponseCheck {
  /** Null: it has no header fields to check. */
  readonly headers: TextCheck | null
  readonly media: readonly Media[]
}

/** What a description says of one method of a path. */
export interface Operation {
  /** Checks by entry; those without parameters are absent. */
  readonly checks: ReadonlyMap<Location, TextCheck>
  /** Whether the description has a query parameter of this name. */
  knowsQuery(name: string): boolean
  /** True if a parameter of the path is written behind a semicolon, `;id=5`. */
  readonly hasMatrix: boolean
  /** Null: no body is described. */
  readonly body: { readonly isRequired: boolean; readonly media: readonly Media[] } | null
  /** By status, range (`2XX`) or `default`. */
  readonly responses: ReadonlyMap<string, ResponseCheck>
}

/** The methods of a path, in upper case. */
export type PathItem = ReadonlyMap<string, Operation>

/** Returns the operations of a path, with schemas that are compiled later. @throws Error for unresolved references. */
export function compilePathItem(root: Node, path: Entry, use: OperationUse): PathItem {
  const item = new Map<string, Operation>()
  for (const method of METHODS) {
    const operation = under(root, path, method)
    if (operation !== null) item.set(method.toUpperCase(), compileOperation(root, [path, operation], use))
  }
  return item
}

interface OperationUse {
  readonly schemas: SchemaSource
  /** Without it no response is compiled. */
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
  const body = under(root, entry, 'requestBody')
  const query = parameters.filter(({ location }) => location === 'query')
  return {
    checks,
    knowsQuery: (name) => query.some((of) => ownsName(of, name)),
    hasMatrix: parameters.some(({ location, style }) => location === 'path' && style === 'matrix'),
    body: body && {
      isRequired: body.node['required'] === true,
      media: mediaOf(root, under(root, body, 'content'), toRequest),
    },
    responses: use.checksResponses ? compileResponses(root, entry, use.schemas) : new Map(),
  }
}

function compileResponses(root: Node, operation: Entry, schemas: SchemaSource): Map<string, ResponseCheck> {
  const use = { schemas, direction: 'response' } as const
  const responses = new Map<string, ResponseCheck>()
  for (const [status, entry] of eachUnder(root, under(root, operation, 'responses'))) {
    const headers = eachUnder(root, under(root, entry, 'headers'))
      .filter(([name]) => name.toLowerCase() !== 'content-type')
      .map(([name, header]) => textValue(root, header, { name: name.toLowerCase(), style: 'simple' }))
    responses.set(status.toUpperCase(), {
      headers: headers.length === 0 ? null : compileTextCheck(headers, 'header', use),
      media: mediaOf(root, under(root, entry, 'content'), use),
    })
  }
  return responses
}

/** The entry for a status: its own, that of its range, or the default. */
export function responseFor({ responses }: Operation, status: number): ResponseCheck | undefined {
  return (
    responses.get(String(status)) ??
    responses.get(`${Math.floor(status / 100)}XX`) ??
    responses.get('DEFAULT')
  )
}

/** The paths of a description with what it says of them. */
export function pathsOf(root: Node): (readonly [string, Entry])[] {
  const at: Entry = { node: asNode(root['paths']), pointer: '/paths' }
  return eachUnder(root, at).filter(([path]) => path.startsWith('/'))
}

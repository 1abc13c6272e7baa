import type { ApiOperation } from '@sluice/policies'
import { cleanName, type TakenNames, uniqueName } from '../names.js'

/** A route for an operation of an API. */
export interface OperationRoute {
  readonly id: string
  readonly path: string
  readonly methods: string[]
  /** Operations that the route serves. The policy distinguishes them if there are several. */
  readonly operations: ApiOperation[]
}

/**
 * Returns one route per operation, named by its `operationId`. Operations that the router cannot distinguish share
 * a route, and so do GET and HEAD of one path.
 */
export function routesOf(operations: readonly ApiOperation[], basePath: string): OperationRoute[] {
  const routes = new Map<string, OperationRoute>()
  const ids: TakenNames = new Map()
  for (const operation of operations) {
    const { method } = operation
    if (method === 'TRACE') continue
    const path = patternOf(`${basePath}${operation.path}`)
    const key = `${method === 'HEAD' ? 'GET' : method} ${shapeOf(path)}`
    const known = routes.get(key)
    if (known === undefined)
      routes.set(key, { id: idOf(operation, path, ids), path, methods: [method], operations: [operation] })
    else {
      known.operations.push(operation)
      if (!known.methods.includes(method)) known.methods.push(method)
    }
  }
  return [...routes.values()]
}

/** Returns the path pattern of a route. Each segment is literal or one parameter with a unique name. */
function patternOf(path: string): string {
  const names: TakenNames = new Map()
  return path
    .split('/')
    .map((segment) => {
      if (!segment.includes('{')) return encodeSegment(segment)
      const word = segment.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
      return `{${uniqueName(/^[A-Za-z_]/.test(word) ? word : `p_${word}`, names)}}`
    })
    .join('/')
}

/** Percent-encodes characters that are not allowed in the path of a route. */
function encodeSegment(segment: string): string {
  return encodeURI(segment)
    .replaceAll('?', '%3F')
    .replaceAll('#', '%23')
    .replaceAll('*', '%2A')
    .replaceAll(/%25([0-9A-Fa-f]{2})/g, '%$1')
}

/** Returns a key that is equal for paths that match the same requests. */
function shapeOf(pattern: string): string {
  return pattern.replaceAll(/\{[^{}]*\}/g, '{}')
}

function idOf({ id, method }: ApiOperation, path: string, taken: TakenNames): string {
  return uniqueName(cleanName(id ?? `${method.toLowerCase()}-${path}`, 'operation'), taken)
}

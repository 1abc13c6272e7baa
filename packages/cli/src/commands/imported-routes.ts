import type { ApiOutline } from '@sluice/policies'

/** A route for a path of an API. */
export interface ImportedRoute {
  readonly id: string
  readonly path: string
  readonly methods: readonly string[]
}

/** Methods that the gateway does not support. */
const UNSERVED: ReadonlySet<string> = new Set(['TRACE'])
/** Maximum length of an id derived from a path, without a numeric suffix. */
const MAX_ID = 100

/**
 * Returns the routes for the paths of an API. Paths that the router cannot distinguish are merged; the policy
 * distinguishes them.
 */
export function importedRoutes(paths: ApiOutline['paths'], basePath: string): ImportedRoute[] {
  const methodsByPath = new Map<string, Set<string>>()
  for (const { path, methods } of paths) {
    const served = methods.filter((method) => !UNSERVED.has(method))
    if (served.length === 0) continue
    const pattern = patternOf(`${basePath}${path}`)
    const known = [...methodsByPath].find(([other]) => shapeOf(other) === shapeOf(pattern))?.[1]
    if (known === undefined) methodsByPath.set(pattern, new Set(served))
    else for (const method of served) known.add(method)
  }
  const ids = new Set<string>()
  return [...methodsByPath].map(([path, methods]) => ({ id: idOf(path, ids), path, methods: [...methods] }))
}

/** Returns the path pattern of a route. Each segment is literal or one parameter with a unique name. */
function patternOf(path: string): string {
  const names = new Set<string>()
  return path
    .split('/')
    .map((segment) => {
      if (!segment.includes('{')) return encodeSegment(segment)
      const word = segment.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '')
      return `{${unique(/^[A-Za-z_]/.test(word) ? word : `p_${word}`, names)}}`
    })
    .join('/')
}

/** Percent-encodes characters that are not allowed in the path of a route. */
function encodeSegment(segment: string): string {
  return encodeURI(segment)
    .replaceAll('?', '%3F')
    .replaceAll('#', '%23')
    .replaceAll(/%25([0-9A-Fa-f]{2})/g, '%$1')
}

/** Returns a key that is equal for paths that match the same requests. */
function shapeOf(pattern: string): string {
  return pattern.replaceAll(/\{[^{}]*\}/g, '{}')
}

function idOf(path: string, taken: Set<string>): string {
  const words = path.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return unique(words === '' ? 'root' : words.slice(0, MAX_ID), taken)
}

function unique(name: string, taken: Set<string>): string {
  let free = name
  for (let i = 2; taken.has(free); i++) free = `${name}_${i}`
  taken.add(free)
  return free
}

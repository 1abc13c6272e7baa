import type { PathPlan, RoutePlan } from '@sluice/config'
import {
  compileRegex,
  decodeReserved,
  type Exchange,
  forwardablePath,
  hasHiddenDots,
  isAmbiguousPath,
  pathWithParameters,
  withoutParameters,
} from '@sluice/core'
import { paramNames, paramPlaces, paramValues } from '../route/path-params.js'

const SEMICOLON = 59

/** Compiles `/v2/{id}/items` to a function that inserts the route's path parameters, escaped as received. */
export function compileTemplate(text: string, matched: PathPlan): (x: Exchange) => string {
  const parts = text.split(/\{([A-Za-z_][A-Za-z0-9_]*)\}/)
  if (parts.length === 1) return () => text
  const names = paramNames(matched)
  const places = paramPlaces(matched)
  return (x) => {
    const params =
      x.rawPath === x.path ? x.params : paramValues(withoutParameters(pathWithParameters(x)), places)
    let path = parts[0]!
    for (let i = 1; i < parts.length; i += 2) path += (params[names.indexOf(parts[i]!)] ?? '') + parts[i + 1]!
    return path
  }
}

/** Compiles a prefix replacement: on route `/orders/*`, prefix `/v2` turns `/orders/7` into `/v2/7`. */
export function compilePrefix(route: RoutePlan, prefix: string): (x: Exchange) => string {
  const depth = route.match.path.segments.length
  const head = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix
  return (x) => {
    const rest = restAfter(pathWithParameters(x), depth)
    return head + rest || '/'
  }
}

/**
 * Returns the path after the first `depth` segments: empty, or starting with "/". Segments that hold only
 * parameters do not count.
 */
function restAfter(path: string, depth: number): string {
  let at = 0
  let left = depth
  while (left > 0 && at >= 0) {
    const isNamed = path.charCodeAt(at + 1) !== SEMICOLON && !path.startsWith('%3B', at + 1)
    at = path.indexOf('/', at + 1)
    if (isNamed) left--
  }
  return at < 0 ? '' : path.slice(at)
}

/**
 * Compiles a regular-expression rewrite of the forwardable path, or of the canonical path if only that
 * matches. If the result is not a valid path, the request keeps its original path.
 */
export function compileRegexRewrite(pattern: string, replacement: string): (x: Exchange) => string {
  const regex = compileRegex(pattern)
  return (x) => {
    const path = pathWithParameters(x)
    const matched = path.includes('%') && !regex.test(path) ? decodeReserved(path) : path
    const result = rewrittenPath(regex.matcher(matched).replaceFirst(replacement))
    return result === matched ? path : (result ?? withoutParameters(path))
  }
}

/**
 * Returns the normalized path, or null if it is not a safe path. Dot segments are rejected: the original path
 * had none, so the client constructed them, for example with `/files../admin` where `^/files` becomes
 * `/public/`. They would escape the route's folder.
 */
function rewrittenPath(result: string): string | null {
  const merged = result.replace(/\/{2,}/g, '/')
  const canonical = isAmbiguousPath(merged) ? null : forwardablePath(merged)
  return canonical === null || hasHiddenDots(canonical) ? null : canonical
}

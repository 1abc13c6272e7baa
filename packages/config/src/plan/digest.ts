import { createHash } from 'node:crypto'
import type { Plan, RoutePlan } from './plan.js'

const canonicalTexts = new WeakMap<RoutePlan, string>()
const packedTexts = new WeakMap<RoutePlan, string>()

/** Returns the canonical JSON of a route. Cached per route object. */
export function routeJson(route: RoutePlan): string {
  const known = canonicalTexts.get(route) ?? canonicalJson(route)
  canonicalTexts.set(route, known)
  return known
}

/**
 * Returns the JSON of a route with its keys in original order, which can matter to policies. Cached per route
 * object.
 */
export function packedJson(route: RoutePlan): string {
  const known = packedTexts.get(route) ?? JSON.stringify(route)
  packedTexts.set(route, known)
  return known
}

/**
 * Returns the SHA-256 of the plan's canonical JSON in hexadecimal. Plans that differ only in key order have
 * the same digest.
 */
export function digestOf(plan: Plan): string {
  const hash = createHash('sha256')
  let separator = '{'
  for (const [key, value] of Object.entries(plan).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined) continue
    const text = key === 'routes' ? `[${plan.routes.map(routeJson).join(',')}]` : canonicalJson(value)
    hash.update(`${separator}${JSON.stringify(key)}:`).update(text)
    separator = ','
  }
  return hash.update('}').digest('hex')
}

/** Returns JSON with sorted keys and no spaces. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? canonicalJson(item) : `,${canonicalJson(item)}`
    return `[${text}]`
  }
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key]
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`
  }
  return `{${text}}`
}

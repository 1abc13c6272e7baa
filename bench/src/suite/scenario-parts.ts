import {
  type Call,
  type GeneratedBody,
  type OriginBehavior,
  type Scenario,
  TIERS,
} from '../model/scenario.js'

/** Bytes in a kilobyte of the Apinizer reports. */
export const KB = 1024

/** A body size with its name in ids and titles. The WSO2 reports use powers of ten, the others powers of two. */
export interface NamedSize {
  readonly bytes: number
  /** Id, such as `5kb`. */
  readonly id: string
  /** Title, such as `5 KB`. */
  readonly title: string
}

/** Returns a named size, for example `size(5120, 5, 'KB')`. */
export function size(bytes: number, count: number, unit: 'B' | 'KB' | 'KiB'): NamedSize {
  return { bytes, id: `${count}${unit === 'B' ? 'b' : 'kb'}`, title: `${count} ${unit}` }
}

/** A small response, so that its copying does not dominate the cost. */
export const SMALL_ANSWER: OriginBehavior = { answer: 'fixed', bytes: 128, delayMs: 0 }
/** The response is the request body. */
const ECHO: OriginBehavior = { answer: 'echo', bytes: 0, delayMs: 0 }

/** A route that proxies everything. */
export const PLAIN_ROUTES: readonly object[] = [{ id: 'all', match: { path: '/*' }, upstream: 'origin' }]

/** Returns a scenario: a plain proxy unless options say otherwise. A tier sets the workers. */
export function scenario(id: string, title: string, call: Call, changes: Partial<Scenario> = {}): Scenario {
  const workers = TIERS.find(({ tier }) => tier === changes.tier)?.cores ?? 1
  const origin = call.body === null ? SMALL_ANSWER : ECHO
  return {
    ...{ id, title, call, tier: null, workers, log: 'none', origin, routes: PLAIN_ROUTES },
    ...{ isPlainProxy: true, ...changes },
  }
}

/** Returns routes with policies. */
export function withPolicies(policies: readonly object[], routes = PLAIN_ROUTES): Partial<Scenario> {
  if (policies.length === 0) return { routes }
  return { routes: routes.map((route) => ({ ...route, policies })), isPlainProxy: false }
}

/** Returns a GET request. */
export function get(path = '/', headers: Readonly<Record<string, string>> = {}): Call {
  return { method: 'GET', path, headers, body: null }
}

/** Returns a POST request with a JSON body of the given size, or with another body. */
export function post(
  body: number | GeneratedBody,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Call {
  const { kind, bytes } = typeof body === 'number' ? { kind: 'json' as const, bytes: body } : body
  const type = kind === 'xml' ? 'text/xml' : 'application/json'
  return { method: 'POST', path, headers: { 'content-type': type, ...headers }, body: { kind, bytes } }
}

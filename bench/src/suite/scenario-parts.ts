import { type Call, type MadeBody, type OriginBehavior, type Scenario, TIERS } from '../model/scenario.js'

export const KB = 1024

/** A body size with the word for it in ids and titles. The WSO2 reports count in thousands, the others in powers of two. */
export interface NamedSize {
  readonly bytes: number
  /** Such as `5kb`. */
  readonly id: string
  /** Such as `5 KB`. */
  readonly title: string
}

/** `size(5120, 5, 'KB')`. */
export function size(bytes: number, count: number, unit: 'B' | 'KB' | 'KiB'): NamedSize {
  return { bytes, id: `${count}${unit === 'B' ? 'b' : 'kb'}`, title: `${count} ${unit}` }
}

/** A small answer, so that the cost of a request is not that of copying its answer. */
export const SMALL_ANSWER: OriginBehavior = { answer: 'fixed', bytes: 128, delayMs: 0 }
/** The answer is the body of the request, so that the gateway carries it both ways. */
const ECHO: OriginBehavior = { answer: 'echo', bytes: 0, delayMs: 0 }

/** Everything goes to the origin, and nothing is done on the way. */
export const PLAIN_ROUTES: readonly object[] = [{ id: 'all', match: { path: '/*' }, upstream: 'origin' }]

/** A plain proxy that passes a call on, but for what is said otherwise; a tier brings its workers. */
export function scenario(id: string, title: string, call: Call, changes: Partial<Scenario> = {}): Scenario {
  const workers = TIERS.find(({ tier }) => tier === changes.tier)?.cores ?? 1
  const origin = call.body === null ? SMALL_ANSWER : ECHO
  return {
    ...{ id, title, call, tier: null, workers, log: 'none', origin, routes: PLAIN_ROUTES },
    ...{ isPlainProxy: true, ...changes },
  }
}

/** Routes whose requests pass policies first. */
export function withPolicies(policies: readonly object[], routes = PLAIN_ROUTES): Partial<Scenario> {
  if (policies.length === 0) return { routes }
  return { routes: routes.map((route) => ({ ...route, policies })), isPlainProxy: false }
}

/** A GET of a path. */
export function get(path = '/', headers: Readonly<Record<string, string>> = {}): Call {
  return { method: 'GET', path, headers, body: null }
}

/** A POST of so many bytes of JSON, or of what is asked for. */
export function post(
  body: number | MadeBody,
  path = '/',
  headers: Readonly<Record<string, string>> = {},
): Call {
  const { kind, bytes } = typeof body === 'number' ? { kind: 'json' as const, bytes: body } : body
  const type = kind === 'xml' ? 'text/xml' : 'application/json'
  return { method: 'POST', path, headers: { 'content-type': type, ...headers }, body: { kind, bytes } }
}

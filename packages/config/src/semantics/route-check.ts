import { hasEncodedSlash, parseSize } from '@sluice/core'
import { type DocumentPath, isMapping, valueAt } from '../diagnostic/document-path.js'
import { isIssue } from '../diagnostic/issue.js'
import { suggestion } from '../diagnostic/spelling.js'
import { ANY_PATH, parsePathPattern, placeholdersOf } from '../grammar/path-pattern.js'
import type { PathPlan } from '../plan/plan.js'
import type { RouteDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'

/** Reports duplicate route ids. */
export function checkRouteIds({ document, origins, report }: Inspection): void {
  const seen = new Set<string>()
  for (const [route, path] of origins.entries(document.routes, ['routes'])) {
    const location = [...path, 'id']
    if (seen.has(route.id)) {
      const message = `two routes have the id ${report.quote(route.id, location)}`
      report.add({ path: location, message, remedy: 'rename one of them' })
    }
    seen.add(route.id)
  }
}

/** Checks each route on its own: unknown upstreams and APIs, invalid rewrites and redirects. */
export function checkRoutes(inspection: Inspection): void {
  const { document, origins, report } = inspection
  for (const [route, path] of origins.entries(document.routes, ['routes'])) {
    for (const kind of ['upstream', 'api'] as const) checkNamed(inspection, kind, route[kind], path)
    checkProxyKeys(inspection, path)
    checkFields(inspection, route, [...path, 'match', 'headers'])
    checkReply(inspection, route, path)
    checkPlaceholders(inspection, route, path)
    checkColons(inspection, route, path)
    checkMethods(inspection, route, path)
    checkWebSocket(inspection, route, path)
    if (report.isValid([...path, 'match', 'path'])) checkPaths(inspection, route, path)
  }
}

/** Maximum message size that uWebSockets.js is configured for. */
const UWS_MAX_MESSAGE = '1mb'

/** Warns about WebSocket settings that `engine: uws` does not support. */
function checkWebSocket(
  { document, report }: Inspection,
  { websocket }: RouteDocument,
  path: DocumentPath,
): void {
  if (websocket === undefined || document.listeners.every(({ engine }) => engine !== 'uws')) return
  const place = [...path, 'websocket']
  const remedy = 'use engine: node for the listener; see docs/guides/protocols.md'
  if (websocket.compression === 'pass') {
    const message = 'listeners with engine: uws do not support WebSocket compression'
    report.add({
      path: [...place, 'compression'],
      severity: 'warning',
      rule: 'engine-limits',
      message,
      remedy,
    })
  }
  if (!report.isValid([...place, 'maxMessageBytes'])) return
  if (parseSize(websocket.maxMessageBytes) > parseSize(UWS_MAX_MESSAGE)) {
    const message = `listeners with engine: uws support WebSocket messages of at most ${UWS_MAX_MESSAGE}`
    report.add({
      path: [...place, 'maxMessageBytes'],
      severity: 'warning',
      rule: 'engine-limits',
      message,
      remedy,
    })
  }
}

/** Warns about parameters in the syntax of other routers (`:id`), which is matched literally here. */
function checkColons({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  const name = /^\/(?:.*\/)?:([A-Za-z_]\w*)(?:\/|$)/.exec(match.path ?? '')?.[1]
  const location = [...path, 'match', 'path']
  if (name === undefined || report.referencesAt(location) !== null) return
  const message = `the segment ':${name}' is matched literally`
  const remedy = `write {${name}} to match any segment, and quote the path`
  report.add({ path: location, severity: 'warning', rule: 'likely-typo', message, remedy })
}

/** Methods of the IANA registry that API clients send, and PURGE, which caches use. */
const KNOWN_METHODS: readonly string[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY', 'PURGE'],
  ...['COPY', 'LOCK', 'MKCOL', 'MOVE', 'PROPFIND', 'PROPPATCH', 'REPORT', 'SEARCH', 'UNLOCK', 'ACL', 'BIND'],
  ...['BASELINE-CONTROL', 'CHECKIN', 'CHECKOUT', 'LABEL', 'LINK', 'MERGE', 'MKACTIVITY', 'MKCALENDAR'],
  ...['MKREDIRECTREF', 'MKWORKSPACE', 'ORDERPATCH', 'REBIND', 'UNBIND', 'UNCHECKOUT', 'UNLINK', 'UPDATE'],
  ...['UPDATEREDIRECTREF', 'VERSION-CONTROL'],
]

/**
 * Warns about unknown methods. Any token is allowed (RFC 9110 section 9.1), but an unknown one is usually a
 * typo.
 */
function checkMethods({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  for (const [i, method] of match.methods.entries()) {
    const location = [...path, 'match', 'methods', i]
    if (!report.isValid(location) || KNOWN_METHODS.includes(method.toUpperCase())) continue
    const message = `${report.quote(method, location)} is not a known HTTP method`
    const remedy = suggestion(
      method,
      KNOWN_METHODS,
      `use one such as ${KNOWN_METHODS.slice(0, 6).join(', ')}`,
    )
    report.add({ path: location, severity: 'warning', rule: 'likely-typo', message, remedy })
  }
}

/** Checks that an upstream or API that a route names is defined. */
function checkNamed(
  { whole, report }: Inspection,
  kind: 'upstream' | 'api',
  named: string | undefined,
  path: DocumentPath,
): void {
  const section = `${kind}s`
  const defined = valueAt(whole, [section])
  const names = isMapping(defined) ? Object.keys(defined) : []
  if (named === undefined || names.includes(named)) return
  const location = [...path, kind]
  const message = `there is no ${kind} ${report.quote(named, location)}`
  const remedy = suggestion(named, names, `add it under ${section}.${report.referencesAt(location) ?? named}`)
  report.add({ path: location, message, remedy, presumesAll: true })
}

/** Reports keys that need an upstream. */
function checkProxyKeys({ whole, report }: Inspection, path: DocumentPath): void {
  const route = valueAt(whole, path)
  if (!isMapping(route) || Object.hasOwn(route, 'upstream')) return
  const action = ['respond', 'redirect'].find((key) => Object.hasOwn(route, key))
  for (const key of ['rewrite', 'timeouts', 'websocket']) {
    if (action === undefined || !Object.hasOwn(route, key)) continue
    const message = `${key} has no effect on a route with ${action}`
    report.add({ path: [...path, key], at: 'key', message, remedy: `remove ${key}` })
  }
}

/** Reports header names that differ only in case, which are the same name. */
function checkFields({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  const seen = new Set<string>()
  for (const written of Object.keys(match.headers)) {
    const name = written.toLowerCase()
    if (seen.has(name)) {
      report.add({
        path: [...path, written],
        at: 'key',
        message: `duplicate header '${name}'`,
        remedy: 'keep one',
      })
    }
    seen.add(name)
  }
}

function checkReply({ report }: Inspection, { respond }: RouteDocument, path: DocumentPath): void {
  if (respond === undefined) return
  const location = [...path, 'respond']
  const isBodiless = respond.status === 204 || respond.status === 205 || respond.status === 304
  if (isBodiless && respond.body !== '') {
    const message = 'a response with this status cannot have a body'
    report.add({
      path: [...location, 'body'],
      at: 'key',
      message,
      remedy: 'remove body, or use another status',
    })
  }
  const seen = new Set<string>()
  for (const written of Object.keys(respond.headers)) {
    const name = written.toLowerCase()
    const at = [...location, 'headers', written]
    if (seen.has(name))
      report.add({ path: at, at: 'key', message: `duplicate header '${name}'`, remedy: 'keep one' })
    seen.add(name)
  }
}

/** Warns about placeholders in `respond`, which only policies replace. */
function checkPlaceholders({ report }: Inspection, { respond }: RouteDocument, path: DocumentPath): void {
  for (const key of ['body', 'headers'] as const) {
    const text = JSON.stringify(respond?.[key]) ?? ''
    const name = /\{\{ ?((?:req|client|consumer|jwt)\.\w+)/.exec(text)?.[1]
    if (name === undefined) continue
    const message = `respond does not replace {{${name}}}`
    const remedy = 'use the policy mock or header, which replace placeholders'
    report.add({
      path: [...path, 'respond', key],
      at: 'key',
      severity: 'warning',
      rule: 'likely-typo',
      message,
      remedy,
    })
  }
}

function checkPaths(inspection: Inspection, route: RouteDocument, path: DocumentPath): void {
  const pattern = route.match.path === undefined ? ANY_PATH : parsePathPattern(route.match.path)
  if (isIssue(pattern)) return
  if (pattern.kind !== 'regex' && hasEncodedSlash(pattern.text) && route.encodedSlashes === 'refuse') {
    const message = 'the path contains an escaped slash or backslash, which this route rejects'
    inspection.report.add({
      path: [...path, 'match', 'path'],
      message,
      remedy: 'set encodedSlashes: keep, or change the path',
    })
  }
  const reshaped = route.upstream === undefined ? (['redirect'] as const) : (['rewrite'] as const)
  for (const key of reshaped) {
    const { prefix, path: template } = route[key] ?? {}
    if (prefix !== undefined) checkPrefix(inspection, pattern, [...path, key, 'prefix'])
    if (template !== undefined)
      checkLocations(inspection, { pattern, template, path: [...path, key, 'path'] })
  }
}

function checkPrefix({ report }: Inspection, pattern: PathPlan, path: DocumentPath): void {
  if (pattern.kind === 'prefix') return
  report.add({
    path,
    message: `${path.slice(-2).join('.')} needs a route whose path ends with /*`,
    remedy: 'end match.path with /*, or write path',
  })
}

function checkLocations(
  { report }: Inspection,
  { pattern, template, path }: { pattern: PathPlan; template: string; path: DocumentPath },
): void {
  const names = pattern.segments.flatMap((segment) => (segment.kind === 'param' ? [segment.name] : []))
  for (const name of placeholdersOf(template)) {
    if (names.includes(name)) continue
    const references = report.referencesAt(path)
    const location = references === null ? `{${name}}` : `a placeholder in the value of ${references}`
    const message = `${location} is not in the path of the route`
    report.add({ path, message, remedy: 'use the name of a segment in match.path' })
  }
}

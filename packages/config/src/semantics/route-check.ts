import { hasEncodedSlash, parseSize } from '@sluice/core'
import { type DocumentPath, isMapping, valueAt } from '../document-path.js'
import { isFlaw } from '../flaw.js'
import { ANY_PATH, parsePathPattern, positionsOf } from '../grammar/path-pattern.js'
import type { PathPlan } from '../plan.js'
import type { RouteDocument } from '../schema/document.js'
import { suggestion } from '../spelling.js'
import type { Inspection } from './inspection.js'

/** Reports ids that two routes have. */
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

/** Checks each route by itself: upstreams and APIs that are not there, rewrites and redirects that cannot work. */
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
    if (report.isSound([...path, 'match', 'path'])) checkPaths(inspection, route, path)
  }
}

/** The most of one message that uWebSockets.js collects for us. */
const UWS_MAX_MESSAGE = '1mb'

/** What WebSockets of a route cannot have on listeners of `engine: uws`. */
function checkWebSocket(
  { document, report }: Inspection,
  { websocket }: RouteDocument,
  path: DocumentPath,
): void {
  if (websocket === undefined || document.listeners.every(({ engine }) => engine !== 'uws')) return
  const place = [...path, 'websocket']
  const remedy = 'write engine: node for the listener (docs/guides/protocols.md)'
  if (websocket.compression === 'pass') {
    const message = 'a listener with engine: uws refuses compression of WebSockets all the same'
    report.add({ path: [...place, 'compression'], severity: 'warning', message, remedy })
  }
  if (!report.isSound([...place, 'maxMessage'])) return
  if (parseSize(websocket.maxMessage) > parseSize(UWS_MAX_MESSAGE)) {
    const message = `a listener with engine: uws takes messages up to ${UWS_MAX_MESSAGE} only`
    report.add({ path: [...place, 'maxMessage'], severity: 'warning', message, remedy })
  }
}

/** The notation of other routers is a path here too, and matches nothing that anybody sends. */
function checkColons({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  const name = /^\/(?:.*\/)?:([A-Za-z_]\w*)(?:\/|$)/.exec(match.path ?? '')?.[1]
  const location = [...path, 'match', 'path']
  if (name === undefined || report.referencesAt(location) !== null) return
  const message = `the segment ':${name}' is matched letter by letter`
  const remedy = `write {${name}} for any segment, and quote the path`
  report.add({ path: location, severity: 'warning', message, remedy })
}

/** The methods of the IANA registry that clients of an API send, and PURGE of caches. */
const KNOWN_METHODS: readonly string[] = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY', 'PURGE'],
  ...['COPY', 'LOCK', 'MKCOL', 'MOVE', 'PROPFIND', 'PROPPATCH', 'REPORT', 'SEARCH', 'UNLOCK', 'ACL', 'BIND'],
  ...['BASELINE-CONTROL', 'CHECKIN', 'CHECKOUT', 'LABEL', 'LINK', 'MERGE', 'MKACTIVITY', 'MKCALENDAR'],
  ...['MKREDIRECTREF', 'MKWORKSPACE', 'ORDERPATCH', 'REBIND', 'UNBIND', 'UNCHECKOUT', 'UNLINK', 'UPDATE'],
  ...['UPDATEREDIRECTREF', 'VERSION-CONTROL'],
]

/** Any token may be a method (RFC 9110 section 9.1); one that nobody has heard of is more often a mistake. */
function checkMethods({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  for (const [i, method] of match.methods.entries()) {
    const location = [...path, 'match', 'methods', i]
    if (!report.isSound(location) || KNOWN_METHODS.includes(method.toUpperCase())) continue
    const message = `${report.quote(method, location)} is no method that clients are known to send`
    const remedy = suggestion(
      method,
      KNOWN_METHODS,
      `write one such as ${KNOWN_METHODS.slice(0, 6).join(', ')}`,
    )
    report.add({ path: location, severity: 'warning', message, remedy })
  }
}

/** What a route names has to stand in a section of its own. */
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

/** What only a route with an upstream can do. */
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

/** Header names are compared without case, so two spellings are one name. */
function checkFields({ report }: Inspection, { match }: RouteDocument, path: DocumentPath): void {
  const seen = new Set<string>()
  for (const written of Object.keys(match.headers)) {
    const name = written.toLowerCase()
    if (seen.has(name)) {
      report.add({
        path: [...path, written],
        at: 'key',
        message: `the header '${name}' stands twice`,
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
    const message = 'an answer with this status has no body'
    report.add({
      path: [...location, 'body'],
      at: 'key',
      message,
      remedy: 'remove body, or choose another status',
    })
  }
  const seen = new Set<string>()
  for (const written of Object.keys(respond.headers)) {
    const name = written.toLowerCase()
    const at = [...location, 'headers', written]
    if (seen.has(name))
      report.add({ path: at, at: 'key', message: `the header '${name}' stands twice`, remedy: 'keep one' })
    seen.add(name)
  }
}

/** Policies fill placeholders in; `respond` sends the text as it stands. */
function checkPlaceholders({ report }: Inspection, { respond }: RouteDocument, path: DocumentPath): void {
  for (const key of ['body', 'headers'] as const) {
    const text = JSON.stringify(respond?.[key]) ?? ''
    const name = /\{\{ ?((?:req|client|consumer|jwt)\.\w+)/.exec(text)?.[1]
    if (name === undefined) continue
    const message = `{{${name}}} is sent as it stands by respond`
    const remedy = 'use the policy mock or header, which fill placeholders in'
    report.add({ path: [...path, 'respond', key], at: 'key', severity: 'warning', message, remedy })
  }
}

function checkPaths(inspection: Inspection, route: RouteDocument, path: DocumentPath): void {
  const pattern = route.match.path === undefined ? ANY_PATH : parsePathPattern(route.match.path)
  if (isFlaw(pattern)) return
  if (pattern.kind !== 'regex' && hasEncodedSlash(pattern.text) && route.encodedSlashes === 'refuse') {
    const message = 'the path holds an escaped slash or backslash, and the route refuses those'
    inspection.report.add({
      path: [...path, 'match', 'path'],
      message,
      remedy: 'write encodedSlashes: keep, or another path',
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
  for (const name of positionsOf(template)) {
    if (names.includes(name)) continue
    const references = report.referencesAt(path)
    const location = references === null ? `{${name}}` : `a placeholder in the value of ${references}`
    const message = `${location} is not in the path of the route`
    report.add({ path, message, remedy: 'name a segment of match.path so' })
  }
}

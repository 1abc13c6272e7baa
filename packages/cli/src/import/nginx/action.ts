import { filled } from '../draft.js'
import { escapeRegex, patternOf } from '../patterns.js'
import type { Location, NamedLocations } from './locations.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'
import type { UpstreamMapping } from './upstreams.js'
import { durationOf } from './values.js'

/** Keys of a route that say what happens to a request. */
export interface Action {
  readonly keys: Readonly<Record<string, unknown>>
  /** True if nginx answers before it checks access, as for `return`. */
  readonly isEarly: boolean
  /** Scope whose headers and limits apply. */
  readonly scope: Scope
}

const PASS = /^(https?|grpcs?):\/\/(\[[^\]]*\][^/$]*|[^/$?[]+)(\/[^$]*)?(\$request_uri|\$uri)?$/
/** Longest connect timeout of a document. */
const MAX_CONNECT_MS = 600_000
const GATEWAY_ERROR = { respond: { status: 503, body: { message: 'This location was not imported.' } } }

/** Returns the directive that forwards the requests of a location; it is not inherited from outer blocks. */
export function passOf(scope: Scope): Directive | undefined {
  return scope.own('proxy_pass').at(-1) ?? scope.own('grpc_pass').at(-1)
}

/** Returns the action of a location: `return`, `proxy_pass`, `try_files` or files. */
export function actionOf(location: Location, named: NamedLocations, upstreams: UpstreamMapping): Action {
  const { scope } = location
  const returned = scope.own('return')[0]
  if (returned !== undefined) return { keys: returnKeys(returned, scope), isEarly: true, scope }
  const pass = passOf(scope)
  if (pass !== undefined) return { keys: proxyKeys(pass, location, upstreams), isEarly: false, scope }
  const tried = scope.find('try_files')
  const fallback = named.get(tried?.args.at(-1) ?? '')
  const fallbackPass = fallback === undefined ? undefined : passOf(fallback)
  if (tried !== undefined && fallback !== undefined && fallbackPass !== undefined) {
    scope.use.note(tried, 'files are not served; all requests go to the named location')
    const app: Location = { ...location, scope: fallback }
    return { keys: proxyKeys(fallbackPass, app, upstreams), isEarly: false, scope: fallback }
  }
  return { keys: { respond: { status: fileStatus(location) } }, isEarly: false, scope }
}

/** Reports a location that serves files, and returns the status of its answers. */
function fileStatus({ scope, directive }: Location): number {
  const reason = 'the location serves files or uses a protocol other than HTTP; the route returns 404'
  const at =
    scope.directives.find(({ name }) => /^(fastcgi|uwsgi|scgi|memcached)_pass$/.test(name)) ?? directive
  const isClosed = scope.own('deny').some(({ args }) => args[0] === 'all') && scope.own('allow').length === 0
  if (!isClosed) scope.use.leaveOut(at, reason, 'run a server for it and add an upstream')
  return 404
}

/** Returns the keys for `return CODE [TEXT]`, `return CODE URL` and `return URL`. */
export function returnKeys(directive: Directive, scope: Scope): Readonly<Record<string, unknown>> {
  const { args } = directive
  const code = /^\d{3}$/.test(args[0] ?? '') ? Number(args[0]) : 302
  const rest = scope.resolve(args.slice(/^\d{3}$/.test(args[0] ?? '') ? 1 : 0).join(' '))
  if ([301, 302, 303, 307, 308].includes(code)) {
    const redirect = redirectOf(rest)
    if (redirect !== null) return { redirect: { status: code, ...redirect } }
    scope.use.leaveOut(directive, 'the URL depends on the request in a way that redirect does not support')
    return GATEWAY_ERROR
  }
  if (code === 444) scope.use.note(directive, 'the gateway returns 403 instead of closing the connection')
  const type = scope.value('default_type')
  const status = code === 444 || code < 200 || code > 599 ? 403 : code
  if (rest.includes('$'))
    scope.use.leaveOut(directive, 'the text depends on the request', 'use the policy mock')
  if (rest === '' || rest.includes('$')) return { respond: { status } }
  return { respond: { status, headers: { 'content-type': type ?? 'text/plain' }, body: rest } }
}

/** Returns the redirect for a URL such as `https://$host$request_uri`, or null. */
function redirectOf(url: string): Readonly<Record<string, unknown>> | null {
  const [, scheme, host, port, path = ''] =
    /^(?:(https?|\$scheme):\/\/([A-Za-z0-9.-]+|\$(?:host|http_host|server_name))(?::(\d+))?)?(\/[^$?#]*|\$request_uri|\$uri(?:\$is_args\$args)?)?$/.exec(
      url,
    ) ?? []
  if (scheme === undefined && path === '') return null
  const keepsPath = path === '' || path.startsWith('$')
  if (scheme === undefined && keepsPath) return null
  return {
    ...(scheme !== undefined && scheme !== '$scheme' && { scheme }),
    ...(host !== undefined && !host.startsWith('$') && { host: host.toLowerCase() }),
    ...(port !== undefined && { port: Number(port) }),
    ...(!keepsPath && { path: encodeURI(path), keepQuery: false }),
    ...(path === '' && { path: '/', keepQuery: false }),
  }
}

function proxyKeys(
  pass: Directive,
  location: Location,
  upstreams: UpstreamMapping,
): Readonly<Record<string, unknown>> {
  const { scope } = location
  const refuse = (reason: string): Readonly<Record<string, unknown>> => {
    scope.use.leaveOut(pass, `${reason}; the route returns 503`, 'add an upstream and name it in the route')
    return GATEWAY_ERROR
  }
  const [, scheme = '', host = '', uri] = PASS.exec(scope.resolve(pass.args[0] ?? '')) ?? []
  if (scheme === '') return refuse('the address depends on the request')
  const isSecure = scheme === 'https' || scheme === 'grpcs'
  const found = upstreams.nameFor(
    { scheme: isSecure ? 'https' : 'http', host, isGrpc: scheme.startsWith('grpc') },
    scope,
  )
  if ('reason' in found) return refuse(found.reason)
  const rewrite = { ...pathRewrite(location, uri), ...hostRewrite(host, scope, upstreams.has(host)) }
  const timeouts = timeoutsOf(scope)
  const isWebSocket = scope
    .list('proxy_set_header')
    .some(({ args: [name] }) => name?.toLowerCase() === 'upgrade')
  return {
    rewrite: filled(rewrite),
    upstream: found.name,
    timeouts: filled(timeouts),
    websocket: isWebSocket ? { idleTimeout: timeouts['idle'] ?? '60s' } : undefined,
  }
}

/** Returns the change of the path by the URI of `proxy_pass`, or by `rewrite … break`. */
function pathRewrite(location: Location, uri: string | undefined): Readonly<Record<string, unknown>> {
  const { scope, text, path, kind } = location
  const [rewritten] = scope.own('rewrite')
  if (rewritten !== undefined) {
    const [from = '', to = '', flag] = rewritten.args
    const pattern = patternOf(from, false)
    const isSimple = pattern !== null && flag === 'break' && /^\/[^?]*$/.test(to) && !/\$[^1-9]/.test(to)
    if (isSimple && scope.own('rewrite').length === 1) {
      scope.use.mapped.add(rewritten)
      return { regex: { pattern, replacement: to } }
    }
  }
  if (uri === undefined || kind === 'regex') return {}
  if (!path.startsWith('~') && !path.endsWith('/*')) return uri === text ? {} : { path: encodeURI(uri) }
  if (uri === text) return {}
  if (path.endsWith('/*') && uri.endsWith('/') && text !== '/')
    return { prefix: encodeURI(uri.length > 1 ? uri.slice(0, -1) : uri) }
  return { regex: { pattern: `^${escapeRegex(text)}`, replacement: encodeURI(uri).replaceAll('$', '$$$$') } }
}

/** Returns the Host field for the upstream. nginx sends that of `proxy_pass` unless a header is set. */
function hostRewrite(host: string, scope: Scope, isBlock: boolean): Readonly<Record<string, unknown>> {
  const set = scope.list('proxy_set_header').findLast(({ args: [name] }) => name?.toLowerCase() === 'host')
  const value = set === undefined ? '$proxy_host' : scope.resolve(set.args[1] ?? '')
  if (/^\$\{?(host|http_host)\}?(:\$\{?server_port\}?)?$/.test(value)) return {}
  if (value === '$proxy_host' && !isBlock) return { host: 'upstream' }
  const fixed =
    value === '$proxy_host' ? host : value === '$server_name' ? (scope.value('server_name') ?? '') : value
  if (/^(?!-)[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:\d+)?$/.test(fixed)) return { host: fixed.toLowerCase() }
  const at = set ?? passOf(scope)
  if (at !== undefined)
    scope.use.note(
      at,
      `the upstream gets the host of its target, because the name ${isBlock ? 'of the block ' : ''}is not a valid host`,
    )
  return { host: 'upstream' }
}

function timeoutsOf(scope: Scope): Readonly<Record<string, string>> {
  const connect = durationOf(scope.value('proxy_connect_timeout'), MAX_CONNECT_MS)
  const read = durationOf(scope.value('proxy_read_timeout') ?? scope.value('grpc_read_timeout'))
  scope.use.ask('proxy_send_timeout')
  return { ...(connect !== null && { connect }), ...(read !== null && { headers: read, idle: read }) }
}

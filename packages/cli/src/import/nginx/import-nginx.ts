import { EXIT, Failure } from '../../output/failure.js'
import { DocumentDraft, filled } from '../draft.js'
import type { SourceOptions } from '../import.js'
import { type Access, AccessMapping } from './access.js'
import { actionOf, passOf, returnKeys } from './action.js'
import { conditionalReturns } from './conditional-returns.js'
import { compressOptions, headerOptions } from './headers.js'
import { ConfigReader } from './includes.js'
import { type Location, type NamedLocations, namedLocations, orderedLocations } from './locations.js'
import type { Directive } from './parse.js'
import { DirectiveUse, Scope } from './scope.js'
import {
  addListeners,
  choosePorts,
  clientCaOf,
  type HostGroup,
  hostGroups,
  type PortChoice,
  realIpOf,
  type Server,
  schemeOf,
  serversOf,
} from './servers.js'
import { UpstreamMapping } from './upstreams.js'
import { bytesOf, durationOf, sizeText } from './values.js'

/** Options of an import from nginx. */
export interface NginxOptions extends SourceOptions {
  /** Ports to import; empty: the first port of each scheme. */
  readonly ports: readonly number[]
}

/** Default of `client_max_body_size`, and the value for no limit. */
const DEFAULT_BODY = 1024 ** 2
const NO_LIMIT = 1024 * 1024 ** 3

const NO_ACCESS: Access = { policies: [], unprotected: [] }
/** Parts of a route that answers before nginx checks access. */
const EARLY = { policies: [], unprotected: [], bodyBytes: DEFAULT_BODY }

/** A route before its place in the order of all routes is known. */
interface PlannedRoute {
  readonly server: Server
  readonly location: Location
  readonly keys: Readonly<Record<string, unknown>>
  readonly policies: readonly string[]
  readonly unprotected: readonly string[]
  readonly bodyBytes: number
}

/** Returns a document for nginx configurations. @throws Failure if a file cannot be read or parsed */
export async function importNginx(files: readonly string[], options: NginxOptions): Promise<DocumentDraft> {
  const draft = new DocumentDraft(`Imported from ${files.join(', ')} (nginx).`, options.allowUnprotected)
  const use = new DirectiveUse(draft)
  const reader = new ConfigReader()
  const directives = files.flatMap((file) => reader.read(file))
  for (const one of reader.emptyPatterns) use.note(one, 'no file matches the pattern')
  const top = new Scope(directives, null, use)
  const http = top.inner([...top.own('http').flatMap(({ block }) => block ?? []), ...loose(directives)])
  new Importer(draft, http).addServers(choosePorts(serversOf(http), options.ports))
  use.finish(directives)
  if (draft.routes.length === 0)
    throw new Failure(`${files.join(', ')}: no server that can be imported`, EXIT.invalid)
  return draft
}

/** Returns the directives of files without an `http` block. Locations without a server get one. */
function loose(directives: readonly Directive[]): Directive[] {
  const outside = directives.filter(({ name }) => !['http', 'events', 'stream', 'mail'].includes(name))
  const locations = outside.filter(({ name }) => name === 'location')
  const [first] = locations
  return first === undefined
    ? outside
    : [
        ...outside.filter(({ name }) => name !== 'location'),
        { ...first, name: 'server', args: [], block: locations },
      ]
}

class Importer {
  readonly #draft: DocumentDraft
  readonly #upstreams: UpstreamMapping
  readonly #access: AccessMapping
  readonly #http: Scope
  /** CA for client certificates of the first server that has one. */
  #clientCa: string | undefined
  /** True if the gateway determines the address of clients as nginx does. */
  #knowsAddress = true

  constructor(draft: DocumentDraft, http: Scope) {
    this.#draft = draft
    this.#http = http
    this.#upstreams = new UpstreamMapping(draft, http)
    this.#access = new AccessMapping(draft, http)
  }

  addServers(choice: PortChoice): void {
    this.#knowsAddress = realIpOf(choice).isMapped
    const planned = choice.servers.map((server) => ({ server, routes: this.#plan(server) }))
    const maxBody = planned
      .flatMap(({ routes }) => routes)
      .reduce((most, { bodyBytes }) => Math.max(most, bodyBytes), DEFAULT_BODY)
    const keepAlive = durationOf(this.#http.value('keepalive_timeout'))
    for (const one of this.#http.directives)
      if (one.name === 'map' && one.args[0] === '$http_upgrade') this.#http.use.mapped.add(one)
    this.#http.use.ask('client_header_timeout')
    this.#http.use.ask('client_body_timeout')
    addListeners(this.#draft, choice, {
      bodyBytes: sizeText(maxBody),
      ...(keepAlive !== null && !keepAlive.endsWith('ms') && { keepAlive }),
    })
    const schemes = new Set(choice.listens.map(({ isTls }) => isTls))
    const groups = planned.map((one) => ({ ...one, hosts: hostGroups(one.server, choice) }))
    const isOrdered =
      planned.some(({ routes }) => routes.some(({ location }) => !location.isNative)) ||
      groups.some(({ hosts }) => hosts.some(({ when }) => when !== null))
    for (const { server, routes: all, hosts } of groups)
      for (const group of hosts) {
        const routes =
          group.missing === undefined ? all : [closedRoute(server, wholeOf(server), group.missing)]
        for (const [i, route] of routes.entries())
          this.#add(route, group, {
            priority: isOrdered ? group.base + Math.min(9_000, routes.length - i) : undefined,
            scheme: schemes.size > 1 ? (group.scheme ?? schemeOf(server)) : null,
            maxBody,
          })
      }
  }

  #plan(server: Server): PlannedRoute[] {
    const { scope } = server
    const named = namedLocations(scope)
    const locations = orderedLocations(scope, (one) => passOf(one) !== undefined).filter(
      ({ missing }) => missing === undefined || !this.#draft.allowsUnprotected,
    )
    const whole = wholeOf(server)
    if (scope.own('return').length > 0)
      return [...this.#conditional(server, whole), this.#route(server, whole, named)]
    const hasRoot = locations.some(({ path }) => path === '/*')
    return [
      ...this.#conditional(server, whole),
      ...locations.flatMap((one) => [
        ...(one.missing !== undefined ? [] : this.#conditional(server, one)),
        this.#route(server, one, named),
      ]),
      ...(hasRoot ? [] : [this.#route(server, whole, named)]),
    ]
  }

  /** Returns routes for `if (…) { return … }` of a location or a server. */
  #conditional(server: Server, location: Location): PlannedRoute[] {
    return conditionalReturns(location.scope).map(({ when, directive, scope }) => ({
      server,
      location: { ...location, when: [...location.when, when], isNative: false },
      keys: returnKeys(directive, scope),
      ...EARLY,
    }))
  }

  #route(server: Server, location: Location, named: NamedLocations): PlannedRoute {
    const slash = { redirect: { status: 301, path: `${location.path}/` } }
    if (location.addsSlash === true) return { server, location, keys: slash, ...EARLY }
    if (location.missing !== undefined) return closedRoute(server, location, location.missing)
    const { scope } = location
    const isInternal = scope.own('internal').length > 0
    const action = isInternal
      ? { keys: { respond: { status: 404 } }, isEarly: true, scope }
      : actionOf(location, named, this.#upstreams)
    const { keys, isEarly, scope: acting } = action
    // nginx checks the access to a named location, too.
    const access = isEarly ? [] : [...new Set([scope, acting])].map((one) => this.#access.protect(one))
    const header = headerOptions(acting, 'upstream' in keys)
    const compress = isEarly ? null : compressOptions(acting)
    const limit = bytesOf(scope.value('client_max_body_size')) ?? DEFAULT_BODY
    return {
      server,
      location,
      keys,
      policies: [
        ...access.flatMap((one) => one.policies),
        ...(compress === null ? [] : [this.#draft.addPolicy('gzip', 'compress', compress)]),
        ...(header === null ? [] : [this.#draft.addPolicy('headers', 'header', header)]),
      ],
      unprotected: [
        ...nestedLocations(location),
        ...(acting === scope ? [] : this.#addressRules(acting)),
        ...access.flatMap((one) => one.unprotected),
      ],
      bodyBytes: limit === 0 ? NO_LIMIT : limit,
    }
  }

  /** Returns the protection of a server by client certificates. nginx checks them before anything else. */
  #clientCertificate(server: Server): Access {
    const authority = clientCaOf(server)
    if (authority === null) return NO_ACCESS
    const { file, isRequired } = authority
    this.#clientCa ??= file
    const policies =
      isRequired && file !== undefined
        ? [this.#draft.addPolicy('client-certificate', 'mtls', { idFrom: 'subject' })]
        : []
    if (file !== undefined && file === this.#clientCa) return { policies, unprotected: [] }
    const { use } = server.scope
    const directive = server.scope.find('ssl_verify_client') ?? server.directive
    const reason = 'all servers of a listener share one CA for client certificates'
    const remedy = 'put the certificates into one file, and use issuers of the policy mtls'
    return { policies, unprotected: [use.leaveUnprotected(directive, reason, remedy)] }
  }

  /** Returns the missing protection of a location with rules for an address that the gateway does not know. */
  #addressRules(scope: Scope): readonly string[] {
    const proxies = scope.find('set_real_ip_from')
    if (this.#knowsAddress || proxies === undefined) return []
    const reason = 'the gateway uses one list of proxies for all locations, and X-Forwarded-For'
    const remedy = 'set trustedProxies of the listener, and let the proxies send X-Forwarded-For'
    if (scope.usesAddress()) return [scope.use.leaveUnprotected(proxies, reason, remedy)]
    scope.use.warn(proxies, reason, remedy)
    return []
  }

  #add(
    { server, location, keys, policies, unprotected, bodyBytes }: PlannedRoute,
    group: HostGroup,
    { priority, scheme, maxBody }: RouteOrder,
  ): void {
    const conditions = [
      ...(group.when === null ? [] : [group.when]),
      ...(scheme === null ? [] : [`req.scheme == "${scheme}"`]),
      ...location.when,
    ]
    const maxBytes = sizeText(bodyBytes)
    const limit =
      'upstream' in keys && bodyBytes < maxBody
        ? [this.#draft.addPolicy(`body-${maxBytes}`, 'body-limit', { maxBytes })]
        : []
    const certificate = this.#clientCertificate(server)
    const { file, line, name, args } = location.directive
    this.#draft.addRoute({
      id: `${server.scope.own('server_name')[0]?.args[0] ?? 'default'}-${location.text}`,
      comment: `${file}:${line} ${[name, ...args].join(' ')}`,
      match: {
        hosts: filled(group.hosts),
        path: location.path === '/*' ? undefined : location.path,
        when: conditions.join(' && ') || undefined,
      },
      priority,
      ...keys,
      policies: [...certificate.policies, ...limit, ...policies],
      unprotected: [...certificate.unprotected, ...this.#addressRules(location.scope), ...unprotected],
    })
  }
}

/** Reports the locations in a location, and returns their texts. */
function nestedLocations({ scope, directive }: Location): string[] {
  if (directive.name !== 'location') return []
  const reason = 'locations in locations are not supported'
  const nested = scope.own('location')
  return nested.map((one) => scope.use.leaveUnprotected(one, reason, 'write it next to the other location'))
}

/** Returns the location for all requests of a server. */
function wholeOf({ scope, directive }: Server): Location {
  return { scope, directive, kind: 'prefix', text: '/', path: '/*', when: [], isNative: true }
}

/** Returns a route that takes the requests of a location or server whose pattern RE2 does not support. */
function closedRoute(server: Server, location: Location, missing: string): PlannedRoute {
  const keys = { respond: { status: 503 } }
  return { server, location, keys, policies: [], unprotected: [missing], bodyBytes: DEFAULT_BODY }
}

interface RouteOrder {
  readonly priority: number | undefined
  readonly scheme: 'http' | 'https' | null
  readonly maxBody: number
}

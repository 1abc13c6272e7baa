import { EXIT, Failure } from '../../output/failure.js'
import { type DocumentDraft, filled } from '../draft.js'
import { escapeRegex, patternOf, widenedPattern } from '../patterns.js'
import type { Directive } from './parse.js'
import type { Scope } from './scope.js'
import { ADDRESS } from './values.js'

/** An address on which a server listens. */
interface Listen {
  readonly directive: Directive
  readonly address: string
  readonly port: number
  readonly isTls: boolean
  readonly isDefault: boolean
  readonly options: readonly string[]
}

/** Requests that a server handles by their Host field: some names, a condition, or all others. */
export interface HostGroup {
  readonly hosts: readonly string[]
  readonly when: string | null
  /** Order among the groups of all servers; a higher one is tried first. */
  readonly base: number
  /** Scheme, if the group is for one scheme of a server that has both. */
  readonly scheme?: 'http' | 'https'
  /** Text of the name if the gateway does not support it. The group then has more requests, and must be closed. */
  readonly missing?: string
}

/** A virtual server. */
export interface Server {
  readonly scope: Scope
  readonly directive: Directive
  readonly listens: readonly Listen[]
}

/** Order of exact names, of `*.name` and of patterns. The routes of a server take 9000 places. */
const EXACT = 900_000
const LEADING = 500_000
const PATTERN = 390_000
const STEP = 10_000
const MAX_PATTERNS = 38
const HOST = /^(\*\.)?(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** Returns the servers of a configuration. */
export function serversOf(http: Scope): Server[] {
  const servers = http.own('server').map((directive): Server => {
    const scope = http.inner(directive.block ?? [])
    const ssl = scope.value('ssl') === 'on'
    const written = scope.own('listen')
    const listens = written.length > 0 ? written : [{ ...directive, name: 'listen', args: ['80'] }]
    return { scope, directive, listens: listens.flatMap((one) => listenOf(one, ssl) ?? []) }
  })
  // One `ssl` is enough for all servers of an address.
  const all = servers.flatMap(({ listens }) => listens)
  const isSecure = (address: string): boolean => all.some((one) => one.isTls && one.address === address)
  return servers.map((one) => ({
    ...one,
    listens: one.listens.map((listen) => ({ ...listen, isTls: isSecure(listen.address) })),
  }))
}

function listenOf(directive: Directive, ssl: boolean): Listen | null {
  const [text = '', ...options] = directive.args
  const [, host = '*', digits] = /^(?:(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.*-]+):)?(\d{1,5})$/.exec(text) ?? [
    null,
    text,
    '80',
  ]
  if (text.startsWith('unix:') || Number(digits) > 65535) return null
  const name = host === 'localhost' ? '127.0.0.1' : host
  const address = `${name === '0.0.0.0' ? '*' : name}:${Number(digits)}`
  const isDefault = options.includes('default_server') || options.includes('default')
  const isTls = ssl || options.includes('ssl')
  return { directive, address, port: Number(digits), isTls, isDefault, options }
}

/** The servers of one document: a gateway has the same routes on all ports. */
export interface PortChoice {
  readonly servers: readonly Server[]
  readonly listens: readonly Listen[]
}

/**
 * Chooses the addresses of the document. Routes do not depend on the address, only on the scheme. Servers on other
 * addresses would be reachable on all of them, so they are left out.
 * @param wanted ports to import, or an empty list to choose the first of each scheme
 */
export function choosePorts(servers: readonly Server[], wanted: readonly number[]): PortChoice {
  const serversOn = (address: string): string =>
    [ownerOf(address, servers), ...servers.filter((one) => listensOn(one, address))]
      .map((one) => servers.indexOf(one!))
      .join()
  const chosen = new Set<string>()
  for (const isTls of [false, true]) {
    const all = servers
      .flatMap(({ listens }) => listens)
      .filter((one) => one.isTls === isTls && (wanted.length === 0 || wanted.includes(one.port)))
    const first = all.find(({ port }) => port === (isTls ? 443 : 80)) ?? all[0]
    for (const { address } of all)
      if (first !== undefined && serversOn(address) === serversOn(first.address)) chosen.add(address)
  }
  const kept: Server[] = []
  for (const server of servers) {
    const listens = server.listens.filter(({ address }) => chosen.has(address))
    if (listens.length > 0) kept.push({ ...server, listens })
    const reason =
      'the server listens on another port or address, and a gateway has the same routes on all of them'
    const remedy = 'import it into a second document with --port, or from a file of its own'
    for (const { directive, address } of server.listens)
      if (!chosen.has(address)) server.scope.use.leaveOut(directive, reason, remedy)
    if (listens.length === 0) server.scope.use.skip(server.directive)
  }
  return { servers: kept, listens: kept.flatMap(({ listens }) => listens) }
}

function listensOn({ listens }: Server, address: string): boolean {
  return listens.some((one) => one.address === address)
}

/** Returns the default server of an address. */
function ownerOf(address: string, servers: readonly Server[]): Server | undefined {
  const isDefault = ({ listens }: Server): boolean =>
    listens.some((one) => one.address === address && one.isDefault)
  return servers.find(isDefault) ?? servers.find((one) => listensOn(one, address))
}

/**
 * Returns the groups of hosts of a server, in the order of nginx: exact names, `*.example.org` with the longest
 * first, names that end with `*` and regular expressions, and all others for the default server.
 */
export function hostGroups(server: Server, { servers }: PortChoice): HostGroup[] {
  const groups = ownGroups(server, servers)
  const [scheme, ...others] = defaultSchemes(server, servers)
  if (scheme === undefined) return groups
  const isPartial = others.length === 0 && schemeOf(server) === null
  const rest: HostGroup = { hosts: [], when: null, base: 0, ...(isPartial && { scheme }) }
  // All names end up here anyway, unless a pattern of another server matches them.
  const hasPatterns = servers.some(
    (one) => one !== server && namedGroups(one).some(({ base }) => base < EXACT),
  )
  return isPartial || hasPatterns ? [...groups, rest] : [rest]
}

function namedGroups({ scope, directive }: Server, servers: readonly Server[] = []): HostGroup[] {
  const names = namesOf(scope)
  const all = names.flatMap((name) => (name.startsWith('.') ? [name.slice(1), `*${name}`] : [name]))
  const exact = all.filter((name) => HOST.test(name) && !name.startsWith('*.') && name !== '_')
  const groups: HostGroup[] =
    exact.length > 0 ? [{ hosts: [...new Set(exact)], when: null, base: EXACT }] : []
  for (const name of all.filter((one) => HOST.test(one) && one.startsWith('*.')))
    groups.push({ hosts: [name], when: null, base: LEADING + Math.min(39, name.split('.').length) * STEP })
  // nginx uses the first pattern of all servers that matches, after names that end with `*`, of which the longest wins.
  const patterns = [...new Set(servers.flatMap((one) => namesOf(one.scope).filter(isPattern)))].sort(
    (a, b) => trailingLength(b) - trailingLength(a),
  )
  if (patterns.length > MAX_PATTERNS)
    throw new Failure(
      `more than ${MAX_PATTERNS} patterns in server_name; import the servers in parts`,
      EXIT.invalid,
    )
  for (const name of names.filter(isPattern)) {
    const known = hostPattern(name, patternOf)
    const at = scope.own('server_name')[0] ?? directive
    const reason = 'the gateway does not support a name, and a route for more hosts stands for it'
    const remedy = 'write names without variables, look-around and back references'
    const missing = known === null ? scope.use.leaveUnprotected(at, reason, remedy) : undefined
    if (missing !== undefined && scope.use.allowsUnprotected) continue
    groups.push({
      hosts: [],
      when: `req.host.matches(${JSON.stringify(known ?? hostPattern(name, widenedPattern) ?? '^')})`,
      base: PATTERN - patterns.indexOf(name) * STEP,
      ...(missing !== undefined && { missing }),
    })
  }
  return groups
}

/** Returns the length of a name that ends with `*`, or 0 for others. */
function trailingLength(name: string): number {
  return name.startsWith('~') || !name.endsWith('.*') ? 0 : name.length
}

/** Returns the pattern of a name such as `~^a` or `www.*`, or null if there is none. */
function hostPattern(name: string, pattern: typeof patternOf): string | null {
  if (name.startsWith('~')) return pattern(name.slice(1), true)
  return name.includes('$') ? null : `^${escapeRegex(name.slice(0, -1).toLowerCase())}`
}

/** Returns the groups of a server without the names of earlier servers on the same address, as nginx ignores them. */
function ownGroups(server: Server, servers: readonly Server[]): HostGroup[] {
  const earlier = servers
    .slice(0, servers.indexOf(server))
    .map((one) => ({ one, names: new Set(namedGroups(one).flatMap(({ hosts, when }) => when ?? hosts)) }))
  const free = (name: string): readonly Listen[] =>
    server.listens.filter(
      ({ address }) => !earlier.some(({ one, names }) => names.has(name) && listensOn(one, address)),
    )
  return namedGroups(server, servers).flatMap((group) => {
    const keys = group.when === null ? group.hosts : [group.when]
    const whole = keys.filter((name) => free(name).length === server.listens.length)
    const partial = keys.filter((name) => !whole.includes(name) && free(name).length > 0)
    const at = server.scope.find('server_name') ?? server.directive
    const reason = 'an earlier server has the same name, and nginx uses that one'
    if (whole.length < keys.length) server.scope.use.warn(at, reason, 'remove the name here')
    const part = (names: readonly string[]): HostGroup => ({
      ...group,
      hosts: group.when === null ? names : [],
    })
    const rest = partial.map((name) => ({ ...part([name]), scheme: schemeName(free(name)[0]!) }))
    return whole.length > 0 ? [part(whole), ...rest] : rest
  })
}

function namesOf(scope: Scope): string[] {
  // Letters of patterns such as `\D` and `\d` differ.
  return scope
    .own('server_name')
    .flatMap(({ args }) => args.map((name) => (isPattern(name) ? name : name.toLowerCase())))
}

/** True for a name with a pattern or a variable. */
function isPattern(name: string): boolean {
  return name.startsWith('~') || name.includes('$') || name.endsWith('.*')
}

/** Returns the schemes for which a server handles requests with unknown hosts. */
function defaultSchemes(server: Server, servers: readonly Server[]): Set<'http' | 'https'> {
  return new Set(server.listens.filter(({ address }) => ownerOf(address, servers) === server).map(schemeName))
}

/** Returns the only scheme of a server, or null if it has both. */
export function schemeOf({ listens }: Server): 'http' | 'https' | null {
  const [scheme = 'http', ...others] = new Set(listens.map(schemeName))
  return others.length > 0 ? null : scheme
}

function schemeName({ isTls }: Listen): 'http' | 'https' {
  return isTls ? 'https' : 'http'
}

/** Adds the listeners for the addresses of servers, with the certificates of the servers. */
export function addListeners(draft: DocumentDraft, choice: PortChoice, limits: object): void {
  const { servers, listens } = choice
  const { proxies, isMapped } = realIpOf(choice)
  for (const address of new Set(listens.map((one) => one.address))) {
    const group = listens.filter((one) => one.address === address)
    const first = group.find(({ isDefault }) => isDefault) ?? group[0]!
    const owners = servers.filter((one) => one.listens.some((listen) => listen.address === address))
    const has = (option: string): boolean => group.some(({ options }) => options.includes(option))
    const isHttp2 = has('http2') || owners.some(({ scope }) => scope.value('http2') === 'on')
    draft.listeners.push({
      address,
      engine: 'node',
      // nginx forwards the path as received.
      paths: 'as-received',
      tls: first.isTls ? tlsOf(owners) : undefined,
      http2: isHttp2 && first.isTls ? {} : undefined,
      trustedProxies: isMapped || has('proxy_protocol') ? filled(proxies) : undefined,
      proxyProtocol: has('proxy_protocol') || undefined,
      limits,
    })
  }
}

/** Proxies that report the address of clients. */
interface RealIp {
  readonly proxies: readonly string[]
  /** True if the gateway determines the address as all servers and locations do. */
  readonly isMapped: boolean
}

/** Returns the proxies of the first server. The gateway knows one list, and the header X-Forwarded-For. */
export function realIpOf({ servers, listens }: PortChoice): RealIp {
  const all = servers.flatMap(({ scope }) => scopesIn(scope)).map(realIpSettings)
  const [first = { proxies: [], header: '' }] = all
  const proxies = first.proxies.filter((one) => !one.includes('unix'))
  const isEqual = all.every((one) => JSON.stringify(one) === JSON.stringify(first))
  const isKnown = listens.every(({ options }) =>
    options.includes('proxy_protocol')
      ? first.header === 'proxy_protocol'
      : first.header === 'x-forwarded-for',
  )
  const [range] = proxies.length > 0 ? servers.map(({ scope }) => scope.find('set_real_ip_from')) : []
  if (range !== undefined && servers[0]!.scope.value('real_ip_recursive') !== 'on')
    servers[0]!.scope.use.note(
      range,
      'addresses of proxies in X-Forwarded-For are skipped (real_ip_recursive on)',
    )
  const areRanges = proxies.every((one) => ADDRESS.test(one))
  return {
    proxies: areRanges ? [...new Set(proxies)] : [],
    isMapped: isEqual && (first.proxies.length === 0 || (isKnown && areRanges)),
  }
}

function realIpSettings(scope: Scope): { readonly proxies: readonly string[]; readonly header: string } {
  scope.use.ask('real_ip_recursive')
  const proxies = scope.list('set_real_ip_from').map(({ args: [range = ''] }) => range)
  // Without proxies, the header has no effect.
  const header = scope.value('real_ip_header')?.toLowerCase() ?? 'x-real-ip'
  return { proxies, header: proxies.length === 0 ? '' : header }
}

function scopesIn(scope: Scope): Scope[] {
  const inner = scope.directives.filter(({ name }) => name === 'location')
  return [scope, ...inner.flatMap(({ block }) => scopesIn(scope.inner(block ?? [])))]
}

function tlsOf(servers: readonly Server[]): object {
  const pairs = servers.map((one) => ({
    certFile: one.scope.value('ssl_certificate') ?? '',
    keyFile: one.scope.value('ssl_certificate_key') ?? '',
    serverNames: filled(namedGroups(one).flatMap(({ hosts }) => hosts)),
  }))
  const [first, ...others] = pairs.filter(
    ({ certFile, keyFile }, i) =>
      certFile !== '' && keyFile !== '' && pairs.findIndex((one) => one.certFile === certFile) === i,
  )
  const versions = servers[0]!.scope.find('ssl_protocols')?.args ?? []
  const authorities = servers.map(clientCaOf)
  const clientCaFile = authorities.find((one) => one?.file !== undefined)?.file
  const isRequired = authorities.every((one) => one?.isRequired)
  return {
    certFile: first?.certFile ?? 'cert.pem',
    keyFile: first?.keyFile ?? 'key.pem',
    minVersion: versions.join() === 'TLSv1.3' ? 'TLSv1.3' : undefined,
    clientCaFile,
    clientCertificate: clientCaFile === undefined ? undefined : isRequired ? 'required' : 'optional',
    certificates: filled(others),
  }
}

/** Returns the mode of client certificates of a server and its CA, or null if it asks for none. */
export function clientCaOf(server: Server): { readonly file?: string; readonly isRequired: boolean } | null {
  const { scope, listens } = server
  const mode = scope.value('ssl_verify_client')
  const file = scope.value('ssl_client_certificate') ?? scope.value('ssl_trusted_certificate')
  scope.use.ask('ssl_verify_depth')
  const isAsked = (mode === 'on' || mode === 'optional') && listens.some(({ isTls }) => isTls)
  return isAsked ? { ...(file !== undefined && { file }), isRequired: mode === 'on' } : null
}

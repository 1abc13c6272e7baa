import { EXIT, Failure } from '../../output/failure.js'
import { DocumentDraft, filled } from '../draft.js'
import type { SourceOptions } from '../import.js'
import { SourceObject } from '../source-object.js'
import { SourceTree } from '../source-tree.js'

type Options = Readonly<Record<string, unknown>>
interface Protection {
  readonly policies: string[]
  readonly unprotected: string[]
}

/** Namespaces of extra_config by their names in version 2. */
const NAMES: Readonly<Record<string, string>> = {
  'github.com/devopsfaith/krakend-ratelimit/juju/router': 'qos/ratelimit/router',
  'github.com/devopsfaith/krakend-ratelimit/juju/proxy': 'qos/ratelimit/proxy',
  'github.com/devopsfaith/krakend-jose/validator': 'auth/validator',
  'github.com/devopsfaith/krakend-cors': 'security/cors',
  'github.com/devopsfaith/krakend-circuitbreaker/gobreaker': 'qos/circuit-breaker',
  'github.com/devopsfaith/krakend-httpcache': 'qos/http-cache',
}
const HARMLESS =
  /^(telemetry\/|router$|documentation\/|proxy$|backend\/http$|grpc|github_com\/letgoapp|github.com\/devopsfaith\/krakend-(gologging|metrics|opencensus))/
const REMEDIES: Readonly<Record<string, string>> = {
  'auth/basic': 'use the policy basic-auth',
  'auth/api-keys': 'use the policy api-key',
  'auth/client-credentials': 'use the policy backend-auth',
  'auth/signer': 'use the policy jws',
  'validation/json-schema': 'use the policy json-schema',
  'validation/cel': 'use authorize with when, or match.when',
}

/** Returns a document for configurations of KrakenD 1 and 2 (versions 2 and 3 of the format). */
export async function importKrakend(
  files: readonly string[],
  options: SourceOptions,
): Promise<DocumentDraft> {
  const draft = new DocumentDraft(`Imported from ${files.join(', ')} (KrakenD).`, options.allowUnprotected)
  for (const file of files) {
    const tree = new SourceTree(file)
    addConfiguration(draft, new SourceObject(draft, tree, [], tree.value))
  }
  if (draft.routes.length === 0)
    throw new Failure(`${files.join(', ')}: no endpoint that can be imported`, EXIT.invalid)
  return draft
}

function addConfiguration(draft: DocumentDraft, root: SourceObject): void {
  const port = root.number('port') ?? 8080
  const tls = root.object('tls')
  const [certFile, keyFile] = [tls.text('public_key'), tls.text('private_key')]
  const keys = certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined
  if (draft.listeners.length === 0) draft.listeners.push({ address: `*:${port}`, engine: 'node', tls: keys })
  const hosts = root.texts('host')
  const timeout = root.text('timeout')
  const shared = extraConfig(root)
  const remedy = 'set clientCaFile of the listener and use the policy mtls'
  if (tls.take('enable_mtls') === true)
    shared.unprotected.push(tls.unprotected('enable_mtls', 'client certificates are not mapped', remedy))
  root.ignore(
    'version $schema name cache_ttl output_encoding read_timeout write_timeout idle_timeout read_header_timeout dialer_timeout debug_endpoint echo_endpoint disable_rest sequential_start max_idle_connections max_idle_connections_per_host idle_connection_timeout listen_ip endpoints disable_keep_alives plugin',
  )
  for (const endpoint of root.objects('endpoints')) addEndpoint(draft, endpoint, { hosts, timeout, shared })
  root.finish()
}

interface Shared {
  readonly hosts: readonly string[]
  readonly timeout: string | undefined
  readonly shared: Protection
}

function addEndpoint(draft: DocumentDraft, endpoint: SourceObject, { hosts, timeout, shared }: Shared): void {
  const path = endpoint.text('endpoint') ?? '/'
  const method = (endpoint.text('method') ?? 'GET').toUpperCase()
  const own = extraConfig(endpoint)
  const backends = endpoint.objects('backend')
  const limit = endpoint.text('timeout') ?? timeout
  endpoint.ignore('output_encoding concurrent_calls cache_ttl')
  const headers = [...endpoint.texts('input_headers'), ...endpoint.texts('headers_to_pass')]
  const query = [...endpoint.texts('input_query_strings'), ...endpoint.texts('querystring_params')]
  if (!headers.includes('*') || !query.includes('*'))
    endpoint.note(
      'input_headers, input_query_strings',
      'the gateway forwards all headers and parameters, KrakenD only those listed',
      'use the policy header with remove',
    )
  endpoint.finish()
  const pattern = path.replaceAll(/:(\w+)/g, '{$1}').replaceAll(/\{([^}]*)\}/g, parameterOf)
  const [backend, ...others] = backends.map((one) => backendRoute(one, { hosts, path: pattern, method }))
  const isMerged = backend === undefined || others.length > 0
  const isProxied = !isMerged && 'upstream' in backend.keys
  const reason = 'responses of several backends are not merged; the route answers 501'
  if (isMerged) endpoint.leaveOut('backend', reason, 'use the policy api-call, or a service that merges them')
  draft.addRoute({
    id: `${method.toLowerCase()}-${path}`,
    comment: `${endpoint.place()} endpoint ${path}`,
    match: { path: pattern, methods: [method] },
    ...(isMerged ? { respond: { status: 501 } } : backend.keys),
    ...(isProxied && limit !== undefined && /^\d+(ms|s|m|h)$/.test(limit) && { timeouts: { total: limit } }),
    policies: [...shared.policies, ...own.policies, ...(backend?.policies ?? [])],
    unprotected: [...shared.unprotected, ...own.unprotected, ...(backend?.unprotected ?? [])],
  })
}

interface BackendUse {
  readonly hosts: readonly string[]
  readonly path: string
  readonly method: string
}

/** Returns the keys of a route to a backend. */
function backendRoute(
  backend: SourceObject,
  { hosts, path, method }: BackendUse,
): Protection & { readonly keys: Options } {
  const { draft } = backend
  const own = backend.texts('host')
  const urls = (own.length > 0 ? own : hosts)
    .map((one) => (one.includes('://') ? one : `http://${one}`))
    .filter((one) => URL.canParse(one))
  const template = (backend.text('url_pattern') ?? path).replace(/^(?!\/)/, '/')
  const { breaker, policies, unprotected } = extraConfig(backend)
  backend.ignore('encoding sd sd_scheme disable_host_sanitize is_collection')
  if ((backend.text('method') ?? method).toUpperCase() !== method)
    backend.leaveOut('method', 'the method is forwarded unchanged', 'use the policy script')
  const hides = 'fields of responses are not removed'
  for (const key of ['allow', 'deny', 'whitelist', 'blacklist'])
    if (backend.texts(key).length > 0)
      unprotected.push(backend.unprotected(key, hides, 'use the policy transform or redact'))
  for (const key of ['mapping', 'group', 'target'])
    backend.leaveOut(key, 'responses are not changed', 'use the policy transform')
  backend.finish()
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  const isTemplate =
    /^[^?$\s]*$/.test(template) &&
    [...template.matchAll(/\{([^}]*)\}/g)].every(([, name]) => parameters.includes(name))
  if (urls.length === 0 || !isTemplate) {
    const reason = 'the host, or a variable of the path, is not known; the route returns 503'
    backend.leaveOut('url_pattern', reason, 'use rewrite, header or script')
    return { keys: { respond: { status: 503 } }, policies, unprotected }
  }
  const upstream = draft.addUpstream(new URL(urls[0]!).hostname, {
    targets: [...new Set(urls.map((one) => new URL(one).origin))],
    ...breaker,
  })
  return { keys: { rewrite: { path: template, host: 'upstream' }, upstream }, policies, unprotected }
}

/** Returns a parameter with a valid name. */
function parameterOf(_: string, name: string): string {
  return `{${name.replaceAll(/\W+/g, '_').replaceAll(/^_+|_+$/g, '')}}`
}

/** Maps `extra_config` of the configuration, an endpoint or a backend. */
function extraConfig(owner: SourceObject): Protection & { readonly breaker: Options } {
  const { draft } = owner
  const extra = owner.object('extra_config')
  const policies: string[] = []
  const unprotected: string[] = []
  let breaker: Options = {}
  for (const key of extra.keys()) {
    const name = NAMES[key] ?? key
    const config = extra.object(key)
    const mapped = policyOf(name, config)
    if (name === 'qos/circuit-breaker') {
      const [window, openFor] = [config.number('interval') ?? 60, config.number('timeout') ?? 10]
      const minRequests = Math.max(1, config.number('max_errors') ?? config.number('maxErrors') ?? 1)
      breaker = { breaker: { window: `${window}s`, openFor: `${openFor}s`, minRequests } }
      config.ignore('log_status_change logStatusChange name')
    } else if (typeof mapped !== 'string') {
      for (const [use, options] of mapped) {
        const place = use === 'rate-limit' ? owner.place() : ''
        policies.push(draft.addPolicy(name.replaceAll('/', '-'), use, options, place))
      }
      config.finish()
    } else if (HARMLESS.test(name)) extra.leaveOut(key, 'it is not mapped', 'use log, metrics or tracing')
    else {
      const remedy = REMEDIES[name] ?? 'look for a policy with gw policy list'
      unprotected.push(config.unprotected(name, mapped, remedy))
    }
  }
  return { policies, unprotected, breaker }
}

function policyOf(name: string, config: SourceObject): (readonly [string, Options])[] | string {
  if (name === 'qos/ratelimit/router' || name === 'qos/ratelimit/service') return rateLimits(config)
  if (name === 'auth/validator') return tokens(config)
  if (name === 'qos/http-cache') return [['response-cache', {}]]
  if (name === 'security/cors') {
    const origins = config.texts('allow_origins')
    const isAny = origins.length === 0 || origins.includes('*')
    config.ignore('debug allow_credentials max_age')
    const cors = {
      origins: isAny ? ['*'] : origins,
      methods: filled(config.texts('allow_methods')),
      headers: filled(config.texts('allow_headers')),
      exposedHeaders: filled(config.texts('expose_headers')),
      credentials: (!isAny && config.take('allow_credentials') === true) || undefined,
    }
    return [['cors', cors]]
  }
  return 'it is not mapped'
}

function rateLimits(config: SourceObject): (readonly [string, Options])[] | string {
  const unit = { '1s': 's', s: 's', '1m': 'm', '60s': 'm', '1h': 'h', '24h': 'd' }[
    config.text('every') ?? '1s'
  ]
  const all = config.number('max_rate') ?? config.number('maxRate') ?? 0
  const client = config.number('client_max_rate') ?? config.number('clientMaxRate') ?? 0
  const strategy = config.text('strategy')
  const key = config.text('key')
  config.ignore('capacity client_capacity cleanup_period cleanup_threads num_shards')
  if (unit === undefined || !Number.isInteger(all) || !Number.isInteger(client))
    return 'the rate is not a whole number per second, minute, hour or day'
  const by = strategy === 'header' ? `req.header[${JSON.stringify((key ?? '').toLowerCase())}]` : 'client.ip'
  const policies: (readonly [string, Options])[] = []
  if (all > 0) policies.push(['rate-limit', { limit: `${all}/${unit}`, key: '"all"' }])
  if (client > 0) policies.push(['rate-limit', { limit: `${client}/${unit}`, key: by }])
  return policies.length === 0 ? 'it has no limit' : policies
}

function tokens(config: SourceObject): (readonly [string, Options])[] | string {
  const url = config.text('jwk_url') ?? config.text('jwk-url')
  const algorithm = config.text('alg') ?? 'RS256'
  const audiences = config.texts('audience')
  const issuer = config.text('issuer')
  const scopes = config.texts('scopes')
  const roles = config.texts('roles')
  const rolesClaim = config.text('roles_key')
  config.ignore(
    'cache cache_duration disable_jwk_security operation_debug roles_key_is_nested scopes_key scopes_matcher jwk_fingerprints cipher_suites',
  )
  for (const name of ['propagate_claims', 'cookie_key', 'auth_header_name'])
    config.leaveOut(name, 'it is not mapped', 'use forwardClaims, tokenFrom or name of jwt')
  if (url === undefined || !/^https?:\/\//.test(url)) return 'the keys have no address'
  if (config.text('scopes_matcher') === 'any' && scopes.length > 1) return 'one of several scopes is enough'
  const jwt = {
    jwks: { url, issuer },
    algorithms: [algorithm],
    audiences: filled(audiences),
    issuers: issuer === undefined ? undefined : [issuer],
    requiredScopes: filled(scopes),
    rolesClaim,
  }
  if (roles.length === 0) return [['jwt', jwt]]
  return [
    ['jwt', { ...jwt, rolesClaim: rolesClaim ?? 'roles' }],
    ['authorize', { allow: [{ roles }] }],
  ]
}

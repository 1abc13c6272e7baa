import { CONSUMERS, filled } from '../draft.js'
import type { SourceObject } from '../source-object.js'
import type { KongConsumers } from './consumers.js'

/** Keys of a route that plugins change, and protections that were not mapped. */
export interface PluginResult {
  readonly policies: string[]
  readonly unprotected: string[]
  respond?: Readonly<Record<string, unknown>>
}

type Options = Readonly<Record<string, unknown>>
/** Returns the options of a policy, or the reason why the plugin cannot be mapped. */
type Mapping = (config: SourceObject, use: PluginUse) => readonly [string, Options] | string

/** Other plugins of the route, and all consumers. */
interface PluginUse {
  readonly names: ReadonlySet<string>
  readonly consumers: KongConsumers
}

const AUTHENTICATION = ['key-auth', 'basic-auth', 'jwt']
const NO_PROTECTION =
  /^(prometheus|datadog|statsd|zipkin|opentelemetry|loggly|.*-log|syslog|session|http2|grpc-.*|canary|forward-proxy|exit-transformer|request-termination)$/
const REMEDIES: Readonly<Record<string, string>> = {
  'bot-detection': 'use a route with when: req.header["user-agent"].matches(…)',
  'openid-connect': 'use the policy oidc or jwt',
  oauth2: 'use the policy oauth2-introspection or jwt',
  'ldap-auth': 'use the policy ldap',
  'hmac-auth': 'use the policy http-signature or hmac-signature',
  'mtls-auth': 'use the policy mtls',
  'request-validator': 'use the policy json-schema or openapi',
  opa: 'use the policy forward-auth',
  'rate-limiting-advanced': 'use the policy rate-limit or quota',
}

/** Returns the policies for the plugins of a route, by name. */
export function mapPlugins(
  plugins: ReadonlyMap<string, SourceObject>,
  consumers: KongConsumers,
): PluginResult {
  const result: PluginResult = { policies: [], unprotected: [] }
  const use = { names: new Set(plugins.keys()), consumers }
  for (const name of new Set([...Object.keys(MAPPINGS), ...plugins.keys()])) {
    const plugin = plugins.get(name)
    if (plugin === undefined) continue
    const config = plugin.object('config')
    if (name === 'request-termination') {
      const message = config.text('message') ?? 'Service unavailable'
      result.respond = {
        status: config.number('status_code') ?? 503,
        body: config.text('body') ?? { message },
      }
      continue
    }
    const mapping = Object.hasOwn(MAPPINGS, name) ? MAPPINGS[name]! : () => 'the plugin is not mapped'
    const mapped = mapping(config, use)
    if (typeof mapped !== 'string') {
      const owner = name === 'rate-limiting' ? plugin.place() : ''
      result.policies.push(plugin.draft.addPolicy(name, ...mapped, owner))
      config.finish()
    } else if (NO_PROTECTION.test(name))
      plugin.leaveOut('name', `${name}: ${mapped}`, 'use log, metrics, tracing or the policy script')
    else {
      const remedy = REMEDIES[name] ?? 'look for a policy with gw policy list'
      result.unprotected.push(plugin.unprotected(`plugin ${name}`, mapped, remedy))
    }
  }
  return result
}

/** Returns the protections of single consumers that a route with authentication lacks. */
export function consumerPlugins(
  forConsumers: readonly SourceObject[],
  plugins: ReadonlyMap<string, SourceObject>,
  refers: (plugin: SourceObject, owner: 'service' | 'route') => boolean,
): string[] {
  if (!AUTHENTICATION.some((name) => plugins.has(name))) return []
  return forConsumers.flatMap((one) => {
    const name = one.text('name') ?? ''
    const isOther = (['service', 'route'] as const).some(
      (owner) => one.take(owner) !== undefined && !refers(one, owner),
    )
    if (isOther || NO_PROTECTION.test(name) || one.take('enabled') === false) return []
    const remedy = 'use when: consumer.id == … on a policy'
    return [one.unprotected(`plugin ${name} of a consumer`, 'plugins of consumers are not mapped', remedy)]
  })
}

/** Plugins in the order in which Kong runs them. The import maps no others. */
const MAPPINGS: Readonly<Record<string, Mapping>> = {
  'correlation-id': (config) => [
    'request-id',
    {
      header: (config.text('header_name') ?? 'kong-request-id').toLowerCase(),
      format: config.text('generator') === 'uuid' ? 'uuid-v4' : 'request-id',
      trustIncoming: true,
      echo: config.take('echo_downstream') === true,
    },
  ],
  cors: (config) => {
    const origins = config.texts('origins')
    const isAny = origins.length === 0 || origins.includes('*')
    const credentials = config.take('credentials') === true
    const maxAge = config.number('max_age')
    if (isAny && credentials)
      config.leaveOut('credentials', 'credentials are not sent to every origin', 'list the origins')
    config.leaveOut('preflight_continue', 'the gateway answers preflights')
    return [
      'cors',
      {
        origins: isAny ? ['*'] : origins.map((one) => (/^https?:\/\/[\w.:-]+$/.test(one) ? one : `~${one}`)),
        methods: filled(config.texts('methods')),
        headers: filled(config.texts('headers')),
        exposedHeaders: filled(config.texts('exposed_headers')),
        ...(credentials && !isAny && { credentials }),
        ...(maxAge !== undefined && { maxAge: `${maxAge}s` }),
      },
    ]
  },
  'ip-restriction': (config) => {
    const allow = [...config.texts('allow'), ...config.texts('whitelist')]
    const deny = [...config.texts('deny'), ...config.texts('blacklist')]
    config.ignore('status message')
    if (allow.length + deny.length === 0) return 'it lists no addresses'
    return ['ip-filter', { allow: filled(allow), deny: filled(deny) }]
  },
  'key-auth': (config) => {
    const [name = 'apikey', ...others] = config.texts('key_names')
    if (others.length > 0) config.leaveOut('key_names', `only the name ${name} is accepted`)
    config.ignore('run_on_preflight realm')
    config.leaveOut('key_in_body', 'keys in bodies are not accepted')
    config.leaveOut('anonymous', 'callers without a key are refused')
    const isQuery = config.take('key_in_header') === false && config.take('key_in_query') !== false
    const strip = config.take('hide_credentials') === true
    return ['api-key', { in: isQuery ? 'query' : 'header', name, consumers: CONSUMERS, strip }]
  },
  'basic-auth': (config) => {
    config.leaveOut('anonymous', 'callers without a password are refused')
    config.ignore('realm')
    const stripCredentials = config.take('hide_credentials') === true
    return ['basic-auth', { consumers: CONSUMERS, stripCredentials }]
  },
  jwt: (config, { consumers }) => {
    const claim = config.text('key_claim_name') ?? 'iss'
    const keys = consumers.jwtKeys(config.take('secret_is_base64') === true)
    const requireExpiry = config.texts('claims_to_verify').includes('exp')
    config.ignore('uri_param_names header_names run_on_preflight cookie_names maximum_expiration')
    config.leaveOut('anonymous', 'callers without a token are refused')
    if (keys.length === 0) return 'no consumer has a key for tokens'
    if (claim !== 'iss') return `keys are chosen by the claim ${claim}; only iss is mapped`
    const algorithms = [...new Set(keys.flatMap((key) => key.algorithms))]
    return ['jwt', { keys, algorithms, consumerClaim: claim, requireExpiry, strip: false }]
  },
  acl: (config, { names }) => {
    const groups = [...config.texts('allow'), ...config.texts('whitelist')]
    const denied = [...config.texts('deny'), ...config.texts('blacklist')]
    config.ignore('hide_groups_header always_use_authenticated_groups')
    if (names.has('jwt')) return 'groups of consumers are not known for tokens'
    if (!AUTHENTICATION.some((one) => names.has(one)))
      return 'no plugin that is mapped authenticates the caller'
    const allow = groups.length === 0 ? 'authenticated' : [{ groups }]
    return ['authorize', { allow, ...(denied.length > 0 && { deny: [{ groups: denied }] }) }]
  },
  'request-size-limiting': (config) => {
    const units: Readonly<Record<string, string>> = { bytes: 'b', kilobytes: 'kb' }
    const unit = units[config.text('size_unit') ?? ''] ?? 'mb'
    config.ignore('require_content_length')
    return ['body-limit', { maxBytes: `${config.number('allowed_payload_size') ?? 128}${unit}`, raise: true }]
  },
  'rate-limiting': (config, { names }) => {
    const limit = ['second', 'minute', 'hour', 'day'].flatMap((name) => {
      const count = config.number(name)
      return count === undefined ? [] : [`${count}/${name[0]}`]
    })
    const by = config.text('limit_by') ?? 'consumer'
    const header = config.text('header_name')?.toLowerCase() ?? ''
    config.ignore('policy fault_tolerant hide_client_headers redis error_code error_message sync_rate')
    for (const key of config.keys()) if (key.startsWith('redis_')) config.ignore(key)
    if (config.number('month') !== undefined || config.number('year') !== undefined)
      return 'limits per month or year need the policy quota'
    if (limit.length === 0) return 'it has no limit that can be mapped'
    const isKnown = AUTHENTICATION.some((one) => names.has(one))
    const keys: Readonly<Record<string, string>> = {
      ip: 'client.ip',
      service: '"all"',
      path: 'req.path',
      header: `req.header[${JSON.stringify(header)}]`,
    }
    const key = keys[by] ?? (isKnown ? 'consumer.id' : 'client.ip')
    return ['rate-limit', { limit, algorithm: 'fixed', key, headers: 'legacy' }]
  },
  'request-transformer': (config) => transformer(config, 'request'),
  'response-transformer': (config) => transformer(config, 'response'),
  'proxy-cache': (config) => {
    config.ignore('strategy memory content_type storage_ttl vary_headers vary_query_params')
    if (config.take('cache_control') === true) return ['response-cache', {}]
    const methods = config.texts('request_method').filter((one) => /^(GET|HEAD|POST)$/.test(one))
    const statuses = filled(config.texts('response_code').map(Number))
    const ttl = `${config.number('cache_ttl') ?? 300}s`
    return ['response-cache', { forced: { ttl, statuses, methods: filled(methods) } }]
  },
}

/** Returns header changes for `name:value` lists. Changes of queries and bodies are left out. */
function transformer(config: SourceObject, side: 'request' | 'response'): readonly [string, Options] {
  const fields = (key: string): Record<string, string> | undefined => {
    const part = config.object(key)
    const pairs = part.texts('headers').flatMap((one) => {
      const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/s.exec(one) ?? []
      const isClear =
        /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value) && !/\$\(|\{\{/.test(value)
      if (!isClear)
        part.leaveOut('headers', 'a name or value is a template', 'use {{…}} of the policy header')
      return isClear ? [[name.toLowerCase(), value] as const] : []
    })
    part.finish()
    return filled(Object.fromEntries(pairs))
  }
  const removed = config.object('remove')
  const remove = filled(removed.texts('headers').map((one) => one.toLowerCase()))
  removed.finish()
  config.ignore('http_method')
  const [rename, set, setIfAbsent, append] = ['rename', 'replace', 'add', 'append'].map(fields)
  return ['header', { [side]: { remove, rename, set, setIfAbsent, append } }]
}

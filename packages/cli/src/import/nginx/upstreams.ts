import { type DocumentDraft, NO_TOTAL_LIMIT } from '../draft.js'
import { cleanName } from '../names.js'
import type { Directive } from './parse.js'
import { Scope } from './scope.js'
import { durationOf, expressionOf } from './values.js'

/** Destination of `proxy_pass` or `grpc_pass`. */
export interface Destination {
  readonly scheme: 'http' | 'https'
  /** Host and port, or the name of an upstream. */
  readonly host: string
  readonly isGrpc: boolean
}

type Settings = Readonly<Record<string, unknown>>
const TARGET = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/
/** Default timeouts of nginx. A route overrides them. */
const TIMEOUTS = { connect: '60s', headers: '60s', idle: '60s', total: '0s' }

/** Maps `upstream` blocks and single servers to upstreams. */
export class UpstreamMapping {
  readonly #draft: DocumentDraft
  readonly #blocks: ReadonlyMap<string, Directive>

  constructor(draft: DocumentDraft, http: Scope) {
    this.#draft = draft
    this.#blocks = new Map(
      http.directives.filter(({ name }) => name === 'upstream').map((one) => [one.args[0] ?? '', one]),
    )
  }

  /** True if a name is that of an `upstream` block. */
  has(name: string): boolean {
    return this.#blocks.has(name)
  }

  /** Returns the name of the upstream for a destination, or the reason why it cannot be mapped. */
  nameFor(
    { scheme, host, isGrpc }: Destination,
    scope: Scope,
  ): { readonly name: string } | { readonly reason: string } {
    const block = this.#blocks.get(host)
    const settings =
      block === undefined ? { targets: [`${scheme}://${host}`] } : this.#settingsOf(block, scheme, scope)
    const targets = settings['targets'] as readonly unknown[]
    if (block === undefined && !TARGET.test(host))
      return { reason: 'the address of the upstream is not a host and port' }
    if (targets.length === 0) return { reason: 'the upstream has no server that can be mapped' }
    const upstream = {
      ...settings,
      timeouts: TIMEOUTS,
      ...NO_TOTAL_LIMIT,
      retry: retryOf(scope, targets.length),
      ...(scheme === 'https' && this.#tlsOf(scope)),
      ...(isGrpc && { http2: { priorKnowledge: true } }),
      ...(scope.find('resolver') !== undefined && { resolve: {} }),
    }
    return { name: this.#draft.addUpstream(cleanName(host, 'upstream'), upstream) }
  }

  #settingsOf(upstream: Directive, scheme: string, { use }: Scope): Settings {
    use.mapped.add(upstream)
    const scope = new Scope(upstream.block ?? [], null, use)
    const servers = scope.own('server').filter((one) => {
      const isDown = one.args.includes('down')
      const isUsable = TARGET.test(one.args[0] ?? '')
      if (!isUsable)
        use.leaveOut(one, 'the gateway connects to hosts and ports only', 'let the server listen on a port')
      if (isDown) use.note(one, 'the server is down and was left out')
      return isUsable && !isDown
    })
    const targets = servers.map((one) => targetOf(one, scheme))
    return { targets, ...balanceOf(scope), ...outlierOf(servers) }
  }

  #tlsOf(scope: Scope): Settings {
    const isVerified = scope.value('proxy_ssl_verify') === 'on'
    const pass = scope.find('proxy_pass') ?? scope.find('grpc_pass')
    const reason = 'the gateway verifies the certificate of this upstream; nginx does not'
    const remedy = 'set tls.caFile of the upstream if its CA is private'
    if (!isVerified && pass !== undefined) scope.use.note(pass, reason, remedy)
    const name = scope.value('proxy_ssl_name')
    const tls = {
      caFile: isVerified ? scope.value('proxy_ssl_trusted_certificate') : undefined,
      certFile: scope.value('proxy_ssl_certificate'),
      keyFile: scope.value('proxy_ssl_certificate_key'),
      servername: name === undefined || name.includes('$') ? undefined : name,
    }
    scope.use.ask('proxy_ssl_server_name')
    return Object.values(tls).some((one) => one !== undefined) ? { tls } : {}
  }
}

function targetOf({ args: [address, ...options] }: Directive, scheme: string): string | Settings {
  const weight = /^weight=(\d+)$/.exec(options.find((one) => one.startsWith('weight=')) ?? '')?.[1]
  const isBackup = options.includes('backup')
  const port = /:\d+$/.test(address!) ? '' : scheme === 'https' ? ':443' : ':80'
  const url = `${scheme}://${address}${port}`
  if (weight === undefined && !isBackup) return url
  return {
    url,
    ...(weight !== undefined && { weight: Math.min(1000, Number(weight)) }),
    ...(isBackup && { role: 'failover' }),
  }
}

/** Returns ejection settings for `max_fails` and `fail_timeout`. A single target is never ejected. */
function outlierOf(servers: readonly Directive[]): Settings {
  const read = (name: string): string | undefined =>
    servers
      .flatMap(({ args }) => args)
      .find((one) => one.startsWith(`${name}=`))
      ?.slice(name.length + 1)
  const fails = Number(read('max_fails') ?? 1)
  if (servers.length < 2 || fails === 0 || (read('max_fails') ?? read('fail_timeout')) === undefined)
    return {}
  return { outlier: { consecutiveFailures: fails, ejectFor: durationOf(read('fail_timeout')) ?? '10s' } }
}

function balanceOf(scope: Scope): Settings {
  const [ipHash] = scope.own('ip_hash')
  const [hash] = scope.own('hash')
  const [random] = scope.own('random')
  if (scope.own('least_conn').length > 0) return { balance: 'least-pending' }
  if (random !== undefined) return { balance: 'power-of-two' }
  if (ipHash !== undefined) return { balance: 'hash', hashOn: 'ip' }
  if (hash === undefined) return {}
  const key = expressionOf(hash.args[0] ?? '')
  const [, kind, name] = /^req\.(header|cookie)\["(.+)"\]$/.exec(key ?? '') ?? []
  if (key === 'client.ip') return { balance: 'hash', hashOn: 'ip' }
  if (kind !== undefined) return { balance: 'hash', hashOn: `${kind}:${name}` }
  const remedy = 'set balance: hash with another key'
  scope.use.leaveOut(hash, 'hashOn is an address, a header, a cookie or a consumer', remedy)
  return {}
}

/** Returns retries for `proxy_next_upstream`. With one target there is nothing to try next. */
function retryOf(scope: Scope, targets: number): Settings {
  const conditions = scope.find('proxy_next_upstream')?.args ?? ['error', 'timeout']
  const tries = Number(scope.value('proxy_next_upstream_tries') ?? 0)
  scope.use.ask('proxy_next_upstream_timeout')
  if (conditions[0] === 'off' || targets < 2) return { attempts: 0 }
  const statuses = conditions.flatMap((one) => /^http_(\d+)$/.exec(one)?.[1] ?? []).map(Number)
  const attempts = Math.min(10, (tries === 0 ? targets : Math.min(tries, targets)) - 1)
  return { attempts, on: [...new Set([502, 504, ...statuses])].filter((one) => one >= 400) }
}

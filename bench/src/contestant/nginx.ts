import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import type { PeerKind } from './peer-kind.js'
import { findProgram, programVersion } from './program.js'
import { type RunningServer, type Seat, startServer } from './running-server.js'

/** Idle connections that each worker keeps to the origin. */
const KEPT = 1024

/** nginx as a reverse proxy. */
export const NGINX: PeerKind = {
  program: 'nginx',
  remedy: 'install the package nginx-light',
  version: (file) => programVersion(file, '-v'),
  start: async (seat, originUrl) => {
    const port = await freePort()
    const servers = `upstream origin { server ${new URL(originUrl).host}; keepalive ${KEPT}; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${port} backlog=4096; client_max_body_size 0; client_body_buffer_size 256k;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffers 16 16k;
      proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Request-Id $request_id; } }`
    return startNginx({ name: 'nginx', seat, port }, servers)
  },
}

/** What of an nginx differs between the peer and the origin. */
interface NginxSeat {
  readonly name: string
  readonly seat: Seat
  readonly port: number
}

/** Starts an nginx with one worker a core and no access log. */
export function startNginx({ name, seat, port }: NginxSeat, servers: string): Promise<RunningServer> {
  const file = findProgram(NGINX.program)
  if (file === null) throw new Error('nginx is not installed')
  const prefix = join(seat.dir, `${name}-${port}`)
  mkdirSync(prefix, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${prefix}/${kind};`,
  )
  const config = join(prefix, 'nginx.conf')
  writeFileSync(
    config,
    `worker_processes ${seat.cores}; worker_rlimit_nofile 65536; daemon off; pid ${prefix}/pid; error_log stderr crit;
events { worker_connections 32768; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; tcp_nodelay on;
  ${temporary.join(' ')} ${servers} }
`,
  )
  const command = [file, '-p', prefix, '-c', config]
  const version = NGINX.version(file) ?? 'unknown'
  return startServer({ name, version: name === 'nginx' ? version : `nginx ${version}`, port, seat, command })
}

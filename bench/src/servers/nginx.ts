import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram, programVersion } from '../process/executables.js'
import { LOOPBACK } from '../process/port.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'

/** Idle connections that each worker keeps to the origin. */
const KEPT = 1024
/** nginx limits the length of a token, so a response consists of pieces. */
const PIECE = 1024
/** Maximum response size. Beyond it the configuration would be too long. */
export const MOST_ANSWER_BYTES = PIECE * 256

/** Returns the arguments of nginx as a reverse proxy. @param isCached true to cache responses */
export function nginxProxy(
  placement: Placement,
  port: number,
  origin: URL,
  isCached: boolean,
): readonly string[] {
  const dir = join(placement.dir, `nginx-${port}`, 'cache')
  const [path, use] = isCached
    ? [`proxy_cache_path ${dir} keys_zone=c:10m max_size=64m;`, 'proxy_cache c; proxy_cache_valid 200 10m;']
    : ['', '']
  return configured(
    placement,
    port,
    `${path} upstream origin { server ${origin.host}; keepalive ${KEPT}; keepalive_requests 100000000; }
  server { listen ${placement.host ?? LOOPBACK}:${port} backlog=4096; client_max_body_size 0; client_body_buffer_size 256k;
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffers 16 16k;
      proxy_set_header Connection ""; proxy_set_header Host $http_host;
      ${use} proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Request-Id $request_id; } }`,
  )
}

/** Starts nginx as an origin with responses of a fixed size, or returns null if it is not installed. */
export async function startNginxOrigin(
  placement: Placement,
  port: number,
  bytes: number,
): Promise<RunningServer | null> {
  const file = findProgram('nginx')
  if (file === null) return null
  const pieces = '${piece}'.repeat(Math.floor(bytes / PIECE))
  const args = configured(
    placement,
    port,
    `server { listen ${placement.host ?? LOOPBACK}:${port} backlog=4096; client_max_body_size 0;
    location / { default_type text/plain; set $piece "${fillText(PIECE)}"; return 200 "${pieces}${fillText(bytes % PIECE)}"; } }`,
  )
  const version = `nginx ${programVersion(file, '-v') ?? 'unknown'}`
  return startServer({ name: 'origin', version, port, placement, command: [file, ...args] })
}

/** Returns the body of origins, with the given number of characters. */
export function fillText(bytes: number): string {
  return '0123456789abcdef'.repeat(Math.ceil(bytes / 16)).slice(0, bytes)
}

/** Returns the arguments of an nginx with one worker per core and no access log. */
function configured({ dir, cores }: Placement, port: number, servers: string): readonly string[] {
  const prefix = join(dir, `nginx-${port}`)
  mkdirSync(prefix, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${prefix}/${kind};`,
  )
  const config = join(prefix, 'nginx.conf')
  // If root starts nginx, its workers run as `nobody` by default and cannot open the cache folder.
  writeFileSync(
    config,
    `${process.getuid?.() === 0 ? 'user root; ' : ''}worker_processes ${cores}; worker_rlimit_nofile 65536; daemon off; pid ${prefix}/pid; error_log stderr crit;
events { worker_connections 32768; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; tcp_nodelay on;
  ${temporary.join(' ')} ${servers} }
`,
  )
  return ['-p', prefix, '-c', config]
}

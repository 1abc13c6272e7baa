import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The processor of what is measured, and that of load and origin. */
export const PROXY_CPU = '0'
export const LOAD_CPU = '1'
const START_MS = 15_000
/** The admin API of a gateway listens so far above its listener. */
export const ADMIN_PORT_OFFSET = 100
const GW = fileURLToPath(new URL('../../packages/cli/bin/gw.mjs', import.meta.url))

/** A running server of the benchmark. */
export interface Contestant {
  readonly name: string
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/** nginx as the origin: 128 bytes for every request, whatever its body. */
export function startOrigin(dir: string, port: number): Promise<Contestant> {
  const body = '0123456789abcdef'.repeat(8)
  const server = `server { listen 127.0.0.1:${port}; client_max_body_size 10m;
    location / { default_type text/plain; return 200 "${body}"; } }`
  return startNginx({ name: 'origin', dir, port, cpu: LOAD_CPU }, server)
}

/** nginx as the peer: a reverse proxy with kept upstream connections and the fields that a gateway adds. */
export function startPeer(dir: string, port: number, originPort: number): Promise<Contestant> {
  const servers = `upstream origin { server 127.0.0.1:${originPort}; keepalive 128; keepalive_requests 100000000; }
  server { listen 127.0.0.1:${port}; client_max_body_size 10m; location / {
    proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Request-Id $request_id; } }`
  return startNginx({ name: 'nginx', dir, port, cpu: PROXY_CPU }, servers)
}

/** The gateway with one worker; `/set` carries the header policy both ways, `/undici` goes over the general transport. No traffic log unless `log` says so. */
export function startGateway(
  dir: string,
  port: number,
  originPort: number,
  log = '{ sink: none }',
): Promise<Contestant> {
  const config = join(dir, `gateway-${port}.yaml`)
  const policy =
    '[{ use: header, with: { request: { set: { x-a: "1" } }, response: { set: { x-b: "2" } } } }]'
  writeFileSync(
    config,
    `version: 1
listeners: [{ address: "127.0.0.1:${port}" }]
admin: { address: "127.0.0.1:${port + ADMIN_PORT_OFFSET}" }
workers: 1
upstreams:
  origin: { targets: ["http://127.0.0.1:${originPort}"] }
  general: { targets: ["http://127.0.0.1:${originPort}"], transport: undici }
routes:
  - { id: undici, match: { path: /undici }, upstream: general }
  - { id: plain, match: { path: /* }, upstream: origin }
  - { id: get, match: { path: /get }, upstream: origin }
  - { id: again, match: { path: /aaa }, upstream: origin }
  - { id: set, match: { path: /set }, upstream: origin, policies: ${policy} }
  - { id: undici-get, match: { path: /undici/get }, upstream: general }
  - { id: undici-again, match: { path: /undici/aaa }, upstream: general }
  - { id: undici-set, match: { path: /undici/set }, upstream: general, policies: ${policy} }
log: ${log}
`,
  )
  const args = [process.execPath, GW, 'start', '-c', config, '--data-dir', join(dir, `data-${port}`)]
  return launch({ name: 'sluice', dir, port, cpu: PROXY_CPU }, args)
}

interface Seat {
  readonly name: string
  readonly dir: string
  readonly port: number
  readonly cpu: string
}

function startNginx(seat: Seat, servers: string): Promise<Contestant> {
  const prefix = join(seat.dir, seat.name)
  mkdirSync(prefix, { recursive: true })
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${prefix}/${kind};`,
  )
  const file = join(prefix, 'nginx.conf')
  writeFileSync(
    file,
    `worker_processes 1; daemon off; pid ${prefix}/pid; error_log /dev/null;
events { worker_connections 4096; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 300s; ${temps.join(' ')} ${servers} }`,
  )
  return launch(seat, ['nginx', '-p', prefix, '-c', file])
}

async function launch({ name, port, cpu }: Seat, command: readonly string[]): Promise<Contestant> {
  const child = spawn('taskset', ['-c', cpu, ...command], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await listening(port, child, name)
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { name, url: `http://127.0.0.1:${port}`, pid: child.pid!, stop }
}

async function listening(port: number, child: ChildProcess, name: string): Promise<void> {
  const giveUpMono = performance.now() + START_MS
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > giveUpMono)
      throw new Error(`${name} did not start on port ${port}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

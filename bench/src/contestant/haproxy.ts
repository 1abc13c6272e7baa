import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import type { PeerKind } from './peer-kind.js'
import { programVersion } from './program.js'
import { startServer } from './running-server.js'

/** HAProxy as a reverse proxy. */
export const HAPROXY: PeerKind = {
  program: 'haproxy',
  remedy: 'install the package haproxy',
  version: (file) => programVersion(file, '-v'),
  start: async (seat, originUrl, file) => {
    const port = await freePort()
    const config = join(seat.dir, `haproxy-${port}.cfg`)
    writeFileSync(config, configuration(port, new URL(originUrl).host, seat.cores))
    const version = HAPROXY.version(file) ?? 'unknown'
    return startServer({ name: 'haproxy', version, port, seat, command: [file, '-db', '-f', config] })
  },
}

/** Without `maxconn`, which HAProxy takes from the limit of open files: it refuses to start with more. */
function configuration(port: number, origin: string, threads: number): string {
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
frontend in
  bind 127.0.0.1:${port} backlog 4096
  option forwardfor
  http-request set-header X-Request-Id %[uuid()]
  default_backend origin
backend origin
  server origin ${origin} pool-max-conn -1 pool-purge-delay 300s
`
}

import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../last-will.js'
import type { OriginWish, Scenario } from '../model/scenario.js'
import { hostAndPort } from './address.js'
import { freePort } from './free-port.js'
import { NGINX, startNginx } from './nginx.js'
import { findProgram } from './program.js'
import { type RunningServer, type Seat, startServer } from './running-server.js'

const LOOPBACK = '127.0.0.1'
const PROGRAM = fileURLToPath(new URL('./origin-process.js', import.meta.url))
/** A token of nginx's configuration is bounded, so that the answer is put together from pieces. */
const PIECE = 1024
/** Beyond it the configuration itself would be too long. */
const MOST_PIECES = 256

/**
 * The upstream of all contestants: it reads the whole request and answers as it is told. nginx where it can do so; else
 * a program of our own with a process on every core it has. nginx would answer a request before it has read its body,
 * which makes a proxy give up the connection.
 */
export async function startOrigin(
  seat: Seat,
  { origin, call }: Pick<Scenario, 'origin' | 'call'>,
): Promise<RunningServer> {
  const port = await freePort()
  const { answer, delayMs, bytes } = origin
  const isPlain = answer === 'fixed' && delayMs === 0 && bytes <= PIECE * MOST_PIECES && call.body === null
  if (isPlain && findProgram(NGINX.program) !== null) return startNginxOrigin(seat, port, bytes)
  return startOwnOrigin(seat, port, origin)
}

/** The program of our own. */
export function startOwnOrigin(seat: Seat, port: number, wish: OriginWish): Promise<RunningServer> {
  return startServer({
    name: 'origin',
    version: `Node.js ${process.versions.node}`,
    port,
    seat,
    command: [
      process.execPath,
      PROGRAM,
      JSON.stringify({ ...wish, host: LOOPBACK, port, processes: seat.cores }),
    ],
  })
}

/** The program of our own at a given address (`host:port`) on every core, for whoever measures by hand. */
export async function serveOrigin(wish: OriginWish, address: string): Promise<RunningServer> {
  const { host, port } = hostAndPort(address)
  const folder = temporaryFolder('sluice-origin-')
  const seat = { dir: folder.path, cpus: null, cores: availableParallelism() }
  try {
    const server = await startServer({
      ...{ name: 'origin', version: `Node.js ${process.versions.node}`, host, port, seat },
      command: [process.execPath, PROGRAM, JSON.stringify({ ...wish, host, port, processes: seat.cores })],
    })
    return { ...server, stop: () => server.stop().finally(() => folder.remove()) }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

function startNginxOrigin(seat: Seat, port: number, bytes: number): Promise<RunningServer> {
  const pieces = '${piece}'.repeat(Math.floor(bytes / PIECE))
  const rest = text(bytes % PIECE)
  const server = `server { listen 127.0.0.1:${port} backlog=4096; client_max_body_size 0;
    location / { default_type text/plain; set $piece "${text(PIECE)}"; return 200 "${pieces}${rest}"; } }`
  return startNginx({ name: 'origin', seat, port }, server)
}

function text(bytes: number): string {
  return '0123456789abcdef'.repeat(Math.ceil(bytes / 16)).slice(0, bytes)
}

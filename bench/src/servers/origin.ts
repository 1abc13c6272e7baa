import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { OriginBehavior, Scenario } from '../model/scenario.js'
import { freePort, hostAndPort, LOOPBACK } from '../process/port.js'
import { temporaryFolder } from '../process/process-reaper.js'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'
import { MOST_ANSWER_BYTES, startNginxOrigin } from './nginx.js'

const PROGRAM = fileURLToPath(new URL('./origin-process.js', import.meta.url))
const HOLD_MS = 60_000

/**
 * Starts the upstream of all systems. It reads the whole request before it responds. nginx is used where possible,
 * otherwise our own program with a process per core: nginx would respond before it has read a body, and proxies then
 * close the connection.
 */
export async function startOrigin(
  placement: Placement,
  { origin, call }: Pick<Scenario, 'origin' | 'call'>,
): Promise<RunningServer> {
  const port = await freePort()
  const { answer, delayMs, bytes } = origin
  const isPlain = answer === 'fixed' && delayMs === 0 && bytes <= MOST_ANSWER_BYTES && call.body === null
  const nginx = isPlain ? await startNginxOrigin(placement, port, bytes) : null
  return nginx ?? startOwnOrigin(placement, origin, { host: placement.host ?? LOOPBACK, port })
}

/** Starts our own origin program. */
export function startOwnOrigin(
  placement: Placement,
  behavior: OriginBehavior,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RunningServer> {
  const options = JSON.stringify({ ...behavior, host, port, processes: placement.cores })
  return startServer({
    ...{ name: 'origin', version: `Node.js ${process.versions.node}`, host, port, placement },
    command: [process.execPath, PROGRAM, options],
  })
}

/** Starts our own origin at an address (`host:port`) on every core, for manual measurements. */
export async function serveOrigin(behavior: OriginBehavior, address: string): Promise<RunningServer> {
  const folder = temporaryFolder('sluice-origin-')
  const placement = { dir: folder.path, cpus: null, cores: availableParallelism() }
  try {
    const server = await startOwnOrigin(placement, behavior, hostAndPort(address))
    // A server does not keep its parent process alive.
    const held = setInterval(() => {}, HOLD_MS)
    const stop = async (): Promise<void> => {
      clearInterval(held)
      await server.stop().finally(() => folder.remove())
    }
    return { ...server, stop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

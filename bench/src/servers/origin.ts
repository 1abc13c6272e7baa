import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { OriginBehavior, Scenario } from '../model/scenario.js'
import { temporaryFolder } from '../process-reaper.js'
import { MOST_ANSWER_BYTES, startNginxOrigin } from './nginx.js'
import { freePort, hostAndPort, LOOPBACK } from './port.js'
import { type Placement, type RunningServer, startServer } from './running-server.js'

const PROGRAM = fileURLToPath(new URL('./origin-process.js', import.meta.url))
const HOLD_MS = 60_000

/**
 * The upstream of all systems: it reads the whole request and answers as it is asked. nginx where it can do so; else a
 * program of our own with a process on every core it has. nginx would answer a request before it has read its body,
 * which makes a proxy give up the connection.
 */
export async function startOrigin(
  placement: Placement,
  { origin, call }: Pick<Scenario, 'origin' | 'call'>,
): Promise<RunningServer> {
  const port = await freePort()
  const { answer, delayMs, bytes } = origin
  const isPlain = answer === 'fixed' && delayMs === 0 && bytes <= MOST_ANSWER_BYTES && call.body === null
  const nginx = isPlain ? await startNginxOrigin(placement, port, bytes) : null
  return nginx ?? startOwnOrigin(placement, origin, { host: LOOPBACK, port })
}

/** The program of our own. */
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

/** The program of our own at a given address (`host:port`) on every core, for whoever measures by hand. */
export async function serveOrigin(behavior: OriginBehavior, address: string): Promise<RunningServer> {
  const folder = temporaryFolder('sluice-origin-')
  const placement = { dir: folder.path, cpus: null, cores: availableParallelism() }
  try {
    const server = await startOwnOrigin(placement, behavior, hostAndPort(address))
    // A server does not keep the process that has started it.
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

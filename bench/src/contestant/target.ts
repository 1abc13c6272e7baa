import net from 'node:net'
import { isRunning } from '../measure/process-use.js'
import type { Target } from '../model/run.js'
import type { Point } from '../model/summary.js'
import { TARGET } from '../report/rivals.js'

const CONNECT_MS = 5000

/** @throws Error when nobody listens there, or the process is not there */
export async function checkTarget({ origin, pid }: Target): Promise<void> {
  if (pid !== null && !isRunning(pid)) throw new Error(`there is no process ${pid} on this machine`)
  const { hostname, port } = new URL(origin)
  const failure = await connectFailure(hostname.replace(/^\[|\]$/g, ''), Number(port === '' ? 80 : port))
  if (failure !== null) throw new Error(`${origin} cannot be connected to (${failure}); is it serving?`)
}

/** What to tell of a target whose process did nothing for its answers; null when it did, or none was named. */
export function idleRemark(target: Target | undefined, point: Point): string | null {
  const { contestant, requests, cpuMicrosPerRequest, costInvalid = [] } = point
  if (target === undefined || target.pid === null || contestant !== TARGET) return null
  if (requests === 0 || cpuMicrosPerRequest.values.length > 0 || costInvalid.length > 0) return null
  return `the process ${target.pid} and those below it used no CPU time: --pid is to name the first process of the server`
}

function connectFailure(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: CONNECT_MS })
    const end = (failure: string | null): void => {
      socket.destroy()
      resolve(failure)
    }
    socket.once('connect', () => end(null))
    socket.once('timeout', () => end(`no answer within ${CONNECT_MS / 1000} s`))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}

import { fileURLToPath } from 'node:url'
import { type Placement, type RunningServer, startServer } from '../process/running-server.js'

const PROGRAM = fileURLToPath(new URL('./fault-origin-process.js', import.meta.url))
const ANSWER_MS = 30_000
/** Body of every response. */
export const FAULT_ORIGIN_BODY = '0123456789abcdef'.repeat(8)

/** Faults of an origin. */
export interface OriginFaults {
  /** One of this many requests gets 500. 0 for none. */
  readonly failEvery: number
  /** One of this many requests gets its response after `slowMs`. 0 for none. */
  readonly slowEvery: number
  readonly slowMs: number
  /** True if every response closes its connection. */
  readonly isClosing: boolean
}

/** Requests and responses of an origin with faults. */
export interface OriginCounts {
  readonly requests: number
  readonly failed: number
  readonly slow: number
}

/** An origin into which faults can be injected while it serves. */
export interface FaultOrigin extends RunningServer {
  /** Sets the faults. Missing ones are off. */
  inject(faults: Partial<OriginFaults>): Promise<void>
  counts(): Promise<OriginCounts>
}

const NO_FAULTS: OriginFaults = { failEvery: 0, slowEvery: 0, slowMs: 0, isClosing: false }

/** Starts an origin with faults at an address. */
export async function startFaultOrigin(
  placement: Placement,
  host: string,
  port: number,
): Promise<FaultOrigin> {
  const server = await startServer({
    ...{ name: `origin-${host}`, version: `Node.js ${process.versions.node}`, host, port, placement },
    command: [process.execPath, PROGRAM, JSON.stringify({ host, port })],
  })
  return {
    ...server,
    inject: async (faults) => {
      const body = JSON.stringify({ ...NO_FAULTS, ...faults })
      await asked(`${server.url}/-/faults`, { method: 'PUT', body })
    },
    counts: async () => (await (await asked(`${server.url}/-/counts`)).json()) as OriginCounts,
  }
}

async function asked(url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) })
  if (!answer.ok) throw new Error(`the origin answered ${answer.status} to ${url}`)
  return answer
}

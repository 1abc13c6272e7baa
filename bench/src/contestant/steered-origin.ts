import { fileURLToPath } from 'node:url'
import { type RunningServer, type Seat, startServer } from './running-server.js'

const PROGRAM = fileURLToPath(new URL('./steered-origin-process.js', import.meta.url))
const ANSWER_MS = 30_000

/** How an origin goes wrong. */
export interface OriginFaults {
  /** Every so-many-th request is answered with 500; 0: none. */
  readonly failEvery: number
  /** Every so-many-th request is answered after `slowMs`; 0: none. */
  readonly slowEvery: number
  readonly slowMs: number
  /** It takes leave: every answer is the last one on its connection. */
  readonly isLeaving: boolean
}

/** What it was asked, and how it answered as it was told. */
export interface OriginCounts {
  readonly requests: number
  readonly failed: number
  readonly slow: number
}

/** An origin whose faults can be changed while it serves. */
export interface SteeredOrigin extends RunningServer {
  /** What is not named is well. */
  steer(faults: Partial<OriginFaults>): Promise<void>
  counts(): Promise<OriginCounts>
}

const WELL: OriginFaults = { failEvery: 0, slowEvery: 0, slowMs: 0, isLeaving: false }

/** Starts one at an address; it answers 128 bytes. */
export async function startSteeredOrigin(seat: Seat, host: string, port: number): Promise<SteeredOrigin> {
  const server = await startServer({
    ...{ name: `origin-${host}`, version: `Node.js ${process.versions.node}`, host, port, seat },
    command: [process.execPath, PROGRAM, JSON.stringify({ host, port })],
  })
  return {
    ...server,
    steer: async (faults) => {
      const body = JSON.stringify({ ...WELL, ...faults })
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

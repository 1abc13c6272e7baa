import { setTimeout as sleep } from 'node:timers/promises'
import { gatewayWorkers } from '../servers/gateway.js'
import type { Fault, TrialSystem } from './fault.js'
import { soak } from './soak.js'

/** Address of the second origin. */
export const OTHER_ADDRESS = '127.0.0.2'
/** One of 20 responses: 5 %. */
const FAIL_EVERY = 20
const SLOW_EVERY = 100
/** Upstream timeout in milliseconds, longer than every normal response on a busy machine. */
const TIMEOUT_MS = 1000
/** Retry budget of the upstream, as a share of its requests. */
const RETRY_BUDGET = 0.2
/** Larger than the default of the document. Native parsers read it when a worker starts. */
const HEADER_BYTES = '32kb'
/** Load time whose records one kill may lose: the last hand-off, on a busy machine, in seconds. */
const HAND_OFF_SECONDS = 0.1
const REPLACED_MS = 120_000

/** Faults by trial id. Each is injected once. */
export const FAULTS: Readonly<Record<string, () => Fault>> = {
  'elasticsearch-down': () => ({
    begin: async ({ logNode }) => logNode?.node.kill(),
    end: async ({ logNode }) => logNode?.restart(),
  }),
  'elasticsearch-slow': () => ({
    begin: async ({ logNode }) => logNode?.node.pause(),
    end: async ({ logNode }) => {
      logNode?.node.resume()
      await logNode?.node.request('GET', '/_cluster/health')
    },
  }),
  'upstream-errors': () => ({
    begin: ({ origin }) => origin.inject({ failEvery: FAIL_EVERY }),
    end: ({ origin }) => origin.inject({}),
    expects: ({ origin }) => ({ statuses: [200, 500], upstreamErrors: origin.failed }),
  }),
  'upstream-slow': () => upstreamSlow(),
  'dns-change': () => ({
    needs: { isNamed: true, hasOtherOrigin: true, isLeft: true },
    begin: async (system) => {
      system.rename(OTHER_ADDRESS)
      await system.origin.inject({ isClosing: true })
    },
    // Idle connections still lead to the old address: one request each.
    expects: ({ connections }) => ({ strayRequests: connections }),
  }),
  'target-change': () => ({
    needs: { hasOtherOrigin: true, isLeft: true },
    begin: async ({ gateway, otherOrigin }) => {
      const targets = [otherOrigin!.url]
      await gateway.deploy((document) => ({
        ...document,
        upstreams: { origin: { ...document.upstreams['origin'], targets } },
      }))
    },
  }),
  'worker-kill': () => ({
    begin: async (system) => {
      const [first] = await workerPids(system)
      process.kill(first!, 'SIGKILL')
      await untilReplaced(system, [first!])
    },
    expects: ({ connections, targetPerSecond }) => ({
      // Requests in flight, and requests of clients that reconnect to the dying process.
      lostRequests: connections * 2,
      sentAgain: connections,
      lostRecords: connections + Math.ceil(targetPerSecond * HAND_OFF_SECONDS),
      newWorkers: 1,
      // Requests in flight are sent to the other worker, and may have reached the origin before.
      moreRequests: connections,
    }),
  }),
  'rolling-restart': rollingRestart,
  soak,
}

/** One of 100 responses exceeds the upstream timeout. Only these are gateway errors. */
export function upstreamSlow(timeoutMs = TIMEOUT_MS): Fault {
  const timeouts = { headers: `${timeoutMs}ms` }
  // Each request counts once: late responses are not retried.
  const retry = { attempts: 1, budget: `${RETRY_BUDGET * 100}%`, on: [] }
  return {
    needs: { upstream: { timeouts, retry } },
    // Far beyond the timeout, so that no slow response arrives in time.
    begin: ({ origin }) => origin.inject({ slowEvery: SLOW_EVERY, slowMs: timeoutMs * 10 }),
    end: ({ origin }) => origin.inject({}),
    expects: ({ origin, requests }) => ({
      statuses: [200, 504],
      gatewayErrors: origin.slow,
      moreRequests: Math.round(requests * RETRY_BUDGET),
    }),
  }
}

/** Changes a setting that workers read at start. Workers are replaced one by one. */
function rollingRestart(): Fault {
  let before: readonly number[] = []
  return {
    begin: async (system) => {
      before = await workerPids(system)
      await system.gateway.deploy((document) => {
        const [listener] = document.listeners
        const limits = { ...listener.limits, headerBytes: HEADER_BYTES }
        return { ...document, listeners: [{ ...listener, limits }] }
      })
    },
    end: (system) => untilReplaced(system, before),
    // Each connection ends once per worker, possibly with a request in flight.
    expects: ({ workers, connections }) => ({ sentAgain: connections, newWorkers: workers }),
  }
}

async function workerPids({ gateway }: TrialSystem): Promise<number[]> {
  return (await gatewayWorkers(gateway.admin)).map(({ pid }) => pid)
}

/** Waits until all workers are replaced. @throws Error if they are not replaced in time */
async function untilReplaced(system: TrialSystem, gone: readonly number[]): Promise<void> {
  const giveUpMono = performance.now() + REPLACED_MS
  while (performance.now() < giveUpMono) {
    const now = await workerPids(system)
    if (now.length === system.workers && !now.some((pid) => gone.includes(pid))) return
    await sleep(50)
  }
  throw new Error(`the workers were not replaced within ${REPLACED_MS / 1000} s`)
}

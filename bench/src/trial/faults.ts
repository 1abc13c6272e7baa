import { setTimeout as sleep } from 'node:timers/promises'
import { gatewayWorkers } from '../servers/gateway.js'
import type { Fault, TrialSystem } from './fault.js'
import { soak } from './soak.js'

/** Where the other origin serves. */
export const OTHER_ADDRESS = '127.0.0.2'
/** One of 20: 5 %. */
const FAIL_EVERY = 20
const SLOW_EVERY = 100
/** On a busy machine every usual answer is within it. */
const TIMEOUT_MS = 1000
/** Of the upstream's retries, as a share of its requests. */
const RETRY_BUDGET = 0.2
/** Larger than that of the document, which is the usual one: native parsers learn it when a worker starts. */
const HEADER_BYTES = '32kb'
/** What one kill may cost of the log, as a time of the load: the last hand-off, on a busy machine. */
const HAND_OFF_SECONDS = 0.1
const REPLACED_MS = 120_000

/** What is done in a trial, by the trial's id; a fault is injected once. */
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
    // Connections that nobody needed meanwhile are still those to the old address: a request each.
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
      // Those under way, and those who come back at once and meet the listener of the process that dies.
      lostRequests: connections * 2,
      sentAgain: connections,
      lostRecords: connections + Math.ceil(targetPerSecond * HAND_OFF_SECONDS),
      newWorkers: 1,
      // What it had under way is sent again to the other one, and may have reached the origin before.
      moreRequests: connections,
    }),
  }),
  'rolling-restart': rollingRestart,
  soak,
}

/** One of 100 answers comes later than the upstream's time-out: just these are errors of the gateway. */
export function upstreamSlow(timeoutMs = TIMEOUT_MS): Fault {
  const timeouts = { headers: `${timeoutMs}ms` }
  // Each request is counted once: what comes too late is not asked for again.
  const retry = { attempts: 1, budget: `${RETRY_BUDGET * 100}%`, on: [] }
  return {
    needs: { upstream: { timeouts, retry } },
    // Far beyond the time-out, so that none of the slow ones is answered.
    begin: ({ origin }) => origin.inject({ slowEvery: SLOW_EVERY, slowMs: timeoutMs * 10 }),
    end: ({ origin }) => origin.inject({}),
    expects: ({ origin, requests }) => ({
      statuses: [200, 504],
      gatewayErrors: origin.slow,
      moreRequests: Math.round(requests * RETRY_BUDGET),
    }),
  }
}

/** A setting that workers learn at their start is changed: each is replaced, one after the other. */
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
    // A connection is ended once with each of the workers it comes to, and a request may be on its way just then.
    expects: ({ workers, connections }) => ({ sentAgain: connections, newWorkers: workers }),
  }
}

async function workerPids({ gateway }: TrialSystem): Promise<number[]> {
  return (await gatewayWorkers(gateway.admin)).map(({ pid }) => pid)
}

/** @throws Error when other workers do not serve in their places in time */
async function untilReplaced(system: TrialSystem, gone: readonly number[]): Promise<void> {
  const giveUpMono = performance.now() + REPLACED_MS
  while (performance.now() < giveUpMono) {
    const now = await workerPids(system)
    if (now.length === system.workers && !now.some((pid) => gone.includes(pid))) return
    await sleep(50)
  }
  throw new Error(`the workers were not replaced within ${REPLACED_MS / 1000} s`)
}

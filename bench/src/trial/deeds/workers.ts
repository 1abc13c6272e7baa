import { type Deed, nothingMore, type TrialStage } from '../deed.js'
import { gatewayWorkers } from '../gateway-workers.js'
import { NOTHING_LOST } from '../judgement.js'

const LOOK_MS = 50
const REPLACED_MS = 120_000
/** Larger than that of the document, which is the usual one: native parsers learn it when a worker starts. */
const HEADER_BYTES = '32kb'
/** What one kill may cost of the log, as a time of the load: the last hand-off, on a busy machine. */
const HAND_OFF_SECONDS = 0.1
/** What was sent longer ago has been answered, and its record is out of the hands of the worker, on a busy machine too. */
const LEAD_SECONDS = 1

/** One worker is killed. */
export function workerKill(): Deed {
  return {
    leadSeconds: LEAD_SECONDS,
    begin: async (stage) => {
      const [first] = await gatewayWorkers(stage.gateway.admin)
      process.kill(first!, 'SIGKILL')
      await untilReplaced(stage, [first!])
    },
    end: nothingMore,
    expects: ({ connections, targetPerSecond }) => ({
      ...NOTHING_LOST,
      // Those under way, and those who come back at once and meet the listener of the process that dies.
      lostRequests: connections * 2,
      sentAgain: connections,
      lostRecords: connections + Math.ceil(targetPerSecond * HAND_OFF_SECONDS),
      newWorkers: 1,
      // What it had under way is sent again to the other one, and may have reached the origin before.
      moreRequests: connections,
    }),
  }
}

/** A setting that workers learn at their start is changed: each is replaced, one after the other. */
export function rollingRestart(): Deed {
  let before: readonly number[] = []
  return {
    begin: async ({ gateway }) => {
      before = await gatewayWorkers(gateway.admin)
      await gateway.deploy((document) => {
        const [listener] = document.listeners
        const limits = { ...listener.limits, headerBytes: HEADER_BYTES }
        return { ...document, listeners: [{ ...listener, limits }] }
      })
    },
    end: (stage) => untilReplaced(stage, before),
    // A connection is ended once with each of the workers it comes to, and a request may be on its way just then.
    expects: ({ workers, connections }) => ({ ...NOTHING_LOST, sentAgain: connections, newWorkers: workers }),
  }
}

/** @throws Error when other workers do not serve in their places in time */
async function untilReplaced({ gateway, workers }: TrialStage, gone: readonly number[]): Promise<void> {
  const giveUpMono = performance.now() + REPLACED_MS
  while (performance.now() < giveUpMono) {
    const now = await gatewayWorkers(gateway.admin)
    if (now.length === workers && !now.some((pid) => gone.includes(pid))) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
  throw new Error(`the workers were not replaced within ${REPLACED_MS / 1000} s`)
}

import { lineThrough, median } from '../lib/statistics.js'
import type { SoakFigures } from '../model/trial.js'
import { processTree, treeOpenFiles, treeRssBytes } from '../process/process-use.js'
import { type RunningGateway, scrape } from '../servers/gateway.js'
import type { Fault } from './fault.js'

const RELOAD_SECONDS = 60
/** Minimum number of reloads. */
const LEAST_RELOADS = 4
const SAMPLE_SECONDS = 60
const LEAST_SAMPLES = 20
/** Share of samples to ignore at the start, because a new heap always grows. */
const WARM_UP_SHARE = 0.1
/** Share of samples at either end. */
const END_SHARE = 0.1
const HOUR = 3600
const POLICY = { use: 'header', with: { response: { set: { 'x-soak': 'odd' } } } }

interface Sample {
  readonly seconds: number
  readonly heapBytes: number
  readonly rssBytes: number
  readonly files: number
}

/** Deploys another document every minute and samples memory and files. */
export function soak(): Fault {
  const samples: Sample[] = []
  let [reloads, failedReloads] = [0, 0]
  let stops: readonly (() => Promise<void>)[] = []
  return {
    begin: async ({ gateway }, seconds) => {
      const startMono = performance.now()
      const sample = async (): Promise<void> => {
        samples.push(await lookAt(gateway, (performance.now() - startMono) / 1000))
      }
      const reload = (): Promise<void> =>
        deployOther(gateway, (reloads + failedReloads) % 2 === 0).then(
          () => void reloads++,
          () => void failedReloads++,
        )
      stops = [
        repeat(Math.min(RELOAD_SECONDS, seconds / (LEAST_RELOADS + 1)), reload),
        repeat(Math.min(SAMPLE_SECONDS, seconds / LEAST_SAMPLES), sample),
      ]
    },
    end: async () => {
      for (const stop of stops) await stop()
    },
    soak: () => ({ reloads, failedReloads, ...figuresOf(samples) }),
  }
}

/** Repeats an action. Returns a function that stops it. Failures are made up for by the next run. */
function repeat(seconds: number, act: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | null = null
  const timer = setInterval(() => {
    underWay ??= act()
      .catch(() => {})
      .finally(() => {
        underWay = null
      })
  }, seconds * 1000).unref()
  return async () => {
    clearInterval(timer)
    await underWay
  }
}

/** Deploys the document with or without an additional policy, so that each differs from the one before. */
function deployOther(gateway: RunningGateway, hasPolicy: boolean): Promise<void> {
  const policies = hasPolicy ? [POLICY] : []
  return gateway.deploy((document) => ({
    ...document,
    routes: document.routes.map((route) => ({ ...route, policies })),
  }))
}

async function lookAt({ admin, pid }: RunningGateway, seconds: number): Promise<Sample> {
  let heapBytes = 0
  for (const [name, value] of await scrape(admin))
    if (name.startsWith('gw_worker_heap_used_bytes{')) heapBytes += value
  if (processTree(pid).length === 0) throw new Error('the gateway is gone')
  return { seconds, heapBytes, rssBytes: treeRssBytes(pid), files: treeOpenFiles(pid) }
}

/** Returns the figures of the samples after the warm-up. */
export function figuresOf(samples: readonly Sample[]): Omit<SoakFigures, 'reloads' | 'failedReloads'> {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  const ends = Math.max(1, Math.floor(warm.length * END_SHARE))
  const ofEnds = (value: (sample: Sample) => number): [number, number] => [
    warm.length === 0 ? 0 : median(warm.slice(0, ends).map(value)),
    warm.length === 0 ? 0 : median(warm.slice(-ends).map(value)),
  ]
  return {
    samples: warm.length,
    spanSeconds: (warm.at(-1)?.seconds ?? 0) - (warm[0]?.seconds ?? 0),
    heap: warm.length < 3 ? null : slopeOf(warm),
    rssBytes: ofEnds(({ rssBytes }) => rssBytes),
    files: ofEnds(({ files }) => files),
  }
}

/** Returns the growth of the heaps with its standard error. */
function slopeOf(samples: readonly Sample[]): NonNullable<SoakFigures['heap']> {
  const { slope, meanY, error } = lineThrough(samples.map(({ seconds, heapBytes }) => [seconds, heapBytes]))
  return { bytes: meanY, bytesPerHour: slope * HOUR, errorPerHour: error * HOUR }
}

import type { RunningGateway } from '../contestant/gateway.js'
import { openFiles, processTree, rssBytes } from '../measure/process-use.js'
import { scrape } from '../measure/worker-diagnostics.js'
import type { SoakFigures } from '../model/trial.js'
import { mean, median } from '../statistics.js'
import { slopeOf } from './slope.js'

const HEAP = 'gw_worker_heap_used_bytes{'
const HOUR = 3600
/** Of the samples: a heap that has just begun grows in any case. */
const WARM_UP_SHARE = 0.1
/** Of the samples, at either end. */
const END_SHARE = 0.1

interface SoakSample {
  readonly seconds: number
  readonly heapBytes: number
  readonly rssBytes: number
  readonly files: number
}

/** Follows memory and open files of a gateway; its reloads are counted by whoever makes them. */
export class SoakWatch {
  readonly #gateway: RunningGateway
  readonly #startMono = performance.now()
  readonly #samples: SoakSample[] = []

  constructor(gateway: RunningGateway) {
    this.#gateway = gateway
  }

  /** A look that fails is made up for by the next. */
  async look(): Promise<void> {
    const { admin, pid } = this.#gateway
    const seconds = (performance.now() - this.#startMono) / 1000
    try {
      let heapBytes = 0
      for (const [name, value] of await scrape(admin)) if (name.startsWith(HEAP)) heapBytes += value
      const pids = processTree(pid)
      const sum = (of: (pid: number) => number): number => pids.reduce((all, each) => all + of(each), 0)
      this.#samples.push({ seconds, heapBytes, rssBytes: sum(rssBytes), files: sum(openFiles) })
    } catch {}
  }

  figures(): Omit<SoakFigures, 'reloads' | 'failedReloads'> {
    const warm = this.#samples.slice(Math.floor(this.#samples.length * WARM_UP_SHARE))
    const slope = slopeOf(warm.map(({ seconds, heapBytes }) => ({ seconds, value: heapBytes })))
    const ends = Math.max(1, Math.floor(warm.length * END_SHARE))
    const [first, last] = [warm.slice(0, ends), warm.slice(-ends)]
    const ofEnds = (name: 'rssBytes' | 'files'): readonly [number, number] => [
      middle(first, name),
      middle(last, name),
    ]
    return {
      samples: warm.length,
      spanSeconds: (warm.at(-1)?.seconds ?? 0) - (warm[0]?.seconds ?? 0),
      heap:
        slope === null
          ? null
          : {
              bytes: mean(warm.map(({ heapBytes }) => heapBytes)),
              bytesPerHour: slope.perSecond * HOUR,
              bytesPerHourError: slope.error * HOUR,
            },
      rssBytes: ofEnds('rssBytes'),
      files: ofEnds('files'),
    }
  }
}

function middle(samples: readonly SoakSample[], name: 'rssBytes' | 'files'): number {
  return samples.length === 0 ? 0 : median(samples.map((sample) => sample[name]))
}

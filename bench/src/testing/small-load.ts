import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { bodyOf } from '../engine/call-body.js'
import type { Engine, LoadOptions, LoadResult } from '../model/engine.js'
import { emptyHistogram, record, spectrumOf } from '../model/spectrum.js'
import { NO_ERRORS } from '../model/summary.js'
import type { RunParts } from '../run/run-suite.js'
import { sampleSummary } from './samples.js'

/** Of runs whose host nobody looks at, which takes two seconds, with a load generator in this process. */
export function partsOf(engine: Engine): RunParts {
  return {
    engineOf: () => engine,
    lookAtHost: async () => sampleSummary([]).host,
    isNodeMeasured: false,
  }
}

/** A load generator in this process: real requests over kept connections, as many as the options say. */
export function smallLoad(before: (options: LoadOptions) => void = () => {}): Engine {
  return {
    name: 'autocannon',
    hasOpenLoop: true,
    remedy: 'write one',
    version: () => '0.0.0',
    run: async (options) => {
      before(options)
      return load(options)
    },
  }
}

/** A short load at 1000 requests per second, which is also its saturation on every machine. */
export function steadyLoad(): Engine {
  const engine = smallLoad()
  return {
    ...engine,
    run: (options) => engine.run({ ...options, perSecond: options.perSecond ?? 1000, seconds: 0.3 }),
  }
}

export const SMALL_PARTS = partsOf(smallLoad())

async function load(options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds, perSecond } = options
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const latencies = emptyHistogram()
  const errors = { ...NO_ERRORS }
  const startMono = performance.now()
  const endMono = startMono + seconds * 1000
  let planned = 0
  const one = async (): Promise<void> => {
    while (performance.now() < endMono) {
      const dueMono = perSecond === null ? performance.now() : startMono + (planned++ * 1000) / perSecond
      if (dueMono > endMono) return
      if (dueMono > performance.now()) await sleep(dueMono - performance.now())
      const status = await ask(options, agent).catch(() => 0)
      if (status >= 200 && status < 300) record(latencies, (performance.now() - dueMono) * 1000)
      else errors[status === 0 ? 'connect' : 'status']++
    }
  }
  await Promise.all(Array.from({ length: connections }, one))
  agent.destroy()
  const elapsed = (performance.now() - startMono) / 1000
  const latency = spectrumOf(latencies, perSecond !== null)
  return { requests: latencies.totalCount, seconds: elapsed, errors, latency, busyShare: 0.5 }
}

function ask({ origin, call }: LoadOptions, agent: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(origin + call.path, { method: call.method, headers: call.headers, agent })
    request.once('error', reject)
    request.once('response', (response) => {
      response.resume()
      response.once('error', reject)
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    request.end(call.body === null ? undefined : bodyOf(call.body))
  })
}

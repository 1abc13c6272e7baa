import http from 'node:http'
import type { Engine, ErrorClass, LoadOrder, LoadResult, Spectrum } from '../../model/engine.js'
import { mean } from '../../statistics.js'

const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99]

/** A load generator in this process: real requests over kept connections, as many as the order says. */
export function smallLoad(before: (order: LoadOrder) => void = () => {}): Engine {
  return {
    name: 'autocannon',
    hasOpenLoop: true,
    remedy: 'write one',
    version: () => '0.0.0',
    run: async (order) => {
      before(order)
      return load(order)
    },
  }
}

/** The distributions of all repetitions as one, without exactness between the percentiles. */
export function mergedSpectrum(spectra: readonly Spectrum[]): Spectrum {
  const [first] = spectra
  if (first === undefined) throw new Error('there is nothing to merge')
  return { ...first, count: spectra.reduce((sum, { count }) => sum + count, 0) }
}

async function load(order: LoadOrder): Promise<LoadResult> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: order.connections })
  const micros: number[] = []
  const errors: Record<ErrorClass, number> = { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 }
  const startMono = performance.now()
  const endMono = startMono + order.seconds * 1000
  let planned = 0
  const one = async (): Promise<void> => {
    while (performance.now() < endMono) {
      const atMono = await turn(
        order.perSecond === null ? null : startMono + (planned++ * 1000) / order.perSecond,
      )
      if (atMono > endMono) return
      const status = await ask(order, agent).catch(() => 0)
      if (status === 200) micros.push((performance.now() - atMono) * 1000)
      else errors[status === 0 ? 'connect' : 'status']++
    }
  }
  await Promise.all(Array.from({ length: order.connections }, one))
  agent.destroy()
  const seconds = (performance.now() - startMono) / 1000
  return { requests: micros.length, seconds, errors, latency: spectrumOf(micros), busyShare: 0.5 }
}

async function turn(atMono: number | null): Promise<number> {
  if (atMono === null) return performance.now()
  const waitMs = atMono - performance.now()
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  return atMono
}

function ask({ origin, call }: LoadOrder, agent: http.Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.request(origin + call.path, { method: call.method, headers: call.headers, agent })
    request.once('error', reject)
    request.once('response', (response) => {
      response.resume()
      response.once('error', reject)
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    request.end(call.body === null ? undefined : 'x'.repeat(call.body.bytes))
  })
}

function spectrumOf(micros: readonly number[]): Spectrum | null {
  if (micros.length === 0) return null
  const sorted = micros.toSorted((a, b) => a - b)
  const at = (percentile: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percentile) / 100))]!
  return {
    isCorrected: false,
    count: sorted.length,
    meanMicros: mean(sorted),
    stdevMicros: 0,
    maxMicros: sorted.at(-1)!,
    percentiles: PERCENTILES.map((percentile) => ({ percentile, micros: at(percentile) })),
    hdr: null,
  }
}

import { type Engine, type LoadResult, maskedPath, type Spectrum, temporaryFolder } from '@sluice/bench'
import { EXIT, Failure } from '../failure.js'
import { outliveReader, print, printValue, say } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { type CallFlags, callOf } from './call.js'
import { type Interruption, listenForInterruption } from './interruption.js'
import { installedEngine } from './run-order.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'

interface LoadgenFlags extends OutputOptions, CallFlags {
  readonly engine: Engine['name']
  readonly connections: number
  readonly seconds: number
  /** Requests a second; absent: as fast as it goes. */
  readonly rate?: number
}

const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99]

/** `gw bench loadgen`: a load generator by itself. Exits with 1 when nothing was answered. */
export function benchLoadgen(tools: BenchTools): (flags: LoadgenFlags, url: string) => Promise<number> {
  return async (flags, url) => {
    const { origin, call } = callOf(url, flags)
    const engine = installedEngine(tools, flags.engine)
    const { connections, seconds, rate: perSecond = null } = flags
    if (perSecond !== null && !engine.hasOpenLoop)
      throw new Failure(
        EXIT.usage,
        `${engine.name} cannot hold a rate; leave out --rate, or choose another --engine`,
      )
    outliveReader()
    say(
      `${call.method} ${origin}${maskedPath(call.path)}, ${connections} connections, ${seconds} s, ${engine.name}`,
    )
    const folder = temporaryFolder('sluice-load-')
    const interruption = stopsAtOnce()
    try {
      const order = {
        origin,
        call,
        connections,
        warmUpSeconds: 0,
        seconds,
        perSecond,
        cpu: null,
        dir: folder.path,
      }
      const result = await engine.run(order).catch((error: unknown) => {
        throw toolFailure(error)
      })
      if (flags.output === 'table') print(...linesOf(result, perSecond))
      else await printValue(result, flags.output)
      return result.requests === 0 ? EXIT.failed : EXIT.ok
    } finally {
      interruption.end()
      await folder.remove()
    }
  }
}

/** A load that was cut short has no result: signals end it, the load generator and this process. */
function stopsAtOnce(): Interruption {
  const stop = (): never => {
    say('stopped; the load has no result')
    process.exit(EXIT.failed)
  }
  return listenForInterruption(stop, stop)
}

function linesOf(result: LoadResult, perSecond: number | null): string[] {
  const { requests, seconds, errors, latency, busyShare } = result
  const failed = Object.entries(errors).filter(([, count]) => count > 0)
  const failures = failed.map(([name, count]) => `${count} ${name}`).join(', ')
  return [
    `${(requests / seconds).toFixed(0)} requests/s: ${requests} in ${seconds.toFixed(1)} s`,
    `errors: ${failures === '' ? 'none' : failures}`,
    ...latencyLines(latency, perSecond),
    `the load generator was busy for ${(busyShare * 100).toFixed(0)} % of the time`,
  ]
}

function latencyLines(latency: Spectrum | null, perSecond: number | null): string[] {
  if (latency === null) return ['latency: not told by this engine']
  const how = latency.isCorrected ? 'corrected for coordinated omission' : 'at overload, as fast as it goes'
  const heading = perSecond === null ? how : `${perSecond} requests a second wanted, ${how}`
  const known = latency.percentiles.filter(({ percentile }) => PERCENTILES.includes(percentile))
  return [
    `latency, ${heading}:`,
    ...known.map(({ percentile, micros }) => `  ${`P${percentile}`.padEnd(7)} ${milliseconds(micros)}`),
    `  ${'max'.padEnd(7)} ${milliseconds(latency.maxMicros)}`,
  ]
}

function milliseconds(micros: number): string {
  return `${(micros / 1000).toFixed(3).padStart(10)} ms`
}

import { ENDING_SIGNALS, EXIT, outliveReader, print, printValue, say, usageError } from '@sluice/cli/kit'
import { maskedPath } from '../lib/masking.js'
import type { EngineName, LoadResult } from '../model/engine.js'
import type { Spectrum } from '../model/summary.js'
import { temporaryFolder } from '../process/process-reaper.js'
import { type CallFlags, callOf } from './call.js'
import { installedEngine } from './run-options.js'
import { mendable } from './settings.js'

interface LoadgenFlags extends CallFlags {
  readonly engine: EngineName
  readonly connections: number
  readonly seconds: number
  /** Requests per second. Full speed if absent. */
  readonly rate?: number
  readonly output: 'table' | 'json'
}

const PERCENTILES = [50, 75, 90, 95, 99, 99.9, 99.99]

/** `gw bench loadgen`: runs a load generator alone. Exits with 1 if there was no response. */
export async function benchLoadgen(flags: LoadgenFlags, url: string): Promise<number> {
  const { origin, call } = callOf(url, flags)
  const engine = installedEngine(flags.engine)
  const { connections, seconds, rate: perSecond = null } = flags
  if (perSecond !== null && !engine.hasOpenLoop)
    throw usageError(`${engine.name} cannot hold a rate; leave out --rate, or choose another --engine`)
  outliveReader()
  say(
    `${call.method} ${origin}${maskedPath(call.path)}, ${connections} connections, ${seconds} s, ${engine.name}`,
  )
  // An interrupted load has no result: signals end the load generator and this process.
  for (const name of ENDING_SIGNALS)
    process.once(name, () => {
      say('stopped; the load has no result')
      process.exit(EXIT.failed)
    })
  const folder = temporaryFolder('sluice-load-')
  try {
    const load = {
      origin,
      call,
      connections,
      warmUpSeconds: 0,
      seconds,
      perSecond,
      cpu: null,
      dir: folder.path,
    }
    const result = await engine.run(load).catch((error: unknown) => {
      throw mendable(error)
    })
    if (flags.output === 'table') print(...linesOf(result, perSecond))
    else await printValue(result, flags.output)
    return result.requests === 0 ? EXIT.failed : EXIT.ok
  } finally {
    await folder.remove()
  }
}

function linesOf(
  { requests, seconds, errors, latency, busyShare }: LoadResult,
  perSecond: number | null,
): string[] {
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
  if (latency === null) return ['latency: not reported by this engine']
  const how = latency.isCorrected ? 'corrected for coordinated omission' : 'at overload, as fast as it goes'
  const line = (name: string, micros: number): string =>
    `  ${name.padEnd(7)} ${(micros / 1000).toFixed(3).padStart(10)} ms`
  const known = latency.percentiles.filter(({ percentile }) => PERCENTILES.includes(percentile))
  return [
    `latency, ${perSecond === null ? how : `${perSecond} requests a second wanted, ${how}`}:`,
    ...known.map(({ percentile, micros }) => line(`P${percentile}`, micros)),
    line('max', latency.maxMicros),
  ]
}

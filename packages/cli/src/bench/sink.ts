import { once } from 'node:events'
import type { LogSinkTotals } from '@sluice/bench'
import { formatSize, parseDuration } from '@sluice/core'
import { untilSignal } from '../commands/until-signal.js'
import { EXIT, Failure, messageOf } from '../failure.js'
import { outliveReader, print, printValue } from '../output/output.js'
import type { OutputOptions } from '../program/building.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'

interface SinkFlags extends OutputOptions {
  readonly listen: string
  readonly reject: number
  readonly delay: string
}

const TELL_MS = 1000

/** `gw bench sink`: takes what traffic logs ship, counts it and forgets it, until a signal. */
export function benchSink(tools: BenchTools): (flags: SinkFlags) => Promise<number> {
  return async ({ listen, reject, delay, output }) => {
    const { signal } = untilSignal()
    const wish = { rejectPercent: reject, delayMs: delayOf(delay) }
    const sink = await tools.startLogSink(wish, listen).catch((error: unknown) => {
      throw toolFailure(error)
    })
    outliveReader()
    if (output === 'table') print(`sink on ${sink.url}, totals at ${sink.url}/_sink`)
    let told = sink.totals()
    const timer = setInterval(() => {
      const now = sink.totals()
      if (output === 'table' && now.records !== told.records) print(lineOf(now, now.records - told.records))
      told = now
    }, TELL_MS)
    if (!signal.aborted) await once(signal, 'abort')
    clearInterval(timer)
    await sink.stop()
    if (output === 'table') print(`in all ${lineOf(sink.totals(), null)}`)
    else await printValue(sink.totals(), output)
    return EXIT.ok
  }
}

function lineOf({ requests, records, refused, bytes }: LogSinkTotals, perSecond: number | null): string {
  const rate = perSecond === null ? '' : `, ${perSecond} in this second`
  const again = refused === 0 ? '' : `, ${refused} refused`
  return `${records} records in ${requests} requests${again}, ${formatSize(bytes)}${rate}`
}

function delayOf(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw new Failure(EXIT.usage, `--delay: ${messageOf(error)}`)
  }
}

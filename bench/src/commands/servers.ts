import { once } from 'node:events'
import { outliveReader, print, printValue, untilSignal } from '@sluice/cli/kit'
import { formatSize } from '@sluice/core'
import { type LogSinkTotals, startLogSink } from '../servers/log-sink.js'
import { serveOrigin } from '../servers/origin.js'
import { durationSetting, mendable, sizeSetting } from './settings.js'

interface UpstreamFlags {
  readonly listen: string
  readonly bytes: string
  readonly echo?: boolean
  readonly delay: string
}

interface SinkFlags {
  readonly listen: string
  readonly delay: string
  readonly output: 'table' | 'json'
}

/** `gw bench upstream`: runs the origin of the benchmarks until a signal. */
export async function benchUpstream({ listen, bytes, echo, delay }: UpstreamFlags): Promise<void> {
  const behavior = {
    answer: echo === true ? ('echo' as const) : ('fixed' as const),
    bytes: sizeSetting('--bytes', bytes),
    delayMs: durationSetting('--delay', delay),
  }
  const { signal } = untilSignal()
  const origin = await serveOrigin(behavior, listen).catch((error: unknown) => {
    throw mendable(error)
  })
  outliveReader()
  print(`origin on ${origin.url}`)
  if (!signal.aborted) await once(signal, 'abort')
  await origin.stop()
}

/** `gw bench sink`: counts and discards log records until a signal. */
export async function benchSink({ listen, delay, output }: SinkFlags): Promise<void> {
  const { signal } = untilSignal()
  const sink = await startLogSink(durationSetting('--delay', delay), listen).catch((error: unknown) => {
    throw mendable(error)
  })
  outliveReader()
  if (output === 'table') print(`sink on ${sink.url}, totals at ${sink.url}/_sink`)
  if (!signal.aborted) await once(signal, 'abort')
  await sink.stop()
  if (output === 'table') print(`in all ${textOf(sink.totals)}`)
  else await printValue(sink.totals, output)
}

function textOf({ requests, records, bytes }: Readonly<LogSinkTotals>): string {
  return `${records} records in ${requests} requests, ${formatSize(bytes)}`
}

import type { TestContext } from 'node:test'
import type { LogSink } from '@sluice/core'
import type { ExchangeFields } from '@sluice/core/testing'
import type { LogOutputOptions } from '../../shipper/open-output.js'
import { openShippingSink } from '../../sinks/shipping-sink.js'
import { closeWhole, sampleExchange, scratchDir } from '../../testing.js'

/** A sink that ships to an output. It is closed after the test. */
export interface Shipping {
  readonly sink: LogSink
  readonly dir: string
  /** Problems reported to the operator. */
  readonly problems: readonly string[]
  /** Logs a number of exchanges and returns their IDs. */
  log(count: number): string[]
  /** Logs an exchange. */
  logExchange(changes: ExchangeFields): void
}

let last = 0

/** Opens a traffic log with an output, as a worker does. `dir` is the spool directory. */
export function shipTo(t: TestContext, output: LogOutputOptions, dir = scratchDir()): Shipping {
  const problems: string[] = []
  const sink = openShippingSink({
    fields: 'standard',
    worker: 1,
    version: 'test',
    configDigest: () => 'd1',
    spool: { dir, maxBytes: 64 * 1024 ** 2, whenFull: 'drop-oldest' },
    output,
    onProblem: (problem) => problems.push(problem),
  })
  t.after(() => closeWhole(sink, 5000))
  const log = (count: number): string[] => {
    const ids = Array.from({ length: count }, () => `r-${last++}`)
    for (const id of ids) sink.record(sampleExchange({ id }))
    return ids
  }
  const logExchange = (changes: ExchangeFields): void => sink.record(sampleExchange(changes))
  return { sink, dir, problems, log, logExchange }
}

import { suggestion } from '@sluice/config'
import {
  type FilterRequest,
  formatRecordLine,
  RECORD_HEADING,
  type RecordFilter,
  type RecordSource,
  type RecordView,
  recordFilter,
  type SearchOptions,
  UnknownNameError,
} from '@sluice/logger'
import { EXIT, Failure, messageOf } from '../failure.js'
import { hasColors, printHeading, printText, say } from '../output/output.js'
import { countText } from '../output/text.js'
import type { OutputOptions } from '../program/building.js'
import { openSource, type SourceFlags, sourceFailure } from './log-source.js'
import { untilSignal } from './until-signal.js'

interface LogOptions extends FilterRequest, OutputOptions, SourceFlags {
  readonly last: number
}

/** As many names as a message lists. */
const MOST_LISTED = 12

/** The records that a command shows. */
type Selection = (source: RecordSource, options: SearchOptions) => AsyncIterable<RecordView>

/** Prints the newest records of all workers, and then those that come. */
export function tail(options: LogOptions & { readonly follow: boolean }): Promise<number> {
  const { follow } = options
  return show(options, (source, search) => source.tail({ ...search, follow }))
}

/** Prints what a filter takes, oldest first. */
export function search(
  options: LogOptions & { readonly limit?: number; readonly all?: boolean },
): Promise<number> {
  const last = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? options.last)
  return show({ ...options, last }, (source, wanted) => source.search(wanted))
}

async function show(options: LogOptions, select: Selection): Promise<number> {
  const filter = filterOf(options)
  const source = await openSource(options)
  const color = hasColors()
  let shown = 0
  if (options.output === 'table') printHeading(RECORD_HEADING)
  try {
    for await (const { line, record } of select(source, {
      filter,
      last: options.last,
      signal: untilSignal().signal,
    })) {
      printText(`${options.output === 'table' ? formatRecordLine(record, { color }) : line}\n`)
      shown++
    }
  } catch (error) {
    throw sourceFailure(error)
  } finally {
    await source.close()
  }
  if (shown === 0) say('no record matches')
  if (source.skipped > 0) say(`${countText(source.skipped, 'damaged record')} left out`)
  return EXIT.ok
}

function filterOf(options: LogOptions): RecordFilter {
  try {
    return recordFilter(options)
  } catch (error) {
    throw new Failure(EXIT.usage, `${messageOf(error)}${hintOf(error)}`)
  }
}

/** What may have been meant, or the few that there are. */
function hintOf(error: unknown): string {
  if (!(error instanceof UnknownNameError) || error.known.length === 0) return ''
  const few = error.known.length <= MOST_LISTED ? `write one of ${error.known.join(', ')}` : ''
  const hint = suggestion(error.word, error.known, few)
  return hint === '' ? '' : `; ${hint}`
}

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
import '@sluice/policies/errors'
import type { OutputOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { messageOf, usageError } from '../output/failure.js'
import { hasColors, printData, printHeading, printText, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { openSource, type SourceFlags, sourceFailure } from './log-source.js'

/** Options of commands that filter the traffic log. */
export interface LogOptions extends FilterRequest, OutputOptions, SourceFlags {}

interface LastOptions extends LogOptions {
  readonly last: number
}

/** Maximum number of names to list in a message. */
const MOST_LISTED = 12

type Selection = (source: RecordSource, options: SearchOptions) => AsyncIterable<RecordView>

/** Prints the newest records of all workers, then new ones. */
export function tail(options: LastOptions & { readonly follow: boolean }): Promise<void> {
  const { follow } = options
  return show(options, (source, search) => source.tail({ ...search, follow }))
}

/** Prints matching records, oldest first. */
export function search(
  options: LastOptions & { readonly limit?: number; readonly all?: boolean },
): Promise<void> {
  const last = options.all === true ? Number.POSITIVE_INFINITY : (options.limit ?? options.last)
  return show({ ...options, last }, (source, wanted) => source.search(wanted))
}

async function show(options: LastOptions, select: Selection): Promise<void> {
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
      if (options.output === 'table') printText(`${formatRecordLine(record, { color })}\n`)
      else printData(`${line}\n`)
      shown++
    }
  } catch (error) {
    throw sourceFailure(error)
  } finally {
    await source.close()
  }
  if (shown === 0) say('no matching records')
  if (source.skipped > 0) say(`skipped ${countText(source.skipped, 'damaged record')}`)
}

/** Compiles the filter of the options. @throws Failure if it is invalid */
export function filterOf(options: LogOptions): RecordFilter {
  try {
    return recordFilter(options)
  } catch (error) {
    throw usageError(`${messageOf(error)}${hintOf(error)}`)
  }
}

/** Returns a suggestion for an unknown name, or a short list of known ones. */
function hintOf(error: unknown): string {
  if (!(error instanceof UnknownNameError) || error.known.length === 0) return ''
  const few = error.known.length <= MOST_LISTED ? `use one of ${error.known.join(', ')}` : ''
  const hint = suggestion(error.word, error.known, few)
  return hint === '' ? '' : `; ${hint}`
}

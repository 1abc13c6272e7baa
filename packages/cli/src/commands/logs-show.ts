import { type RecordView, recordFilter } from '@sluice/logger'
import type { OutputOptions } from '../input/options.js'
import { untilSignal } from '../input/until-signal.js'
import { Failure, messageOf, usageError } from '../output/failure.js'
import { print, printData, say } from '../output/output.js'
import { openSource, type SourceFlags, sourceFailure } from './log-source.js'
import { recordPage } from './record-page.js'

/** Options for finding one record. */
export interface ShowOptions extends OutputOptions, SourceFlags {
  readonly since?: string
}

/** Prints the record of a request. */
export async function showRecord(options: ShowOptions, id: string): Promise<void> {
  const { record, line } = await findRecord(options, id)
  if (options.output === 'table') print(...recordPage(record))
  else printData(options.output === 'jsonl' ? `${line}\n` : `${JSON.stringify(record, null, 2)}\n`)
}

/** Finds the newest record with a request id. @throws Failure if there is none */
export async function findRecord(options: ShowOptions, id: string): Promise<RecordView> {
  const filter = filterOf(options, id)
  const source = await openSource(options)
  const found: RecordView[] = []
  try {
    for await (const view of source.search({ filter, last: 2, signal: untilSignal().signal }))
      found.push(view)
  } catch (error) {
    throw sourceFailure(error)
  } finally {
    await source.close()
  }
  const newest = found.at(-1)
  if (newest === undefined)
    throw new Failure(
      `no record has the id '${id}'; the id is in the response's x-request-id, and records appear when requests end`,
    )
  if (found.length > 1)
    say(`several records have this id; this is the newest. All: gw logs search --id ${id}`)
  return newest
}

function filterOf({ since }: ShowOptions, id: string) {
  try {
    // In a filter, * matches any text.
    return recordFilter({ id: id.replaceAll('*', '\\*'), since })
  } catch (error) {
    throw usageError(messageOf(error))
  }
}

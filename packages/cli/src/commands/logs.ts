import { resolvePlan } from '@sluice/config'
import {
  type FilterRequest,
  formatRecordLine,
  type RecordFilter,
  recordFilter,
  tailSegments,
} from '@sluice/logger'
import { loadFile } from '../document.js'
import { EXIT, Failure, messageOf } from '../failure.js'
import { hasColors, print, say } from '../output/output.js'
import { countText } from '../output/text.js'
import type { OutputOptions } from '../program/building.js'
import { untilSignal } from './until-signal.js'

interface TailOptions extends FilterRequest, OutputOptions {
  readonly dir?: string
  readonly config?: string
  readonly last: number
  readonly follow: boolean
}

const DEFAULT_DIR = './data/traffic'

/** Prints the newest records of all workers, and then those that come. */
export async function tail(options: TailOptions): Promise<number> {
  const filter = filterOf(options)
  const dir = options.dir ?? dirOf(options.config)
  const { follow, last } = options
  const records = tailSegments(dir, { follow, last, filter, signal: untilSignal().signal })
  const color = hasColors()
  try {
    for await (const { line, record } of records) {
      print(options.output === 'table' ? formatRecordLine(record, { color }) : line)
    }
  } catch (error) {
    throw new Failure(EXIT.failed, messageOf(error))
  }
  if (records.skippedLines > 0) say(`${countText(records.skippedLines, 'damaged line')} left out`)
  return EXIT.ok
}

function filterOf(options: TailOptions): RecordFilter {
  try {
    return recordFilter(options)
  } catch (error) {
    throw new Failure(EXIT.usage, messageOf(error))
  }
}

function dirOf(config: string | undefined): string {
  if (config === undefined) return DEFAULT_DIR
  const { log } = resolvePlan(loadFile(config))
  if (log.sink === 'file') return log.file.dir
  throw new Failure(
    EXIT.failed,
    `${config} has log.sink: ${log.sink}, so there are no log files; name one with --dir`,
  )
}

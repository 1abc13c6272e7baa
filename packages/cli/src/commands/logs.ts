import { type FilterRequest, formatRecordLine, recordFilter, tailSegments } from '@sluice/logger'
import { loadFile } from '../document.js'
import { EXIT, Failure } from '../failure.js'
import { type Format, hasColor, print, say } from '../output/output.js'

export interface TailOptions extends FilterRequest {
  readonly dir?: string
  readonly config?: string
  readonly last: number
  readonly follow: boolean
  readonly output: Format
}

/** `gw logs tail`: the records of all workers, the newest last, and then those that come. */
export async function tail(options: TailOptions): Promise<number> {
  const dir = options.dir ?? dirOf(options.config)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const records = tailSegments(dir, {
    follow: options.follow,
    last: options.last,
    filter: filterOf(options),
    signal: stop.signal,
  })
  try {
    for await (const { line, record } of records) {
      print(options.output === 'table' ? formatRecordLine(record, { color: hasColor() }) : line)
    }
  } catch (error) {
    throw new Failure(EXIT.failed, (error as Error).message)
  }
  if (records.skippedLines > 0) say(`${records.skippedLines} damaged lines were skipped`)
  return EXIT.ok
}

function filterOf(options: TailOptions): ReturnType<typeof recordFilter> {
  try {
    return recordFilter(options)
  } catch (error) {
    throw new Failure(EXIT.usage, (error as Error).message)
  }
}

function dirOf(config: string | undefined): string {
  return config === undefined ? './data/traffic' : loadFile(config).plan.log.file.dir
}

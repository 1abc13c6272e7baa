import { resolvePlan } from '@sluice/config'
import { FileSource, type RecordSource, SourceError, type SourceFault } from '@sluice/logger'
import { loadFile } from '../document.js'
import { EXIT, type ExitCode, Failure, messageOf } from '../failure.js'
import { say } from '../output/output.js'
import {
  documentPlace,
  type ElasticsearchFlags,
  type ElasticsearchPlace,
  namedPlace,
} from './elasticsearch-access.js'

/** Where to read the traffic log. */
export interface SourceFlags extends ElasticsearchFlags {
  readonly dir?: string
}

const DEFAULT_DIR = './data/traffic'
const EXIT_OF: Readonly<Record<SourceFault, ExitCode>> = {
  unreachable: EXIT.unreachable,
  refused: EXIT.unauthorised,
  missing: EXIT.failed,
  failed: EXIT.failed,
}

/** The traffic log that the options name, else that of the document, else the files in the usual place. @throws Failure. */
export async function openSource(flags: SourceFlags): Promise<RecordSource> {
  const { config, dir, elasticsearch } = flags
  if (elasticsearch !== undefined) {
    if (dir !== undefined) throw new Failure(EXIT.usage, 'name --dir or --elasticsearch, not both')
    return openElasticsearch(namedPlace(flags, elasticsearch))
  }
  if (dir !== undefined) return openFiles(flags, dir)
  return config === undefined ? openFiles(flags, DEFAULT_DIR) : openOfDocument(flags, config)
}

/** What was thrown while a source was read, with the exit code that belongs to it. */
export function sourceFailure(error: unknown): Failure {
  return new Failure(error instanceof SourceError ? EXIT_OF[error.fault] : EXIT.failed, messageOf(error))
}

async function openOfDocument(flags: SourceFlags, config: string): Promise<RecordSource> {
  const { log } = resolvePlan(await loadFile(config))
  if (log.sink === 'file') return openFiles(flags, log.file.dir)
  if (log.sink === 'elasticsearch' && log.elasticsearch !== null) {
    return openElasticsearch(documentPlace(flags, log.elasticsearch))
  }
  throw new Failure(
    EXIT.failed,
    `${config} has log.sink: ${log.sink}, ${absence(log.sink)}; name one with --dir or --elasticsearch`,
  )
}

function absence(sink: string): string {
  return sink === 'none' ? 'so there is no traffic log' : 'and what went there cannot be read from here'
}

function openFiles(flags: SourceFlags, dir: string): RecordSource {
  if (flags.dataStream === undefined) return new FileSource(dir)
  throw new Failure(
    EXIT.usage,
    `--data-stream is of Elasticsearch, and ${dir} has files; name the cluster with --elasticsearch`,
  )
}

async function openElasticsearch(place: ElasticsearchPlace): Promise<RecordSource> {
  const { ElasticsearchSource } = await import('@sluice/logger/elasticsearch')
  try {
    return new ElasticsearchSource({ ...place, onProblem: say })
  } catch (error) {
    throw sourceFailure(error)
  }
}

import { FileSource, type RecordSource, SourceError, type SourceFault } from '@sluice/logger'
import { EXIT, type ExitCode, Failure, messageOf } from '../failure.js'
import { say } from '../output/output.js'
import {
  documentAccess,
  type ElasticsearchAccess,
  type ElasticsearchFlags,
  namedAccess,
} from './elasticsearch-access.js'
import { type NamedOutlet, outletsOf, requireDocument } from './log-outlets.js'

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

/** The traffic log that the options name, else that of the document, else the files in the usual location. @throws Failure. */
export async function openSource(flags: SourceFlags): Promise<RecordSource> {
  const { config, dir, elasticsearch, target } = flags
  requireDocument(flags)
  if (elasticsearch !== undefined && dir !== undefined)
    throw new Failure(EXIT.usage, 'name --dir or --elasticsearch, not both')
  if (target !== undefined && (elasticsearch ?? dir) !== undefined) {
    const other = dir === undefined ? '--elasticsearch' : '--dir'
    const why = `--target names a target of the document, and ${other} another place; leave one out`
    throw new Failure(EXIT.usage, why)
  }
  if (elasticsearch !== undefined) {
    return openElasticsearch(namedAccess(flags, elasticsearch))
  }
  if (dir !== undefined) return openFiles(flags, dir)
  return config === undefined ? openFiles(flags, DEFAULT_DIR) : openOfDocument(flags, config)
}

/** What was thrown while a source was read, with the exit code that belongs to it. */
export function sourceFailure(error: unknown): Failure {
  return new Failure(error instanceof SourceError ? EXIT_OF[error.fault] : EXIT.failed, messageOf(error))
}

/** The first location that can be read from here. */
async function openOfDocument(flags: SourceFlags, config: string): Promise<RecordSource> {
  const outlets = await outletsOf(config, flags.target)
  for (const { outlet } of outlets) {
    if (outlet.sink === 'file') return openFiles(flags, outlet.file.dir)
    if (outlet.sink === 'elasticsearch' && outlet.elasticsearch !== null) {
      return openElasticsearch(documentAccess(flags, outlet.elasticsearch))
    }
  }
  const there = outlets.filter(
    ({ id, outlet }) => id !== 'main' || outlet.sink !== 'none' || outlets.length === 1,
  )
  const sinks = there.map(({ id, outlet }) => `${id === 'main' ? 'log' : id}.sink: ${outlet.sink}`).join(', ')
  throw new Failure(
    EXIT.failed,
    `${config} has ${sinks}, ${absence(there)}; name one with --dir or --elasticsearch`,
  )
}

function absence(outlets: readonly NamedOutlet[]): string {
  const isSilent = outlets.every(({ outlet }) => outlet.sink === 'none')
  return isSilent ? 'so there is no traffic log' : 'and what went there cannot be read from here'
}

function openFiles(flags: SourceFlags, dir: string): RecordSource {
  if (flags.dataStream === undefined) return new FileSource(dir)
  throw new Failure(
    EXIT.usage,
    `--data-stream is of Elasticsearch, and ${dir} has files; name the cluster with --elasticsearch`,
  )
}

async function openElasticsearch(access: ElasticsearchAccess): Promise<RecordSource> {
  const { ElasticsearchSource } = await import('@sluice/logger/elasticsearch')
  try {
    return new ElasticsearchSource({ ...access, onProblem: say })
  } catch (error) {
    throw sourceFailure(error)
  }
}

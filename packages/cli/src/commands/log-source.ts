import { FileSource, type RecordSource, SourceError, type SourceFault } from '@sluice/logger'
import { EXIT, type ExitCode, Failure, messageOf, usageError } from '../output/failure.js'
import { say } from '../output/output.js'
import {
  documentAccess,
  type ElasticsearchAccess,
  type ElasticsearchFlags,
  namedAccess,
} from './elasticsearch-access.js'
import { type NamedOutlet, outletsOf, requireDocument } from './log-outlets.js'

/** Options for the source of the traffic log. */
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

/** Opens the traffic log in the options, else of the document, else in the default folder. @throws Failure */
export async function openSource(flags: SourceFlags): Promise<RecordSource> {
  const { config, dir, elasticsearch, target } = flags
  requireDocument(flags)
  if (elasticsearch !== undefined && dir !== undefined)
    throw usageError('use either --dir or --elasticsearch, not both')
  if (target !== undefined && (elasticsearch ?? dir) !== undefined) {
    const other = dir === undefined ? '--elasticsearch' : '--dir'
    const why = `--target refers to a target in the document and cannot be combined with ${other}`
    throw usageError(why)
  }
  if (elasticsearch !== undefined) return openElasticsearch(namedAccess(flags, elasticsearch))
  if (dir !== undefined) return openFiles(flags, dir)
  return config === undefined ? openFiles(flags, DEFAULT_DIR) : openOfDocument(flags, config)
}

/** Converts an error of a source to a failure with its exit code. */
export function sourceFailure(error: unknown): Failure {
  return new Failure(messageOf(error), error instanceof SourceError ? EXIT_OF[error.fault] : EXIT.failed)
}

/** Opens the first log target that can be read. */
async function openOfDocument(flags: SourceFlags, config: string): Promise<RecordSource> {
  const outlets = await outletsOf(config, flags.target)
  for (const { outlet } of outlets) {
    if (outlet.sink === 'file') return openFiles(flags, outlet.file.dir)
    if (outlet.sink === 'elasticsearch' && outlet.elasticsearch !== null)
      return openElasticsearch(documentAccess(flags, outlet.elasticsearch))
  }
  const there = outlets.filter(
    ({ id, outlet }) => id !== 'main' || outlet.sink !== 'none' || outlets.length === 1,
  )
  const sinks = there.map(({ id, outlet }) => `${id === 'main' ? 'log' : id}.sink: ${outlet.sink}`).join(', ')
  throw new Failure(`${config} has ${sinks}, ${absence(there)}; use --dir or --elasticsearch`)
}

function absence(outlets: readonly NamedOutlet[]): string {
  const isSilent = outlets.every(({ outlet }) => outlet.sink === 'none')
  return isSilent ? 'so there is no traffic log' : 'which gw cannot read'
}

function openFiles(flags: SourceFlags, dir: string): RecordSource {
  if (flags.dataStream === undefined) return new FileSource(dir)
  throw usageError(`--data-stream needs Elasticsearch, but ${dir} contains files; add --elasticsearch`)
}

async function openElasticsearch(access: ElasticsearchAccess): Promise<RecordSource> {
  const { ElasticsearchSource } = await import('@sluice/logger/elasticsearch')
  try {
    return new ElasticsearchSource({ ...access, onProblem: say })
  } catch (error) {
    throw sourceFailure(error)
  }
}

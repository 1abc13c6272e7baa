import { errors } from '@elastic/elasticsearch'
import { statusOf, textOf } from '../../outputs/elasticsearch/failure.js'
import { SourceError, type SourceFault } from '../record-source.js'

/** What was asked, for the messages. */
export interface Location {
  readonly nodes: readonly string[]
  readonly dataStream: string
}

/** Answers that say that the cluster cannot serve now. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** An error of the client in words, with what to do. */
export function sourceError(error: unknown, location: Location): SourceError {
  if (error instanceof SourceError) return error
  const status = statusOf(error)
  return new SourceError(faultOf(error, status), messageOf(error, status, location), error)
}

/** Whether an error passes without anybody's help. */
export function isPassing(error: unknown): boolean {
  return faultOf(error, statusOf(error)) === 'unreachable'
}

function faultOf(error: unknown, status: number): SourceFault {
  if (status === 401 || status === 403) return 'refused'
  if (PASSING.has(status)) return 'unreachable'
  if (status > 0) return isAbsent(error) ? 'missing' : 'failed'
  const isUnreachable =
    error instanceof errors.ConnectionError ||
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoLivingConnectionsError
  return isUnreachable ? 'unreachable' : 'failed'
}

function messageOf(error: unknown, status: number, { nodes, dataStream }: Location): string {
  const cluster = `Elasticsearch at ${nodes.join(', ')}`
  if (status === 401) return `${cluster} refuses the credentials (401); check the user, password or API key`
  if (status === 403) return `${cluster} does not allow it (403): ${textOf(error)}`
  if (isAbsent(error)) {
    return `there is no data stream ${dataStream} in ${cluster}; create it with gw log-setup, or name another one`
  }
  if (status > 0) return `${cluster} answered ${status}: ${textOf(error)}`
  if (error instanceof errors.ProductNotSupportedError)
    return `what answers at ${nodes.join(', ')} is not Elasticsearch`
  const reason = textOf(error)
  const remedy = /certificate/.test(reason)
    ? '; trust it with --es-ca-file or log.elasticsearch.tls.caFile'
    : ''
  return `${cluster} does not answer: ${reason}${remedy}`
}

function isAbsent(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.body?.error?.type === 'index_not_found_exception'
}

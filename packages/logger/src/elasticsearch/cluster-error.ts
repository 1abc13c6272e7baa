import { errors } from '@elastic/elasticsearch'
import { messageOf } from '@sluice/core'
import { SourceError, type SourceFault } from '../lib/source-error.js'

/** Source of a query, for error messages. */
export interface Location {
  readonly nodes: readonly string[]
  readonly dataStream: string
}

/** Remedy if the server is not Elasticsearch. */
const OPENSEARCH = '; for OpenSearch, set log.elasticsearch.product: opensearch'
/** Message of OpenSearch for points in time of Elasticsearch. */
const UNKNOWN_PATH = /no handler found for uri \[[^\]]*\/_pit\b/
const MAX_REASON = 500
/** Statuses of a temporarily unavailable cluster. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Converts a client error to a SourceError with a remedy. */
export function sourceError(error: unknown, location: Location): SourceError {
  if (error instanceof SourceError) return error
  const status = statusOf(error)
  return new SourceError(faultOf(error, status), queryProblem(error, status, location), error)
}

/** Returns true if an error is temporary. */
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

function queryProblem(error: unknown, status: number, { nodes, dataStream }: Location): string {
  const cluster = `Elasticsearch at ${nodes.join(', ')}`
  if (status === 401) return `${cluster} rejected the credentials (401); check the user, password or API key`
  if (status === 403) return `${cluster} denied access (403): ${textOf(error)}`
  if (isAbsent(error)) {
    return `data stream ${dataStream} does not exist in ${cluster}; create it with gw log-setup, or specify another one`
  }
  const reason = textOf(error)
  if (error instanceof errors.ProductNotSupportedError || UNKNOWN_PATH.test(reason))
    return `the server at ${nodes.join(', ')} is not Elasticsearch${OPENSEARCH}`
  if (status > 0) return `${cluster} responded with ${status}: ${reason}`
  const remedy = /certificate/.test(reason)
    ? '; trust it with --es-ca-file or log.elasticsearch.tls.caFile'
    : ''
  return `${cluster} does not respond: ${reason}${remedy}`
}

function isAbsent(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.body?.error?.type === 'index_not_found_exception'
}

/** Returns the HTTP status of an error, or 0 if there was no response. */
export function statusOf(error: unknown): number {
  return error instanceof errors.ResponseError ? (error.statusCode ?? 0) : 0
}

/** Returns a description of an error for the operator, with a remedy. Never contains credentials. */
export function reasonOf(error: unknown): string {
  const status = statusOf(error)
  if (status === 401) return 'Elasticsearch rejected the credentials (401); check log.elasticsearch.auth'
  if (status === 403) return `Elasticsearch denied access (403): ${textOf(error)}`
  // OpenSearch does not know the media types of Elasticsearch.
  if (status === 406) return `the server is not Elasticsearch (406)${OPENSEARCH}`
  if (status > 0) return `Elasticsearch responded with ${status}: ${textOf(error)}`
  if (error instanceof errors.ProductNotSupportedError) return `the server is not Elasticsearch${OPENSEARCH}`
  return `Elasticsearch does not respond: ${textOf(error)}`
}

/** Returns the message of an error as one line. */
function textOf(error: unknown): string {
  const text = messageOf(error)
  return text.replace(/\s+/g, ' ').slice(0, MAX_REASON)
}

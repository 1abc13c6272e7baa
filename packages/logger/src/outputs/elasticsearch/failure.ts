import { errors } from '@elastic/elasticsearch'
import type { Delivery } from '../output.js'
import { isIndexError } from './bulk-answer.js'

const MAX_REASON = 500

/** Returns the outcome for the records of a bulk request that failed as a whole. */
export function failedDelivery(error: unknown): Delivery {
  const reason = reasonOf(error)
  const status = statusOf(error)
  const isRefused = status === 400 && isByElasticsearch(error) && !isIndexError(status, typeOf(error))
  if (status === 413 || isRefused) return { kind: 'unfit', status, reason }
  const overload = status === 429 || status === 503 || error instanceof errors.TimeoutError
  return { kind: 'failed', overload, reason }
}

/**
 * Returns true if Elasticsearch itself sent the response. A 400 without its product header comes from a proxy
 * and does not concern a record.
 */
function isByElasticsearch(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.headers?.['x-elastic-product'] === 'Elasticsearch'
}

function typeOf(error: unknown): string | undefined {
  const body: unknown = error instanceof errors.ResponseError ? error.body : null
  return (body as { readonly error?: { readonly type?: string } } | null)?.error?.type
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
  if (status > 0) return `Elasticsearch responded with ${status}: ${textOf(error)}`
  return `Elasticsearch does not respond: ${textOf(error)}`
}

/** Returns the message of an error as one line. */
export function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/\s+/g, ' ').slice(0, MAX_REASON)
}

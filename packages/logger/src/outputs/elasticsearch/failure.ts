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

/** A 400 without the name that Elasticsearch puts on its answers is from something before it, and about no record. */
function isByElasticsearch(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.headers?.['x-elastic-product'] === 'Elasticsearch'
}

function typeOf(error: unknown): string | undefined {
  const body: unknown = error instanceof errors.ResponseError ? error.body : null
  return (body as { readonly error?: { readonly type?: string } } | null)?.error?.type
}

/** The HTTP status of an error; 0 when there was no answer. */
export function statusOf(error: unknown): number {
  return error instanceof errors.ResponseError ? (error.statusCode ?? 0) : 0
}

/** What an operator should know of an error, with what to do; never a credential. */
export function reasonOf(error: unknown): string {
  const status = statusOf(error)
  if (status === 401) return 'Elasticsearch refuses the credentials (401); check log.elasticsearch.auth'
  if (status === 403) return `Elasticsearch does not allow it (403): ${textOf(error)}`
  if (status > 0) return `Elasticsearch answered ${status}: ${textOf(error)}`
  return `Elasticsearch does not answer: ${textOf(error)}`
}

/** The message of an error in one line. */
export function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/\s+/g, ' ').slice(0, MAX_REASON)
}

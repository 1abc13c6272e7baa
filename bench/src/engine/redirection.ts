import http from 'node:http'
import type { LoadOrder, LoadResult } from '../model/engine.js'
import { bodyOf } from './call-body.js'

const ANSWER_MS = 10_000
/** So many that a target among several that redirects is noticed, so few that they cost nothing beside a load. */
export const REDIRECTION_CALLS = 16

/**
 * The result of a load generator that takes a redirection for a success: where one of some calls behind
 * the load is answered with one, all that it counted are wrong statuses. A load generator that looked at each answer itself
 * would take a sixth more CPU time for each (wrk with a `response` function), in which it is the bottleneck the sooner.
 */
export async function withoutRedirections(order: LoadOrder, result: LoadResult): Promise<LoadResult> {
  if (result.requests === 0) return result
  const statuses = await Promise.all(Array.from({ length: REDIRECTION_CALLS }, () => statusOf(order)))
  if (!statuses.some((status) => status !== null && status >= 300 && status <= 399)) return result
  const errors = { ...result.errors, status: result.errors.status + result.requests }
  return { ...result, requests: 0, errors, latency: null }
}

/** Null when there is no answer. */
function statusOf({ origin, call }: LoadOrder): Promise<number | null> {
  const { method, path, headers, body } = call
  const bytes = body === null ? null : bodyOf(body)
  const length = bytes === null ? {} : { 'content-length': bytes.length }
  return new Promise((resolve) => {
    const request = http.request(origin + path, {
      ...{ method, headers: { ...headers, ...length }, agent: false },
      timeout: ANSWER_MS,
    })
    request.once('response', (response) => {
      response.destroy()
      resolve(response.statusCode ?? null)
    })
    request.once('timeout', () => request.destroy(new Error('no answer')))
    request.once('error', () => resolve(null))
    request.end(bytes)
  })
}

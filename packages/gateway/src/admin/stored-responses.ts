import type { PurgeScope } from '@sluice/core'
import type { AdminCall } from './endpoint.js'
import { type AdminAnswer, jsonAnswer, problemAnswer } from './problem.js'
import { type Members, readJson } from './request-body.js'

/** Maximum number of characters of a key or tag, as for a URL. */
const MOST_CHARS = 16_384
const USAGE = 'send {"key":"HOST/PATH?QUERY"}, {"prefix":"HOST/PATH"}, {"tag":"NAME"} or {"all":true}'

/** Purges stored responses in all workers. */
export async function purgeAnswer(call: AdminCall): Promise<AdminAnswer> {
  const scope = await readJson(call, ['key', 'prefix', 'tag', 'all'], readScope, USAGE)
  if (!scope.ok) return scope.answer
  const answers = await call.backend.queryResponses({ purge: scope.value })
  const purged = answers.reduce((sum, answer) => sum + (answer?.purged ?? 0), 0)
  return jsonAnswer(200, { purged, unanswered: answers.filter((answer) => answer === null).length })
}

/** Lists the responses stored under a key in all workers. */
export async function storedAnswer(call: AdminCall): Promise<AdminAnswer> {
  const key = call.query.get('key') ?? ''
  if (key.length > MOST_CHARS)
    return problemAnswer('GW_ADMIN_BAD_REQUEST', 'the key is longer than 16384 characters')
  const answers = key === '' ? [] : await call.backend.queryResponses({ key })
  return jsonAnswer(200, { stored: answers.flatMap((answer) => answer?.found ?? []) })
}

/** Returns the contents and counters of the caches of all workers. */
export async function cacheAnswer({ backend }: AdminCall): Promise<AdminAnswer> {
  const requests: Record<string, number> = {}
  const sums: Record<string, number> = { entries: 0, bytes: 0, evictions: 0 }
  for (const { name, labels, value } of await backend.samples()) {
    if (name === 'gw_cache_requests_total') requests[/"(.*)"/.exec(labels)?.[1] ?? ''] = value
    const sum = /^gw_cache_(entries|bytes|evictions)(?:_total)?$/.exec(name)?.[1]
    if (sum !== undefined) sums[sum]! += value
  }
  return jsonAnswer(200, { ...sums, requests })
}

function readScope(members: Members): PurgeScope | null {
  const entries = Object.entries(members)
  const [by, named] = entries[0] ?? []
  if (entries.length !== 1) return null
  if (by === 'all') return named === true ? { by } : null
  if (by !== 'key' && by !== 'tag' && by !== 'prefix') return null
  const isText = typeof named === 'string' && named !== '' && named.length <= MOST_CHARS
  return isText ? { by, value: named } : null
}

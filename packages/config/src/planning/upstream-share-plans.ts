import { parseDuration, parseRatio, parseSize } from '@sluice/core'
import { isIssue } from '../diagnostic/issue.js'
import { parseHashKey, parseRequestMatch } from '../grammar/grammars.js'
import type {
  CanaryAbortPlan,
  CanaryPlan,
  HashKey,
  MirrorComparePlan,
  MirrorPlan,
  RequestMatch,
  StickyPlan,
} from '../plan/plan-upstream.js'
import type { UpstreamDocument } from '../schema/document.js'

type Section<K extends keyof UpstreamDocument> = NonNullable<UpstreamDocument[K]>

/** Returns the plan of sticky sessions. */
export function stickyPlan(sticky: Section<'sticky'> | undefined): StickyPlan | null {
  if (sticky === undefined) return null
  const { cookie, secret, ttl, path, httpOnly, secure, sameSite } = sticky
  const ttlMs = ttl === undefined ? null : parseDuration(ttl)
  return { cookie, secret, ttlMs, path: path ?? '/', httpOnly, secure, sameSite }
}

/** Returns the plan of a canary. */
export function canaryPlan(canary: Section<'canary'> | undefined): CanaryPlan | null {
  if (canary === undefined) return null
  return {
    percent: parseRatio(canary.percent),
    key: hashKeyOf(canary.key),
    match: canary.match.map(matchOf),
    abort: abortPlan(canary.abort),
  }
}

function abortPlan(abort: Section<'canary'>['abort']): CanaryAbortPlan | null {
  if (abort === undefined) return null
  return {
    errors: abort.errors === undefined ? null : parseRatio(abort.errors),
    slowerMs: abort.slower === undefined ? null : parseDuration(abort.slower),
    windowMs: parseDuration(abort.window),
    minRequests: abort.minRequests,
    cooldownMs: parseDuration(abort.cooldown),
  }
}

/** Returns the plan of request mirroring. */
export function mirrorPlan(mirror: Section<'mirror'> | undefined): MirrorPlan | null {
  if (mirror === undefined) return null
  return {
    percent: parseRatio(mirror.percent),
    concurrency: mirror.concurrency,
    maxBodyBytes: parseSize(mirror.maxBodyBytes),
    timeoutMs: parseDuration(mirror.timeout),
    compare: comparePlan(mirror.compare),
  }
}

function comparePlan(compare: Section<'mirror'>['compare']): MirrorComparePlan | null {
  if (compare === undefined) return null
  return {
    headers: compare.headers.map((name) => name.toLowerCase()),
    json: compare.json,
    maxBodyBytes: parseSize(compare.maxBodyBytes),
  }
}

/** Parses a hash key. @throws Error if it was not checked */
export function hashKeyOf(text: string): HashKey {
  const key = parseHashKey(text)
  if (isIssue(key)) throw new Error(`unchecked hash key: ${key.message}`)
  return key
}

function matchOf(text: string): RequestMatch {
  const match = parseRequestMatch(text)
  if (isIssue(match)) throw new Error(`unchecked match: ${match.message}`)
  return match
}

import { closestWord, type WrittenResponse, type WrittenResponses } from '@sluice/config'
import { parseDuration } from '@sluice/core'
import type { FakeBehaviour, FakeResponse, SeenRequest } from '@sluice/gateway/trial'
import { mismatches } from './matching.js'

/** Responses that fake servers give in a case. */
export interface CaseResponses {
  readonly upstreams?: WrittenResponses
  readonly calls?: WrittenResponses
}

/** The fake servers of one case: returns the listed responses in order, and records requests. */
export class CaseServer implements FakeBehaviour {
  /** Requests to upstreams, and calls of policies, since `clear`. */
  readonly seen: SeenRequest[] = []
  /** Calls that the case does not list, since `clear`. */
  readonly unlisted: string[] = []
  #responses: CaseResponses = {}
  /** Number of responses given by name or URL. */
  readonly #given = new Map<string, number>()

  /** Adds responses for the next requests. Their sequences start again. */
  use(responses: CaseResponses): void {
    for (const part of ['upstreams', 'calls'] as const) {
      for (const key of Object.keys(responses[part] ?? {})) this.#given.delete(`${part} ${key}`)
      if (responses[part] !== undefined)
        this.#responses = { ...this.#responses, [part]: { ...this.#responses[part], ...responses[part] } }
    }
  }

  clear(): void {
    this.seen.length = 0
    this.unlisted.length = 0
  }

  refuses(upstream: string): boolean {
    const key = this.#upstreamKey(upstream)
    if (key === null || this.#next('upstreams', key)?.fail !== 'refused') return false
    this.#take('upstreams', key)
    return true
  }

  respond(request: SeenRequest): FakeResponse | null {
    this.seen.push(request)
    const { upstream } = request
    if (upstream !== null) {
      const key = this.#upstreamKey(upstream)
      const written = key === null ? null : this.#take('upstreams', key)
      return fakeResponse(written ?? { json: { upstream } })
    }
    const key = this.#callKey(request)
    if (key !== null) return fakeResponse(this.#take('calls', key) ?? {})
    this.unlisted.push(`${request.method} ${request.origin}${request.path}`)
    return null
  }

  #upstreamKey(upstream: string): string | null {
    const upstreams = this.#responses.upstreams ?? {}
    return [upstream, '*'].find((key) => Object.hasOwn(upstreams, key)) ?? null
  }

  /** Returns the key of a call: its URL with or without the query, and the method before it or not. */
  #callKey({ method, origin, path }: SeenRequest): string | null {
    const urls = [`${origin}${path}`, `${origin}${path.replace(/\?.*$/, '')}`]
    const names = urls.flatMap((url) => [`${method} ${url}`, url])
    const keys = Object.keys(this.#responses.calls ?? {})
    return (
      names.find((name) => keys.includes(name)) ??
      keys.find(
        (key) => key.startsWith('/') && names.some((name) => mismatches(key, name, '').length === 0),
      ) ??
      null
    )
  }

  #next(part: 'upstreams' | 'calls', key: string): WrittenResponse | null {
    const written = this.#responses[part]?.[key]
    if (written === undefined) return null
    const list = Array.isArray(written)
      ? (written as readonly WrittenResponse[])
      : [written as WrittenResponse]
    return list[Math.min(this.#given.get(`${part} ${key}`) ?? 0, list.length - 1)]!
  }

  #take(part: 'upstreams' | 'calls', key: string): WrittenResponse | null {
    const next = this.#next(part, key)
    this.#given.set(`${part} ${key}`, (this.#given.get(`${part} ${key}`) ?? 0) + 1)
    return next
  }
}

function fakeResponse(written: WrittenResponse): FakeResponse {
  const { status = 200, headers = {}, body, json, delay, fail } = written
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((line) => [name, String(line)]),
  )
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  const type = json === undefined || hasType ? [] : ['content-type', 'application/json']
  return {
    status,
    headers: [...type, ...fields],
    body: Buffer.from(json === undefined ? (body ?? '') : JSON.stringify(json)),
    delayMs: delay === undefined ? 0 : parseDuration(delay),
    fail: fail ?? null,
  }
}

/** Returns the problem of responses for upstreams that the document does not have, or null. */
export function unknownUpstream({ upstreams = {} }: CaseResponses, known: readonly string[]): string | null {
  const unknown = Object.keys(upstreams).find((name) => name !== '*' && !known.includes(name))
  if (unknown === undefined) return null
  const near = closestWord(unknown, known)
  return `the document has no upstream '${unknown}'${near === null ? '' : `; did you mean ${near}?`}`
}

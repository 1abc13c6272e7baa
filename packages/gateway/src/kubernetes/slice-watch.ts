import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@sluice/core'
import { type ApiAnswer, type ApiClient, ApiUnreachable, statusMessage } from './api-client.js'
import { type EndpointSlice, readSlice } from './endpoint-slices.js'

/** Timing of a watch, in milliseconds. */
export interface WatchTimes {
  /** Timeout for a list, and for the response head of a watch. */
  readonly answerMs: number
  /** Duration of one watch, as requested from the API server. */
  readonly watchMs: number
  /** Extra time before a watch that exceeds the requested duration is aborted. */
  readonly overdueMs: number
  /** Interval for a new list, in case an event was lost. */
  readonly resyncMs: number
  /** Initial and maximum delay after failures. It doubles each time, and half of it is random. */
  readonly retryMs: number
  readonly maxRetryMs: number
}

/** Default timing of a watch. */
export const WATCH_TIMES: WatchTimes = {
  answerMs: 10_000,
  watchMs: 240_000,
  overdueMs: 15_000,
  resyncMs: 1_200_000,
  retryMs: 500,
  maxRetryMs: 30_000,
}

/** Receives the slices of a watch. */
export interface SliceListener {
  /** Called with all known slices, after each list and event. */
  onSlices(slices: Iterable<EndpointSlice>): void
  /** Called when the API server cannot be reached. The last known slices remain valid. */
  onFailure(reason: string): void
}

/** Maximum number of items per list page. */
const PAGE = 500
const MAX_SLICES = 1000
/** Maximum number of pages. A server may return short pages, but not endlessly. */
const MAX_PAGES = 100
const MAX_EVENT_BYTES = 4 * 1024 * 1024

/** The resource version has expired on the API server: a new list is needed. */
class Expired extends Error {}

/**
 * Follows the EndpointSlices of one Service until it is stopped: a list, then a watch from where the list
 * ended. Any failure leads to a new list after a delay ("Efficient detection of changes", Kubernetes API
 * concepts).
 */
export class SliceWatch {
  readonly #client: ApiClient
  readonly #service: { readonly namespace: string; readonly name: string }
  readonly #listener: SliceListener
  readonly #times: WatchTimes
  readonly #stop = new AbortController()
  readonly #slices = new Map<string, EndpointSlice>()
  #version = ''
  #failures = 0

  constructor(
    client: ApiClient,
    service: { readonly namespace: string; readonly name: string },
    listener: SliceListener,
    times: WatchTimes = WATCH_TIMES,
  ) {
    this.#client = client
    this.#service = service
    this.#listener = listener
    this.#times = times
    void this.#run()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        if (signal.aborted) return
        // An expired version is normal and not reported. The pause still applies, in case the list itself
        // keeps expiring.
        if (!(error instanceof Expired)) this.#listener.onFailure(reasonOf(error))
        await this.#pause()
      }
    }
  }

  /** Lists and watches. Returns when a new list is due, and otherwise ends only by an exception. */
  async #follow(): Promise<void> {
    await this.#list()
    const untilMono = performance.now() + this.#times.resyncMs
    while (!this.#stop.signal.aborted && performance.now() < untilMono) await this.#watch()
  }

  async #list(): Promise<void> {
    const found = new Map<string, EndpointSlice>()
    let page = ''
    let pages = 0
    do {
      if (pages++ === MAX_PAGES) throw new Error(`the list has more than ${MAX_PAGES} pages`)
      const query = page === '' ? '' : `&continue=${encodeURIComponent(page)}`
      const answer = await this.#client.send(this.#request(`limit=${PAGE}${query}`))
      const { items, metadata } = goodBody(answer) as ListBody
      if (!Array.isArray(items) || typeof metadata?.resourceVersion !== 'string')
        throw new Error('the response is not a list of EndpointSlices')
      for (const item of items) {
        const slice = readSlice(item)
        if (slice !== null) found.set(slice.name, slice)
      }
      this.#version = metadata.resourceVersion
      page = metadata.continue ?? ''
    } while (page !== '' && found.size < MAX_SLICES)
    this.#slices.clear()
    for (const [name, slice] of found) this.#slices.set(name, slice)
    this.#listener.onSlices(this.#slices.values())
  }

  async #watch(): Promise<void> {
    const { watchMs, overdueMs, answerMs } = this.#times
    const seconds = Math.ceil((watchMs * (1 + Math.random())) / 2000)
    const query = `watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${encodeURIComponent(this.#version)}`
    const overdue = new AbortController()
    const signal = AbortSignal.any([this.#stop.signal, overdue.signal])
    const timer = setTimeout(() => overdue.abort(), answerMs + watchMs + overdueMs)
    const startedMono = performance.now()
    let events = 0
    try {
      const response = await this.#client.open({ ...this.#request(query), signal })
      if (response.statusCode !== 200) {
        response.destroy()
        goodBody({ status: response.statusCode ?? 0, body: null })
      }
      for await (const line of linesOf(response, MAX_EVENT_BYTES)) {
        this.#take(line)
        events++
        this.#failures = 0
      }
    } finally {
      clearTimeout(timer)
    }
    // Pause after short watches: a server that closes every watch at once must not be asked in a tight loop.
    const isShort = performance.now() - startedMono < this.#times.retryMs
    if (isShort && events === 0) throw new Error('the API server closed the watch immediately')
    this.#failures = 0
    if (isShort) await this.#pause()
  }

  #take(line: string): void {
    if (line.trim() === '') return
    const { type, object } = JSON.parse(line) as { type?: unknown; object?: EventObject }
    if (type === 'ERROR')
      throw object?.code === 410
        ? new Expired()
        : new Error(statusMessage({ status: 0, body: object ?? null }))
    const version = object?.metadata?.resourceVersion
    if (typeof version !== 'string') throw new Error('an event has no resourceVersion')
    if (type !== 'BOOKMARK') this.#change(type, object)
    this.#version = version
  }

  #change(type: unknown, object: unknown): void {
    const slice = readSlice(object)
    if (slice === null) return
    const { name } = slice
    if (type === 'DELETED') this.#slices.delete(name)
    else if (type !== 'ADDED' && type !== 'MODIFIED')
      throw new Error(`unknown event type ${String(type).slice(0, 40)}`)
    else if (this.#slices.has(name) || this.#slices.size < MAX_SLICES) this.#slices.set(name, slice)
    this.#listener.onSlices(this.#slices.values())
  }

  async #pause(): Promise<void> {
    const { retryMs, maxRetryMs } = this.#times
    const ms = Math.min(maxRetryMs, retryMs * 2 ** Math.min(this.#failures++, 16))
    await sleep((ms * (1 + Math.random())) / 2, undefined, { signal: this.#stop.signal, ref: false }).catch(
      () => {},
    )
  }

  #request(query: string) {
    const { namespace, name } = this.#service
    const selector = encodeURIComponent(`kubernetes.io/service-name=${name}`)
    return {
      method: 'GET',
      path: `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}&${query}`,
      timeoutMs: this.#times.answerMs,
      signal: this.#stop.signal,
    } as const
  }
}

interface ListBody {
  readonly items?: unknown
  readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: string }
}

interface EventObject {
  readonly code?: unknown
  readonly metadata?: { readonly resourceVersion?: unknown }
}

function goodBody(answer: ApiAnswer): object {
  if (answer.status === 410) throw new Expired()
  if (answer.status === 200 && typeof answer.body === 'object' && answer.body !== null) return answer.body
  throw new Error(`the API server answered ${answer.status}: ${statusMessage(answer)}`)
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the API server sent invalid JSON'
  if (error instanceof ApiUnreachable) return `the API server cannot be reached (${error.message})`
  return messageOf(error)
}

/**
 * Splits a stream into lines.
 * @throws Error if a line is longer than `maxBytes`, or the last line is incomplete.
 */
async function* linesOf(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let bytes = 0
  for await (const piece of stream) {
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      yield Buffer.concat([...rest, piece.subarray(from, end)]).toString()
      rest = []
      bytes = 0
      from = end + 1
    }
    if (from === piece.length) continue
    rest.push(piece.subarray(from))
    bytes += piece.length - from
    if (bytes > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`)
  }
  if (bytes > 0) throw new Error('the stream ended within a line')
}

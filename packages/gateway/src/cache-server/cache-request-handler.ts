import { browserObjection, type Exchange, headerJoined, headerValue, type Reply } from '@sluice/core'
import type { ClientOwner, ClientStream, RequestHandler } from '../listen/listener.js'
import { FORMAT_TYPES } from '../telemetry/text-format.js'
import { type CacheAddress, readCacheAddress } from './cache-address.js'
import { sendError, sendRefusal, sendText } from './cache-answers.js'
import { renderCacheMetrics } from './cache-metrics.js'
import { readPurgeOrder, readTtl } from './cache-query.js'
import type { PersistLink } from './persist/persist-link.js'
import type { Counters } from './store/counters.js'
import { FoundEntry } from './store/entry.js'
import type { CacheSettings } from './store/settings.js'
import type { Spaces } from './store/spaces.js'
import { Transfer, type Transfers } from './transfer.js'
import { tooLarge, Upload } from './upload.js'

const MAX_TYPE_BYTES = 256
const MAX_TAGS_BYTES = 2048
const PURGE = '_purge'
const ALLOWED = ['allow', 'GET, HEAD, PUT, DELETE, POST']
const CHALLENGE = ['www-authenticate', 'Bearer realm="sluice-cache"']
const BEARER = 'bearer '
const EMPTY = new Uint8Array(0)
const DEFAULT_TYPE = 'application/octet-stream'

/** Owner of clients whose response is sent at once. */
const NOBODY: ClientOwner = { onClientAbort() {}, onClientDrain() {}, onBodyInvalid() {} }

interface CacheRequestHandlerOptions {
  readonly settings: CacheSettings
  readonly spaces: Spaces
  readonly counters: Counters
  readonly transfers: Transfers
  /** Distinguishes entity tags of this server from those of a previous one. */
  readonly epoch: string
  /** Link to the persistence thread, or null without Valkey persistence. */
  readonly persist: PersistLink | null
}

/** Answers the requests to a cache server from its stores. */
export class CacheRequestHandler implements RequestHandler {
  isDraining = false
  readonly #options: CacheRequestHandlerOptions
  readonly #found: FoundEntry
  #isPurging = false
  /** Host of the last request known not to come from a web page. */
  #trustedHost = ''

  constructor(options: CacheRequestHandlerOptions) {
    this.#options = options
    this.#found = new FoundEntry(options.settings.maxObjectBytes + MAX_TYPE_BYTES)
  }

  accept(x: Exchange, client: ClientStream): void {
    client.owner = NOBODY
    const path = x.rawPath
    if (path === '/healthz') sendText(client, 'text/plain', 'ok\n')
    else if (path === '/readyz') this.#sendReadiness(client)
    else if (this.#isFromWebPage(x))
      this.#refuse(client, 403, 'requests from web pages are refused; set a token for this cache server')
    else if (!this.#isTrusted(x))
      this.#refuse(client, 401, 'send the token as `Authorization: Bearer TOKEN`', CHALLENGE)
    else if (path === '/metrics') this.#sendMetrics(client)
    else this.#serve(x, client)
  }

  refuse(x: Exchange, client: ClientStream, reply: Reply): void {
    client.owner = NOBODY
    this.#options.counters.count('refused')
    sendRefusal(x, client, reply)
  }

  #serve(x: Exchange, client: ClientStream): void {
    const address = readCacheAddress(x.rawPath)
    if (address === null) {
      this.#refuse(client, 404, 'use /v1/cache/{space}/{key} with a key of 1 to 1024 bytes')
      return
    }
    switch (x.method) {
      case 'GET':
      case 'HEAD':
        this.#get(x, client, address)
        return
      case 'PUT':
        this.#put(x, client, address)
        return
      case 'DELETE':
        this.#delete(client, address)
        return
      case 'POST':
        if (address.key === PURGE) {
          this.#purge(x, client, address.space)
          return
        }
    }
    this.#refuse(client, 405, 'use GET, HEAD, PUT or DELETE for a key, and POST for _purge', ALLOWED)
  }

  #get(x: Exchange, client: ClientStream, { space, key }: CacheAddress): void {
    const { spaces, persist } = this.#options
    const whole = `${space}/${key}`
    if (spaces.of(space).store.read(whole, Date.now(), this.#found)) this.#sendFound(x, client)
    else if (persist === null) this.#sendMiss(client)
    else
      void persist.load(whole).then((outcome) => {
        const isHere = outcome === 'found' && spaces.of(space).store.read(whole, Date.now(), this.#found)
        if (client.isGone) return
        if (isHere) this.#sendFound(x, client)
        else this.#sendMiss(client)
      })
  }

  #sendMiss(client: ClientStream): void {
    this.#options.counters.count('miss')
    client.send(404, [], null)
  }

  /** Sends the value read last. */
  #sendFound(x: Exchange, client: ClientStream): void {
    const { counters, transfers } = this.#options
    const found = this.#found
    const tag = this.#tagOf(found.version)
    const { type, value } = found
    if (isNamed(headerJoined(x.headers, 'if-none-match'), tag)) {
      counters.count('not_modified')
      client.sendHead(304, ['etag', tag], -1)
      return
    }
    counters.count('hit')
    const headers = ['content-type', type === '' ? DEFAULT_TYPE : type, 'etag', tag]
    if (x.method === 'HEAD') client.sendHead(200, headers, value.length)
    else if (value.length < LARGE_BYTES) client.send(200, headers, value)
    else new Download(client, transfers).send(headers, value)
  }

  #put(x: Exchange, client: ClientStream, address: CacheAddress): void {
    const { settings, transfers, counters } = this.#options
    const maxBytes = settings.maxObjectBytes
    const entry = this.#entryOf(x, address)
    const done = (value: Uint8Array): void => {
      if (typeof entry !== 'string') this.#store(client, { ...entry, value })
    }
    if (typeof entry === 'string') this.#refuse(client, 400, entry)
    else if (x.contentLength > maxBytes) this.#refuse(client, 413, tooLarge(maxBytes))
    else if (x.contentLength === 0) done(EMPTY)
    else new Upload({ client, maxBytes, transfers, done, refused: () => counters.count('refused') })
  }

  /** Parses the headers of a new entry. Returns a text if they are invalid. */
  #entryOf(x: Exchange, { space, key }: CacheAddress): Omit<NewEntry, 'value'> | string {
    const type = headerValue(x.headers, 'content-type') ?? ''
    const names = headerJoined(x.headers, 'surrogate-key')
    const tags = names === null ? '' : ` ${names.trim().replace(/[\s,]+/g, ' ')} `
    const condition = headerJoined(x.headers, 'if-none-match')
    if (type.length > MAX_TYPE_BYTES) return `the Content-Type is longer than ${MAX_TYPE_BYTES} bytes`
    if (tags.length > MAX_TAGS_BYTES) return `the Surrogate-Key is longer than ${MAX_TAGS_BYTES} bytes`
    if (condition !== null && condition !== '*') return 'PUT supports only `If-None-Match: *`'
    try {
      const ttlMs = readTtl(x.query, this.#options.spaces.of(space).ttlMs)
      return { space, key, type, tags, ttlMs, onlyIfAbsent: condition !== null }
    } catch (error) {
      return (error as RangeError).message
    }
  }

  #store(client: ClientStream, { space, key, type, tags, ttlMs, onlyIfAbsent, value }: NewEntry): void {
    const { spaces, counters, persist } = this.#options
    const nowMs = Date.now()
    const expiresAt = ttlMs === null ? Number.POSITIVE_INFINITY : nowMs + ttlMs
    const entry = { key: `${space}/${key}`, type, tags, value, expiresAt }
    persist?.changing(entry.key)
    const version = spaces.of(space).store.write(entry, nowMs, onlyIfAbsent)
    persist?.changed(entry.key)
    if (version === 0) {
      counters.count('kept')
      sendError(client, 412, 'a value exists under this key')
      return
    }
    counters.count('stored')
    client.sendHead(204, ['etag', this.#tagOf(version)], -1)
  }

  #delete(client: ClientStream, { space, key }: CacheAddress): void {
    const { spaces, persist } = this.#options
    const whole = `${space}/${key}`
    persist?.changing(whole)
    const wasHere = spaces.of(space).store.remove(whole, Date.now())
    if (persist === null) this.#sendRemoved(client, wasHere)
    else
      void persist.remove(whole).then((outcome) => {
        if (client.isGone) return
        if (outcome === 'unknown') this.#sendUnconfirmed(client)
        else this.#sendRemoved(client, wasHere || outcome === 'found')
      })
  }

  #sendUnconfirmed(client: ClientStream): void {
    const detail = 'removed from memory, but Valkey has not confirmed the removal; try again'
    this.#refuse(client, 503, detail, ['retry-after', '1'])
  }

  #sendRemoved(client: ClientStream, isRemoved: boolean): void {
    const { counters } = this.#options
    counters.count(isRemoved ? 'removed' : 'absent')
    client.sendHead(isRemoved ? 204 : 404, [], isRemoved ? -1 : 0)
  }

  /** Purges entries. Only one purge runs at a time, because each scans a whole store. */
  #purge(x: Exchange, client: ClientStream, space: string): void {
    const order = readPurgeOrder(x.query)
    if (order === null) {
      this.#refuse(client, 400, 'a purge accepts only `prefix` and `tag`, each at most once')
      return
    }
    if (this.#isPurging) {
      this.#refuse(client, 503, 'another purge is running; try again', ['retry-after', '1'])
      return
    }
    this.#isPurging = true
    const { spaces, counters, persist } = this.#options
    const { store } = spaces.of(space)
    const whole = { prefix: `${space}/${order.prefix}`, tag: order.tag === null ? '' : ` ${order.tag} ` }
    const purge = async (isConfirmed: boolean): Promise<void> => {
      const removed = await store.purge(whole)
      persist?.purged()
      this.#isPurging = false
      counters.count('purged')
      if (client.isGone) return
      if (isConfirmed) sendText(client, 'application/json', `{"removed":${removed}}\n`)
      else this.#sendUnconfirmed(client)
    }
    if (persist === null) void purge(true)
    else void persist.purge(whole).then((outcome) => purge(outcome !== 'unknown'))
  }

  #sendMetrics(client: ClientStream): void {
    const { spaces, counters, persist } = this.#options
    sendText(client, FORMAT_TYPES.prometheus, renderCacheMetrics(spaces, counters, persist !== null))
  }

  #sendReadiness(client: ClientStream): void {
    if (this.isDraining) sendError(client, 503, 'the server is shutting down')
    else sendText(client, 'text/plain', 'ready\n')
  }

  #refuse(client: ClientStream, status: number, detail: string, headers: readonly string[] = []): void {
    this.#options.counters.count('refused')
    sendError(client, status, detail, headers)
  }

  /**
   * Returns true for requests from web pages. Without a token, a page could otherwise make a local browser
   * read and change the cache.
   */
  #isFromWebPage(x: Exchange): boolean {
    const { token, host: own } = this.#options.settings
    if (token !== null) return false
    const { authority: host } = x
    const origin = headerValue(x.headers, 'origin') ?? undefined
    if (origin === undefined && host === this.#trustedHost) return false
    if (browserObjection({ host, origin }, own) !== null) return true
    this.#trustedHost = host
    return false
  }

  #isTrusted(x: Exchange): boolean {
    const { token } = this.#options.settings
    if (token === null) return true
    const field = headerValue(x.headers, 'authorization') ?? ''
    if (field.slice(0, BEARER.length).toLowerCase() !== BEARER) return false
    return isSameSecret(field.slice(BEARER.length), token)
  }

  #tagOf(version: number): string {
    return `"${this.#options.epoch}-${version.toString(36)}"`
  }
}

interface NewEntry extends CacheAddress {
  readonly type: string
  readonly tags: string
  readonly ttlMs: number | null
  readonly onlyIfAbsent: boolean
  readonly value: Uint8Array
}

/**
 * Compares in constant time, so that the position of a difference does not show.
 * @param secret expected value, not empty.
 */
function isSameSecret(text: string, secret: string): boolean {
  let difference = text.length ^ secret.length
  for (let i = 0; i < secret.length; i++)
    difference |= text.charCodeAt(i % (text.length || 1)) ^ secret.charCodeAt(i)
  return difference === 0
}

/** Returns true if If-None-Match lists the entity tag (RFC 9110, 13.1.2). */
function isNamed(field: string | null, tag: string): boolean {
  if (field === null) return false
  if (field === tag || field.trim() === '*') return true
  return field.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

/** Threshold in bytes. Smaller values are not counted, because a connection can buffer one. */
const LARGE_BYTES = 16 * 1024

/** A large value being sent. Bytes that the client does not read yet are buffered for a while, within the limits. */
class Download extends Transfer {
  send(headers: readonly string[], value: Uint8Array): void {
    const { client } = this
    client.start(200, headers, value.length)
    if (client.write(value) || client.isGone) return
    if (this.hold(client.unsentBytes)) this.open()
    else client.abort()
  }

  override onClientDrain(): void {
    this.close()
  }

  onDeadline(): void {
    this.client.abort()
    this.close()
  }
}

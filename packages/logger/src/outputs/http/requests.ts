import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { readTlsFiles } from '@sluice/core'
import type { Answer } from './answer.js'
import type { HttpTargetOptions } from './options.js'

const compressed = promisify(gzip)

/** Equals the maximum number of concurrent deliveries. */
const MAX_CONNECTIONS = 8
/** Number of response bytes shown to operators. */
const MAX_TEXT_BYTES = 300
/** Number of response bytes that are passed on. */
const MAX_BODY_BYTES = 16 * 1024
/** Number of response bytes after which the connection is closed. */
const MAX_ANSWER_BYTES = 64 * 1024

/** Adds a path to a URL without one. @throws Error if the URL is invalid. */
export function withPath(text: string, path: string): string {
  const url = new URL(text)
  if (url.pathname === '/') url.pathname = path
  return url.href
}

/** Client for POST requests to one URL over persistent connections. */
export class HttpRequests {
  readonly #options: HttpTargetOptions
  readonly #secrets: readonly string[]
  readonly #url: URL
  readonly #ending = new AbortController()
  #agent: HttpAgent | HttpsAgent | null = null

  /** @param secrets Further secrets to mask in responses. @throws Error if the URL is invalid. */
  constructor(options: HttpTargetOptions, secrets: readonly string[] = []) {
    this.#options = options
    this.#secrets = [...secretsOf(options), ...secrets]
      .filter(({ length }) => length >= MIN_SECRET_LENGTH)
      .sort((a, b) => b.length - a.length)
    this.#url = new URL(options.url)
  }

  /** Returns the body as it is sent: compressed, if that is configured. */
  async encode(body: Buffer): Promise<Buffer> {
    return this.#options.compress ? compressed(body) : body
  }

  /**
   * Sends an encoded body and resolves with the response, whatever its status. @throws Error if there is no
   * response in time.
   */
  post(body: Buffer, fields: Readonly<Record<string, string>>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { timeoutMs, auth, compress } = this.#options
      const headers = {
        'user-agent': 'sluice',
        ...fields,
        ...(auth === null ? {} : { authorization: authorizationOf(auth) }),
        ...(compress ? { 'content-encoding': 'gzip' } : {}),
        'content-length': body.length,
      }
      const open = this.#url.protocol === 'https:' ? httpsRequest : httpRequest
      const { signal } = this.#ending
      const request = open(this.#url, { method: 'POST', agent: this.#connections(), headers, signal })
      const timer = setTimeout(() => request.destroy(lateError(timeoutMs)), timeoutMs)
      const settle = (act: () => void): void => {
        clearTimeout(timer)
        act()
      }
      let isAnswered = false
      request.on('response', (response) => {
        isAnswered = true
        readAnswer(request, response, ({ text, ...answer }) => {
          settle(() => resolve({ ...answer, text: this.shown(text) }))
        })
      })
      request.on('error', (error) => {
        // A receiver that refuses a body may cut the connection while responding. The status is known by
        // then.
        if (!isAnswered) settle(() => reject(error))
      })
      request.end(body)
    })
  }

  /** Returns the beginning of a text from the receiver for operators, without secrets. */
  shown(text: string): string {
    const visible = text.slice(0, MAX_TEXT_BYTES).replace(/[^\x20-\x7e]+/g, ' ')
    return shownText(visible.trim(), this.#secrets)
  }

  close(): void {
    this.#ending.abort()
    this.#agent?.destroy()
  }

  /**
   * Returns the connection pool, created on first use. A CA file that cannot be read is thus reported as an
   * outage.
   */
  #connections(): HttpAgent | HttpsAgent {
    if (this.#agent !== null) return this.#agent
    const { caFile, insecure } = this.#options.tls
    const common = { keepAlive: true, maxSockets: MAX_CONNECTIONS }
    this.#agent =
      this.#url.protocol === 'https:'
        ? new HttpsAgent({
            ...common,
            rejectUnauthorized: !insecure,
            ...readTlsFiles({ caFile }),
          })
        : new HttpAgent(common)
    return this.#agent
  }
}

/** Passes on the response when it has ended, even if incomplete. */
function readAnswer(request: ClientRequest, response: IncomingMessage, done: (answer: Answer) => void): void {
  let bytes = 0
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => {
    if (bytes < MAX_BODY_BYTES) chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) request.destroy()
  })
  response.on('error', () => {})
  response.on('close', () => {
    const body = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES)
    const { 'retry-after': retryAfter, 'content-type': contentType } = response.headers
    const text = body.toString('latin1', 0, MAX_TEXT_BYTES)
    done({ status: response.statusCode ?? 0, retryAfter, contentType, body, text })
  })
}

function lateError(timeoutMs: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`no response within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })
}

/** Minimum length of a secret to mask. Shorter values would be masked in the middle of words. */
const MIN_SECRET_LENGTH = 4
/** Beginning of a record. From there on, the response repeats the request body. */
const RECORD = '{"@timestamp"'

/**
 * Returns the beginning of a response for operators, without secrets and records that the receiver repeats.
 */
function shownText(text: string, secrets: readonly string[]): string {
  let reported = text
  for (const secret of secrets) reported = reported.replaceAll(secret, '***')
  const record = reported.replaceAll('\\"', '"').indexOf(RECORD)
  return record === -1 ? reported : `${reported.slice(0, record)}…`
}

type Auth = NonNullable<HttpTargetOptions['auth']>

function secretsOf({ auth }: HttpTargetOptions): string[] {
  if (auth === null) return []
  return 'token' in auth ? [auth.token] : [basicOf(auth), auth.password]
}

function authorizationOf(auth: Auth): string {
  return 'token' in auth ? `Bearer ${auth.token}` : `Basic ${basicOf(auth)}`
}

function basicOf({ username, password }: Exclude<Auth, { readonly token: string }>): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

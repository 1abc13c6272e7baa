import { readFileSync } from 'node:fs'
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Answer } from './answer.js'
import type { WebhookOptions } from './options.js'

/** As many as deliveries may be under way. */
const MAX_CONNECTIONS = 8
/** An operator sees the beginning of an answer. */
const MAX_TEXT_BYTES = 300
/** An answer that goes on beyond this costs its connection. */
const MAX_ANSWER_BYTES = 64 * 1024

/** POST requests to one URL over kept connections. */
export class WebhookRequests {
  readonly #options: WebhookOptions
  readonly #url: URL
  readonly #ending = new AbortController()
  #agent: HttpAgent | HttpsAgent | null = null

  /** @throws Error when the URL cannot be read. */
  constructor(options: WebhookOptions) {
    this.#options = options
    this.#url = new URL(options.url)
  }

  /** Resolves with the answer, whatever its status. @throws Error when there is none in time. */
  post(body: Buffer, headers: Readonly<Record<string, string | number>>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { timeoutMs } = this.#options
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
          settle(() => resolve({ ...answer, text: shownText(text, this.#options) }))
        })
      })
      request.on('error', (error) => {
        // A receiver that refuses a body may cut the connection within its answer; the status is known then.
        if (!isAnswered) settle(() => reject(error))
      })
      request.end(body)
    })
  }

  close(): void {
    this.#ending.abort()
    this.#agent?.destroy()
  }

  /** Opened with the first request, because a file of authorities that cannot be read is reported as an outage. */
  #connections(): HttpAgent | HttpsAgent {
    if (this.#agent !== null) return this.#agent
    const { caFile, insecure } = this.#options.tls
    const common = { keepAlive: true, maxSockets: MAX_CONNECTIONS }
    this.#agent =
      this.#url.protocol === 'https:'
        ? new HttpsAgent({
            ...common,
            rejectUnauthorized: !insecure,
            ...(caFile === null ? {} : { ca: readFileSync(caFile) }),
          })
        : new HttpAgent(common)
    return this.#agent
  }
}

/** Reports the answer once it has ended, wholly or not. */
function readAnswer(request: ClientRequest, response: IncomingMessage, done: (answer: Answer) => void): void {
  let bytes = 0
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => {
    if (bytes < MAX_TEXT_BYTES) chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) request.destroy()
  })
  response.on('error', () => {})
  response.on('close', () => {
    const text = Buffer.concat(chunks).subarray(0, MAX_TEXT_BYTES).toString('latin1')
    done({
      status: response.statusCode ?? 0,
      retryAfter: response.headers['retry-after'],
      text: text.replace(/[^\x20-\x7e]+/g, ' ').trim(),
    })
  })
}

function lateError(timeoutMs: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: 'ETIMEDOUT' })
}

/** A shorter value is no secret worth the name, and would be masked in the middle of words. */
const SHORTEST_SECRET = 4
/** With it a record begins: what follows is the body that was sent. */
const RECORD = '{"@timestamp"'

/** The beginning of a receiver's answer for operators: without what was sent to it, should it repeat that. */
export function shownText(text: string, options: WebhookOptions): string {
  let reported = text
  for (const secret of secretsOf(options)) reported = reported.replaceAll(secret, '***')
  const record = reported.replaceAll('\\"', '"').indexOf(RECORD)
  return record === -1 ? reported : `${reported.slice(0, record)}…`
}

function secretsOf({ headers, auth, signature }: WebhookOptions): string[] {
  const ofAuth = auth === null ? [] : 'token' in auth ? [auth.token] : [basicOf(auth), auth.password]
  const all = [...ofAuth, ...Object.values(headers), ...(signature === null ? [] : [signature.secret])]
  return all.filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length)
}

function basicOf({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { visibleText } from '@sluice/core'
import type { ServerOptions } from '../input/options.js'
import { secretInFile } from '../input/secret.js'
import { EXIT, Failure, usageError } from '../output/failure.js'
import { say } from '../output/output.js'
import { AnswerPart } from './answer-part.js'
import { connectionReason } from './connection-reason.js'

/** A request to the admin API. */
export interface AdminRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Path with query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Called with each complete line of the response while it arrives. */
  readonly onLine?: (line: string) => void
  /** Maximum time for the complete response, in milliseconds. */
  readonly timeoutMs?: number
}

/** A response of the admin API. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

/** Kind of server that a client connects to. */
export interface ServerKind {
  /** Name for messages. */
  readonly noun: string
  /** Environment variable with the URL. */
  readonly variable: string
  readonly defaultUrl: string
}

const GATEWAY: ServerKind = { noun: 'gateway', variable: 'GW_SERVER', defaultUrl: 'http://127.0.0.1:9901' }
const TIMEOUT_MS = 5000
/** Maximum size of a response. A plan of 10,000 routes has about 10 MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Maximum length of a line in a streamed response. */
const MAX_LINE_CHARS = 4 * 1024 * 1024
/** Maximum length of a header field in an error message. */
const MAX_FACT_CHARS = 100
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Connection to a gateway that is not directly reachable, such as a pod. */
export interface AdminRoute {
  /** Name for messages. */
  readonly name: string
  readonly connect: () => Promise<Duplex>
}

/** Client for the admin API of one gateway, or for the API of a controller. */
export class AdminClient {
  readonly #base: URL
  readonly #token: string | null
  readonly #route: AdminRoute | null
  readonly #kind: ServerKind

  /** Creates a client. @throws Failure if the address or token is invalid */
  constructor(options: ServerOptions, route: AdminRoute | null = null, kind = GATEWAY) {
    this.#route = route
    this.#kind = kind
    this.#base = serverUrl(options.server ?? (process.env[kind.variable] || kind.defaultUrl), kind)
    this.#token = tokenOf(options.tokenFile)
    const isOpen = this.#base.protocol === 'http:' && !LOOPBACK.test(this.#base.hostname)
    if (isOpen && this.#token !== null) say(`the token is sent to ${this.origin} unencrypted; use https`)
  }

  /** Name of the server for messages. */
  get origin(): string {
    return this.#route?.name ?? this.#base.origin
  }

  /** Gets a JSON object. @throws Failure for any other response */
  async get(
    path: string,
  ): Promise<{ readonly part: AnswerPart; readonly headers: http.IncomingHttpHeaders }> {
    const answer = await this.send({ method: 'GET', path })
    if (answer.status !== 200) throw this.refused(answer)
    return { part: this.parsed(answer), headers: answer.headers }
  }

  /** Posts a JSON object and returns the one in the response. @throws Failure for any other response */
  async post(path: string, body: object): Promise<AnswerPart> {
    const headers = { 'content-type': 'application/json' }
    const answer = await this.send({ method: 'POST', path, headers, body: JSON.stringify(body) })
    if (answer.status !== 200) throw this.refused(answer)
    return this.parsed(answer)
  }

  /** Sends a request. @throws Failure if the gateway cannot be reached or denies access */
  async send(request: AdminRequest): Promise<AdminAnswer> {
    const timeoutMs = request.timeoutMs ?? TIMEOUT_MS
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await this.#exchange(request, signal).catch((error: unknown) =>
      this.#unreachable(signal.aborted ? signal.reason : error, timeoutMs),
    )
    if (isUnauthorised(answer)) throw this.refused(answer)
    return answer
  }

  /**
   * Posts a JSON object and returns the JSON objects of the response, one per line, until it ends or the signal fires.
   * @throws Failure for any other response
   */
  async *lines(path: string, body: object, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const headers = { 'content-type': 'application/json' }
    const request = { method: 'POST', path, headers, body: JSON.stringify(body) } as const
    try {
      const response = await this.#begin(request, signal)
      if (response.statusCode !== 200) {
        const { statusCode: status = 0, headers: fields } = response
        throw this.refused({ status, headers: fields, text: await collect(response) })
      }
      for await (const text of linesIn(response))
        yield this.parsed({ status: 200, headers: response.headers, text })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Failure) throw error
      await this.#unreachable(error, TIMEOUT_MS)
    }
  }

  /** Sends a request. The timeout is for the head of the response only. */
  async #begin(request: AdminRequest, signal: AbortSignal): Promise<http.IncomingMessage> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), TIMEOUT_MS)
    try {
      return await this.#open(request, AbortSignal.any([signal, late.signal]))
    } finally {
      clearTimeout(timer)
    }
  }

  /** @throws Failure that gives the reason and a hint */
  async #unreachable(error: unknown, timeoutMs: number): Promise<never> {
    const reason = connectionReason(error, timeoutMs)
    const hint = await this.#otherScheme(error)
    const { noun, variable } = this.#kind
    const text = `cannot reach the ${noun} at ${this.origin} (${reason}); ${hint ?? `is it running? set --server or ${variable}`}`
    throw new Failure(text, EXIT.unreachable)
  }

  /** Parses the JSON object in a response. @throws Failure if it is not a JSON object */
  parsed(answer: AdminAnswer): AnswerPart {
    const { noun } = this.#kind
    const where = `the response of ${this.origin} (${answerFacts(answer)})`
    try {
      return new AnswerPart(JSON.parse(answer.text), where, noun)
    } catch {
      throw new Failure(`${where} is not a JSON object; is it a ${noun}?`)
    }
  }

  /** Converts an error response to a failure with its exit code. */
  refused(answer: AdminAnswer): Failure {
    const exit = isUnauthorised(answer) ? EXIT.unauthorised : EXIT.failed
    const { noun } = this.#kind
    const { code, detail, title } = problemOf(answer)
    const details = { status: answer.status, ...(typeof code === 'string' ? { problem: code } : {}) }
    const reason = [detail, title].find((one) => typeof one === 'string')
    if (reason === undefined)
      return new Failure(`${this.origin} answered ${answerFacts(answer)}; is it a ${noun}?`, exit, details)
    const text = `the ${noun} at ${this.origin} answered ${answer.status}: ${visibleText(reason)}`
    const isTraffic = answer.headers['x-gw-error'] === 'GW_ROUTE_NOT_FOUND'
    return new Failure(
      isTraffic ? `${text}; this is a listener, use the address of the admin API` : text,
      exit,
      details,
    )
  }

  /** Returns a hint if the server expects HTTPS instead of HTTP or the reverse, or null. */
  async #otherScheme(error: unknown): Promise<string | null> {
    if (!(error instanceof Error) || !('code' in error)) return null
    if (this.#base.protocol === 'https:')
      return error.code === 'EPROTO' ? `use ${this.origin.replace('https:', 'http:')}` : null
    const isCut = error.code === 'ECONNRESET' || String(error.code).startsWith('HPE_')
    if (!isCut || !(await speaksTls(this.#base))) return null
    return `it uses TLS: use ${this.origin.replace('http:', 'https:')}, and trust its certificate with NODE_EXTRA_CA_CERTS`
  }

  async #way(): Promise<http.RequestOptions> {
    if (this.#route === null) return { agent: false }
    const socket = await this.#route.connect()
    const isSecure = this.#base.protocol === 'https:'
    return { createConnection: () => (isSecure ? tls.connect({ socket, servername: 'localhost' }) : socket) }
  }

  async #exchange(request: AdminRequest, signal: AbortSignal): Promise<AdminAnswer> {
    const response = await this.#open(request, signal)
    const { statusCode: status = 0, headers } = response
    return { status, headers, text: await collect(response, request.onLine) }
  }

  /** Sends a request. Resolves with the head of the response. */
  async #open(
    { method, path, body, headers: fields }: AdminRequest,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const headers: Record<string, string> = { accept: 'application/json', ...fields }
    if (this.#token !== null) headers['authorization'] = `Bearer ${this.#token}`
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body))
    const { request: open } = this.#base.protocol === 'https:' ? https : http
    const way = await this.#way()
    return new Promise((resolve, reject) => {
      const call = open(new URL(path, this.#base), { method, headers, signal, ...way }, resolve)
      call.on('error', reject)
      call.end(body)
    })
  }
}

/** True if the server completes a TLS handshake with any certificate. Sends no data. */
function speaksTls({ hostname, port }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '')
  const timeoutMs = TIMEOUT_MS
  return new Promise((resolve) => {
    const socket = tls.connect({
      host,
      port: Number(port || 80),
      rejectUnauthorized: false,
      timeout: timeoutMs,
    })
    const settle = (isTls: boolean): void => {
      socket.destroy()
      resolve(isTls)
    }
    socket.once('secureConnect', () => settle(true))
    socket.once('error', () => settle(false))
    socket.once('timeout', () => settle(false))
  })
}

/** Returns the lines of a response as they arrive. @throws Error if one is too long */
async function* linesIn(res: http.IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of res.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) throw new Error(`a line is longer than ${MAX_LINE_CHARS} characters`)
    yield* lines
  }
}

async function collect(res: http.IncomingMessage, onLine?: (line: string) => void): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  let rest = ''
  for await (const chunk of res as AsyncIterable<Buffer>) {
    if (onLine !== undefined) {
      const lines = `${rest}${chunk.toString('utf8')}`.split('\n')
      rest = lines.pop()!
      for (const line of lines) onLine(line)
    }
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the response is larger than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function serverUrl(text: string, { noun, defaultUrl }: ServerKind): URL {
  if (URL.canParse(text)) {
    const url = new URL(text)
    if (/^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  }
  throw usageError(`'${text}' is not the URL of a ${noun}; use for example ${defaultUrl}`)
}

/** True for 401, 403 and 429 (too many wrong tokens). */
function isUnauthorised({ status }: AdminAnswer): boolean {
  return status === 401 || status === 403 || status === 429
}

/** Returns the members of a problem (RFC 9457); none if the response is something else. */
function problemOf({ text }: AdminAnswer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

/** Describes a response of an unknown server, such as `404, text/html, server nginx/1.29.0`. */
function answerFacts({ status, headers }: AdminAnswer): string {
  const { server, location, 'content-type': type } = headers
  const facts = [type, server && `server ${server}`, location && `to ${location}`]
  return [String(status), ...facts.map((fact) => visibleText((fact ?? '').slice(0, MAX_FACT_CHARS)))]
    .filter((fact) => fact !== '')
    .join(', ')
}

/** Returns the token for the admin API from the file or GW_TOKEN, or null. @throws Failure */
export function tokenOf(file: string | undefined): string | null {
  if (file !== undefined) return checked(secretInFile(file, 'token file'), `the file ${file}`)
  const token = process.env['GW_TOKEN'] ?? ''
  return token === '' ? null : checked(token, 'GW_TOKEN')
}

/** Checks the format of a token without showing it. */
function checked(token: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageError(`${where} contains no valid token; it must be one line of visible ASCII characters`)
}

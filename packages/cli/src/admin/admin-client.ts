import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import { visibleText } from '@sluice/core'
import { EXIT, Failure } from '../failure.js'
import { secretInFile } from '../input/secret-file.js'
import { say } from '../output/output.js'
import type { ServerOptions } from '../program/building.js'
import { AnswerPart } from './answer-part.js'
import { connectionReason } from './connection-reason.js'

/** A request to the admin API. */
export interface AdminRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  /** With its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The answer must be complete by then. */
  readonly timeoutMs?: number
}

/** An answer of the admin API. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

const DEFAULT_SERVER = 'http://127.0.0.1:9901'
const TIMEOUT_MS = 5000
/** A plan of 10,000 routes takes about 10 MB. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** How a gateway is reached that has no address of its own. */
export interface AdminRoute {
  /** What it is called in messages. */
  readonly name: string
  /** Opens a connection to its admin API. */
  readonly connect: () => Promise<Duplex>
}

/** Talks to the admin API of one gateway. */
export class AdminClient {
  readonly #base: URL
  readonly #token: string | null
  readonly #route: AdminRoute | null

  /** @throws Failure when the address or the token makes no sense. */
  constructor(options: ServerOptions, route: AdminRoute | null = null) {
    this.#route = route
    this.#base = serverUrl(options.server ?? (process.env['GW_SERVER'] || DEFAULT_SERVER))
    this.#token = tokenOf(options.tokenFile)
    const isOpen = this.#base.protocol === 'http:' && !LOOPBACK.test(this.#base.hostname)
    if (isOpen && this.#token !== null) say(`the token travels to ${this.origin} unencrypted; use https`)
  }

  /** What the gateway is called in messages. */
  get origin(): string {
    return this.#route?.name ?? this.#base.origin
  }

  /** Gets a JSON object. @throws Failure for every other answer. */
  async get(
    path: string,
  ): Promise<{ readonly part: AnswerPart; readonly headers: http.IncomingHttpHeaders }> {
    const answer = await this.send({ method: 'GET', path })
    if (answer.status !== 200) throw this.refused(answer)
    return { part: this.parsed(answer), headers: answer.headers }
  }

  /** Sends a request. @throws Failure when nobody answers, or the caller may not do this. */
  async send(request: AdminRequest): Promise<AdminAnswer> {
    const answer = await this.#exchange(request).catch(async (error: unknown) => {
      const reason = connectionReason(error, request.timeoutMs ?? TIMEOUT_MS)
      const hint = await this.#otherScheme(error)
      const text = `cannot reach the gateway at ${this.origin} (${reason}); ${hint ?? 'is it running? set --server or GW_SERVER'}`
      throw new Failure(EXIT.unreachable, text)
    })
    if (isUnauthorised(answer)) throw this.refused(answer)
    return answer
  }

  /** The JSON object of an answer. @throws Failure when it is none. */
  parsed(answer: AdminAnswer): AnswerPart {
    try {
      return new AnswerPart(JSON.parse(answer.text), 'the answer')
    } catch {
      throw new Failure(
        EXIT.failed,
        `${this.origin} answered something that is no JSON object; is it a gateway?`,
      )
    }
  }

  /** An answer that is no success, as a failure with the exit code that belongs to it. */
  refused(answer: AdminAnswer): Failure {
    const exit = isUnauthorised(answer) ? EXIT.unauthorised : EXIT.failed
    const detail = visibleText(detailOf(answer))
    const text = `the gateway at ${this.origin} answered ${answer.status}${detail === '' ? '' : `: ${detail}`}`
    const isTraffic = answer.headers['x-gw-error'] === 'GW_ROUTE_NOT_FOUND'
    return new Failure(exit, isTraffic ? `${text}; this is a listener, name the admin API` : text)
  }

  /** `write https://…`, when the address speaks the other of HTTP and HTTPS; null when it does not. */
  async #otherScheme(error: unknown): Promise<string | null> {
    if (!(error instanceof Error) || !('code' in error)) return null
    if (this.#base.protocol === 'https:') {
      return error.code === 'EPROTO' ? `write ${this.origin.replace('https:', 'http:')}` : null
    }
    const isCut = error.code === 'ECONNRESET' || String(error.code).startsWith('HPE_')
    if (!isCut || !(await speaksTls(this.#base))) return null
    return `it speaks TLS: write ${this.origin.replace('http:', 'https:')}, and trust its certificate with NODE_EXTRA_CA_CERTS`
  }

  async #way(): Promise<http.RequestOptions> {
    if (this.#route === null) return { agent: false }
    const socket = await this.#route.connect()
    const isSecure = this.#base.protocol === 'https:'
    return { createConnection: () => (isSecure ? tls.connect({ socket, servername: 'localhost' }) : socket) }
  }

  async #exchange(request: AdminRequest): Promise<AdminAnswer> {
    const { method, path, body, timeoutMs = TIMEOUT_MS } = request
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
    if (this.#token !== null) headers['authorization'] = `Bearer ${this.#token}`
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body))
    const { request: open } = this.#base.protocol === 'https:' ? https : http
    const signal = AbortSignal.timeout(timeoutMs)
    const way = await this.#way()
    return new Promise((resolve, reject) => {
      const call = open(new URL(path, this.#base), { method, headers, signal, ...way }, (res) => {
        const { statusCode: status = 0, headers: fields } = res
        collect(res).then((text) => resolve({ status, headers: fields, text }), reject)
      })
      call.on('error', reject)
      call.end(body)
    })
  }
}

/** Whether an address completes a TLS handshake, whatever its certificate: nothing is sent over it. */
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

async function collect(res: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of res as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function serverUrl(text: string): URL {
  if (URL.canParse(text)) {
    const url = new URL(text)
    if (/^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  }
  throw new Failure(EXIT.usage, `'${text}' is not the URL of a gateway; write for example ${DEFAULT_SERVER}`)
}

/** 429: too many wrong tokens came from here. */
function isUnauthorised({ status }: AdminAnswer): boolean {
  return status === 401 || status === 403 || status === 429
}

/** What a problem (RFC 9457) says; empty for anything else. */
function detailOf({ text }: AdminAnswer): string {
  try {
    const { detail, title } = JSON.parse(text) as { readonly detail?: unknown; readonly title?: unknown }
    return [detail, title].find((one) => typeof one === 'string') ?? ''
  } catch {
    return ''
  }
}

/** The token for the admin API: that of the file, else that of GW_TOKEN, else null. @throws Failure. */
export function tokenOf(file: string | undefined): string | null {
  if (file !== undefined) return checked(secretInFile(file, 'token file'), `the file ${file}`)
  const token = process.env['GW_TOKEN'] ?? ''
  return token === '' ? null : checked(token, 'GW_TOKEN')
}

/** The token itself is never repeated. */
function checked(token: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Failure(EXIT.usage, `${where} holds no token; it must be one line of visible ASCII characters`)
}

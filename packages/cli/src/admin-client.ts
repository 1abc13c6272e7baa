import { readFileSync, statSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { EXIT, Failure } from './failure.js'
import { say } from './output/output.js'

/** Where the running gateway is and who asks. */
export interface ServerOptions {
  readonly server?: string | undefined
  readonly tokenFile?: string | undefined
}

/** An answer of the admin API. */
export interface AdminAnswer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

export interface AdminRequest {
  readonly method: 'GET' | 'PUT' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const DEFAULT_SERVER = 'http://127.0.0.1:9901'
/** A rollout over many workers may take its time; a gateway that does not answer within this is unreachable. */
const TIMEOUT_MS = 60_000
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Talks to the admin API of one gateway. */
export class AdminClient {
  readonly #base: URL
  readonly #token: string | null

  /** @throws Failure when the address or the token file makes no sense. */
  constructor(options: ServerOptions) {
    this.#base = serverUrl(options.server ?? process.env['GW_SERVER'] ?? DEFAULT_SERVER)
    this.#token =
      options.tokenFile === undefined ? (process.env['GW_TOKEN'] ?? null) : tokenOf(options.tokenFile)
  }

  /** A JSON document. @throws Failure for every answer that is not 200. */
  async json<T>(path: string): Promise<T> {
    const answer = await this.send({ method: 'GET', path })
    if (answer.status !== 200) throw refusal(answer)
    return JSON.parse(answer.text) as T
  }

  /** @throws Failure when nobody answers, or the answer is "not authorised". */
  async send(request: AdminRequest): Promise<AdminAnswer> {
    const answer = await this.#exchange(request).catch((error: NodeJS.ErrnoException) => {
      throw new Failure(EXIT.unreachable, unreachable(this.#base, error))
    })
    if (answer.status === 401 || answer.status === 403) throw refusal(answer)
    return answer
  }

  #exchange(request: AdminRequest): Promise<AdminAnswer> {
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
    if (this.#token !== null) headers['authorization'] = `Bearer ${this.#token}`
    if (request.body !== undefined) headers['content-length'] = String(Buffer.byteLength(request.body))
    const { request: open } = this.#base.protocol === 'https:' ? https : http
    return new Promise((resolve, reject) => {
      const url = new URL(request.path, this.#base)
      const call = open(url, { method: request.method, headers, timeout: TIMEOUT_MS }, (res) => {
        collect(res).then(
          (text) => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }),
          reject,
        )
      })
      call.on('timeout', () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
      call.on('error', reject)
      call.end(request.body)
    })
  }
}

async function collect(res: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of res as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function serverUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text)
  throw new Failure(EXIT.usage, `'${text}' is not the URL of a gateway; write for example ${DEFAULT_SERVER}`)
}

function tokenOf(file: string): string {
  try {
    if ((statSync(file).mode & 0o077) !== 0) say(`${file} can be read by others; make it 0600`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Failure(EXIT.failed, `cannot read the token file ${file}: ${(error as Error).message}`)
  }
}

function unreachable(base: URL, error: NodeJS.ErrnoException): string {
  const reasons: Record<string, string> = { ECONNREFUSED: 'connection refused', ENOTFOUND: 'unknown host' }
  const reason = reasons[error.code ?? ''] ?? error.message
  return `cannot reach the gateway at ${base.origin} (${reason}); is it running? set --server or GW_SERVER`
}

/** What an answer that is not a success says, as a failure with the exit code that belongs to it. */
export function refusal(answer: AdminAnswer): Failure {
  const detail = detailOf(answer.text) ?? answer.text.slice(0, 200)
  const exit = answer.status === 401 || answer.status === 403 ? EXIT.unauthorised : EXIT.failed
  const hint = answer.status === 401 ? '; set GW_TOKEN or --token-file' : ''
  return new Failure(exit, `the gateway answered ${answer.status}: ${detail}${hint}`)
}

function detailOf(text: string): string | null {
  try {
    const { detail, title } = JSON.parse(text) as { detail?: unknown; title?: unknown }
    return typeof detail === 'string' ? detail : typeof title === 'string' ? title : null
  } catch {
    return null
  }
}

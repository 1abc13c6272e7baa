import { readFile } from 'node:fs/promises'
import type { VaultSettings } from '@sluice/config'
import { reasonOf } from '@sluice/core'
import type { Pool } from 'undici'
import { loadUndici } from '../../upstream/undici/lazy-undici.js'

/** A request to the HTTP API. */
export interface VaultCall {
  readonly method: 'GET' | 'POST'
  /** Segments of the path after `/v1/`, unescaped. */
  readonly path: readonly string[]
  readonly token?: string
  readonly body?: Readonly<Record<string, string>>
}

/** A failed request. Messages never contain tokens or secrets. */
export class VaultError extends Error {
  /** Status of the response; 0 if there was none. */
  readonly status: number
  readonly remedy: string

  constructor(status: number, message: string, remedy: string) {
    super(message)
    this.status = status
    this.remedy = remedy
  }

  /** True if the same request may succeed later: no response, a sealed server, or a change of its leader. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 412 || this.status === 429 || this.status > 471
  }
}

/** Maximum size of a response in bytes. Vault stores at most 1 MB per secret. */
const MAX_ANSWER_BYTES = 1024 * 1024
/** Maximum time for a request, in milliseconds. */
const ATTEMPT_MS = 5000
/** Maximum number of requests at a time. */
const CONNECTIONS = 8
/** Status of responses that cannot be used, whatever their own status. */
export const UNUSABLE = 400
const REACH = 'check that vault.address is correct and Vault is running and unsealed'

/** HTTP client of a Vault server. It never follows redirects, which would send the token elsewhere. */
export class VaultClient {
  readonly #settings: VaultSettings
  /** Pool by the CA file's content, so that a renewed file is used. */
  #pool: { readonly ca: string | null; readonly pool: Pool } | null = null

  constructor(settings: VaultSettings) {
    this.#settings = settings
  }

  /** Sends a request and returns its JSON object. @throws VaultError for any other response */
  async send({ method, path, token, body }: VaultCall): Promise<Record<string, unknown>> {
    const { address, namespace } = this.#settings
    const pool = await this.#connected()
    const headers: Record<string, string> = { accept: 'application/json', 'x-vault-request': 'true' }
    if (token !== undefined) headers['x-vault-token'] = token
    if (namespace !== null) headers['x-vault-namespace'] = namespace
    if (body !== undefined) headers['content-type'] = 'application/json'
    const signal = AbortSignal.timeout(ATTEMPT_MS)
    let status = 0
    let text: string
    try {
      const response = await pool.request({
        ...{ method, headers, signal, path: `/v1/${path.map(encodeURIComponent).join('/')}` },
        body: body === undefined ? null : JSON.stringify(body),
      })
      text = await response.body.text()
      status = response.statusCode
    } catch (error) {
      throw unavailable(error as NodeJS.ErrnoException, signal.aborted, address)
    }
    if (status === 200 || status === 204) return objectOf(text, address)
    throw refusalOf(status, reasonIn(text, [token, ...Object.values(body ?? {})]), address)
  }

  close(): void {
    void this.#pool?.pool.destroy()
    this.#pool = null
  }

  async #connected(): Promise<Pool> {
    const { address, caFile } = this.#settings
    const ca = caFile === null ? null : await readFile(caFile, 'utf8').catch(() => null)
    if (ca === null && caFile !== null)
      throw new VaultError(
        UNUSABLE,
        `the CA file ${caFile} cannot be read`,
        'check vault.tls.caFile or VAULT_CACERT',
      )
    if (this.#pool?.ca === ca) return this.#pool.pool
    this.close()
    const pool = new (loadUndici().Pool)(address, {
      connections: CONNECTIONS,
      maxResponseSize: MAX_ANSWER_BYTES,
      connect: ca === null ? { timeout: ATTEMPT_MS } : { timeout: ATTEMPT_MS, ca },
    })
    this.#pool = { ca, pool }
    return pool
  }
}

function unavailable(error: NodeJS.ErrnoException, isLate: boolean, address: string): VaultError {
  const { code = '' } = error
  if (isLate || code === 'UND_ERR_CONNECT_TIMEOUT')
    return new VaultError(
      0,
      `Vault at ${address} is unavailable: no response within ${ATTEMPT_MS / 1000} s`,
      REACH,
    )
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new VaultError(UNUSABLE, `the response of ${address} is larger than 1 MB`, 'use smaller secrets')
  const remedy = 'set vault.tls.caFile or VAULT_CACERT, and use a host name of the certificate'
  if (/CERT|TLS|SSL/.test(code))
    return new VaultError(UNUSABLE, `the certificate of ${address} is not trusted: ${code}`, remedy)
  return new VaultError(0, `Vault at ${address} is unavailable: ${reasonOf(error)}`, REACH)
}

function objectOf(text: string, address: string): Record<string, unknown> {
  const value = text === '' ? {} : parsed(text)
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw new VaultError(
    UNUSABLE,
    `${address} did not send a Vault response`,
    'check that vault.address is a Vault server',
  )
}

function refusalOf(status: number, reason: string, address: string): VaultError {
  if (status >= 300 && status < 400)
    return new VaultError(
      status,
      `Vault at ${address} redirects to another address`,
      'set vault.address to the active server or the load balancer',
    )
  return new VaultError(status, `Vault answered ${status}${reason}`, REACH)
}

/** Returns the first error of a response, in printable ASCII, without the secrets of the request. */
function reasonIn(text: string, secrets: readonly (string | undefined)[]): string {
  const errors = (parsed(text) as { readonly errors?: unknown } | null)?.errors
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  if (typeof first !== 'string' || first === '') return ''
  const hidden = secrets.reduce<string>(
    (rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest),
    first,
  )
  return `: ${hidden
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200)}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

import { readFile } from 'node:fs/promises'
import type { VaultSettings } from '@sluice/config'
import { UNUSABLE, VaultClient, VaultError } from './vault-client.js'

/** A token of Vault. */
interface VaultToken {
  readonly value: string
  /** Lifetime in milliseconds; Infinity if it does not expire or is unknown. */
  readonly lifetimeMs: number
  readonly sinceMono: number
}

/** A secret: its keys and values, and the time after which it should be read again. */
export interface VaultSecret {
  readonly values: Readonly<Record<string, unknown>>
  readonly leaseMs: number
}

/** Part of the lifetime after which a token is renewed. */
const RENEW_AFTER = 2 / 3
const TOKEN = /^[\x21-\x7e]{1,4096}$/

/** A login to Vault. Renews its token, and logs in again if Vault refuses it. */
export class VaultSession {
  readonly #settings: VaultSettings
  readonly #client: VaultClient
  readonly #now: () => number
  #token: VaultToken | null = null

  constructor(settings: VaultSettings, now = () => performance.now()) {
    this.#settings = settings
    this.#client = new VaultClient(settings)
    this.#now = now
  }

  /** Time until the token must be renewed, in milliseconds. */
  get renewalMs(): number {
    if (this.#token === null) return Number.POSITIVE_INFINITY
    const { sinceMono, lifetimeMs } = this.#token
    return sinceMono + lifetimeMs * RENEW_AFTER - this.#now()
  }

  /** Reads secrets by path. The result has an error for each one that failed. Never rejects. */
  async read(paths: readonly string[]): Promise<ReadonlyMap<string, VaultSecret | VaultError>> {
    const found = new Map<string, VaultSecret | VaultError>()
    const readAll = async (some: readonly string[], token: string): Promise<void> => {
      const answers = await Promise.all(some.map((path) => this.#readOne(path, token).catch(asError)))
      for (const [i, path] of some.entries()) found.set(path, answers[i]!)
    }
    try {
      const before = this.#token?.value
      const token = await this.#usableToken()
      await readAll(paths, token)
      // Vault may have revoked the token, for example after a restore.
      const denied = paths.filter((path) => (found.get(path) as VaultError).status === 403)
      if (denied.length === 0 || token !== before || !this.#logsIn) return found
      this.#token = null
      await readAll(denied, await this.#usableToken())
    } catch (error) {
      for (const path of paths) if (!('values' in (found.get(path) ?? {}))) found.set(path, asError(error))
    }
    return found
  }

  close(): void {
    this.#client.close()
  }

  get #logsIn(): boolean {
    const { kind } = this.#settings.auth
    return kind === 'kubernetes' || kind === 'appRole'
  }

  async #readOne(path: string, token: string): Promise<VaultSecret> {
    const { mount, engine } = this.#settings
    const inMount = [...(engine === 'kv-v2' ? ['data'] : []), ...path.split('/')]
    try {
      const answer = await this.#client.send({
        method: 'GET',
        token,
        path: [...mount.split('/'), ...inMount],
      })
      const data = engine === 'kv-v2' ? recordOf(answer['data'])['data'] : answer['data']
      return { values: recordOf(data), leaseMs: msOf(answer['lease_duration']) }
    } catch (error) {
      throw located(asError(error), `${mount}/${inMount.join('/')}`, { mount, path })
    }
  }

  /** Returns the token: logs in, or renews the token if a large part of its lifetime is over. */
  async #usableToken(): Promise<string> {
    const given = this.#logsIn ? null : await this.#givenToken()
    if (given !== null && given !== this.#token?.value) {
      this.#token = await this.#lookUp(given)
      return given
    }
    if (this.#token !== null && this.renewalMs > 0) return this.#token.value
    if (this.#token !== null) {
      try {
        const path = ['auth', 'token', 'renew-self']
        const answer = await this.#client.send({ method: 'POST', path, token: this.#token.value, body: {} })
        const renewed = this.#tokenOf(answer)
        // At its maximum lifetime, a renewal adds nothing.
        if (given !== null || renewed.lifetimeMs > this.#token.lifetimeMs / 2) this.#token = renewed
        else this.#token = await this.#login()
        return this.#token.value
      } catch (error) {
        if (asError(error).isTransient) throw error
        if (given !== null) this.#token = { ...this.#token, lifetimeMs: Number.POSITIVE_INFINITY }
      }
    }
    this.#token = given === null ? await this.#login() : this.#token
    return this.#token!.value
  }

  async #login(): Promise<VaultToken> {
    const { auth } = this.#settings
    if (auth.kind !== 'kubernetes' && auth.kind !== 'appRole') throw new Error('unreachable')
    const body: Record<string, string> =
      auth.kind === 'kubernetes'
        ? { role: auth.role, jwt: await tokenIn(auth.file, 'vault.auth.kubernetes.tokenFile') }
        : { role_id: auth.roleId, ...(auth.secretId === null ? {} : { secret_id: auth.secretId }) }
    try {
      const path = ['auth', ...auth.mount.split('/'), 'login']
      return this.#tokenOf(await this.#client.send({ method: 'POST', path, body }))
    } catch (error) {
      const { status, message, remedy, isTransient } = asError(error)
      if (isTransient) throw error
      throw new VaultError(
        status,
        `the login to auth/${auth.mount} failed: ${message}`,
        loginRemedy(status, remedy),
      )
    }
  }

  async #givenToken(): Promise<string> {
    const { auth } = this.#settings
    if (auth.kind === 'tokenFile') return tokenIn(auth.file, 'vault.auth.tokenFile')
    return checked(auth.kind === 'token' ? auth.token : '', 'vault.auth.token or VAULT_TOKEN')
  }

  /** Looks up the lifetime of a token. Its policies may forbid that: then it is not renewed. */
  async #lookUp(value: string): Promise<VaultToken> {
    const token = { value, lifetimeMs: Number.POSITIVE_INFINITY, sinceMono: this.#now() }
    try {
      const path = ['auth', 'token', 'lookup-self']
      const data = recordOf((await this.#client.send({ method: 'GET', path, token: value }))['data'])
      return data['renewable'] === true ? { ...token, lifetimeMs: msOf(data['ttl']) } : token
    } catch (error) {
      if (asError(error).isTransient) throw error
      return token
    }
  }

  #tokenOf(answer: Record<string, unknown>): VaultToken {
    const auth = recordOf(answer['auth'])
    const value = checked(String(auth['client_token'] ?? ''), 'the server')
    return { value, lifetimeMs: msOf(auth['lease_duration']), sinceMono: this.#now() }
  }
}

function located(
  error: VaultError,
  place: string,
  { mount, path }: { mount: string; path: string },
): VaultError {
  const { status, message } = error
  if (status === 404)
    return new VaultError(
      status,
      `Vault has no secret at ${place}`,
      `write it with vault kv put -mount=${mount} ${path} KEY=VALUE; the path in the document starts after the mount`,
    )
  if (status === 403)
    return new VaultError(status, `${message} for ${place}`, `let a policy of the login read "${place}"`)
  return error
}

function loginRemedy(status: number, remedy: string): string {
  return status === 400 || status === 403 ? 'check vault.auth and the role in Vault' : remedy
}

async function tokenIn(file: string, key: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => {
    throw new VaultError(UNUSABLE, `the token file ${file} cannot be read`, `check ${key}`)
  })
  return checked(text.trim(), key)
}

/** Returns a token that may be sent in a header. */
function checked(token: string, origin: string): string {
  if (TOKEN.test(token)) return token
  throw new VaultError(
    UNUSABLE,
    `the token of ${origin} is empty or has invalid characters`,
    `check ${origin}`,
  )
}

/** Converts a lifetime in seconds; 0 means that it does not end. */
function msOf(seconds: unknown): number {
  return typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function asError(error: unknown): VaultError {
  return error instanceof VaultError
    ? error
    : new VaultError(0, 'reading from Vault failed', 'report this error')
}

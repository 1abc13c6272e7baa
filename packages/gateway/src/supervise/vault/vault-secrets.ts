import { setTimeout as sleep } from 'node:timers/promises'
import type { Issue, VaultRequest, VaultSettings, VaultValues } from '@sluice/config'
import { isIssue } from '@sluice/config/serving'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import { VaultError } from './vault-client.js'
import { type VaultSecret, VaultSession } from './vault-session.js'

/** Help texts of the metrics below. */
export const VAULT_HELP: Readonly<Record<string, string>> = {
  gw_vault_up: '1 if the last read of the active secrets in Vault succeeded, else 0.',
  gw_vault_age_seconds: 'Time since the active secrets were last read from Vault.',
  gw_vault_failures_total: 'Failed reads of the active secrets. The known values stay in use.',
  gw_vault_rotations_total: 'Changes of secrets in Vault that were found while serving.',
}

/** The secrets of a document, and where they come from. */
export interface VaultReading {
  readonly request: VaultRequest
  readonly values: VaultValues
  /** Time after which they should be read again, in milliseconds. */
  readonly leaseMs: number
}

/** The secrets in use. */
interface Active {
  readonly settings: VaultSettings
  readonly references: readonly string[]
  readonly values: VaultValues
}

/** Values of one server that were read before. */
interface Known {
  readonly session: VaultSession
  readonly values: Map<string, string>
  /** Time at which waiting for the server was given up. */
  gaveUpMono: number
}

/** Maximum number of servers and logins that are remembered. */
const MAX_SESSIONS = 4
/** Maximum size of a value in bytes, as for files. */
const MAX_VALUE_BYTES = 64 * 1024
/** Maximum number of values that are remembered per server. */
const MAX_KNOWN = 10_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5000
/** Minimum interval between reads, whatever the leases say. */
const MIN_INTERVAL_MS = 1000
const SLOWEST_MS = 24 * 3_600_000

/**
 * Reads the secrets of documents from Vault, and reads those in use again. Values exist only in the memory of
 * the supervisor and the workers.
 */
export class VaultSecrets {
  readonly #log: OperationLog
  readonly #ending = new AbortController()
  readonly #known = new Map<string, Known>()
  #active: Active | null = null
  #timer: NodeJS.Timeout | null = null
  #readMono = 0
  #failure: VaultError | null = null
  #failures = 0
  #rotations = 0
  #onRotated: () => Promise<unknown> = async () => {}

  constructor(log: OperationLog) {
    this.#log = log
  }

  /** Sets the function that applies the active document again. It is called if one of its secrets has changed. */
  set onRotated(reapply: () => Promise<unknown>) {
    this.#onRotated = reapply
  }

  /**
   * Reads the secrets that a document needs. While Vault is unavailable, it tries again until the timeout,
   * unless all values are known from before: these are then used. Never rejects.
   */
  async read(request: VaultRequest): Promise<VaultReading> {
    const { settings, references } = request
    if (isIssue(settings)) {
      const values = new Map(references.map((reference) => [reference, unread(reference, settings)]))
      return { request, values, leaseMs: Number.POSITIVE_INFINITY }
    }
    const known = this.#knownOf(settings)
    const endMono = performance.now() + settings.timeoutMs
    const isPatient = performance.now() - known.gaveUpMono > settings.timeoutMs
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const secrets = await known.session.read(pathsOf(references))
      const failure = transientOf(secrets)
      const isStillKnown = references.every((reference) => known.values.has(reference))
      if (failure === null || isStillKnown || !isPatient || performance.now() + pauseMs > endMono) {
        if (failure !== null) this.#noteStale(failure, known, isStillKnown)
        return { request, ...valuesIn(secrets, references, known.values) }
      }
      this.#log.warn('vault.waiting', { reason: failure.message, remedy: failure.remedy, retryMs: pauseMs })
      await sleep(pauseMs, null, { signal: this.#ending.signal }).catch(() => {})
      if (this.#ending.signal.aborted) return { request, ...valuesIn(secrets, references, known.values) }
    }
  }

  /** Keeps the secrets of the active document up to date. @param used tells which references it contains */
  serve(reading: VaultReading | null, used: (reference: string) => boolean): void {
    this.#stopTimer()
    this.#active = null
    if (reading === null || isIssue(reading.request.settings)) return
    const { settings, references } = reading.request
    this.#active = { settings, references: references.filter(used), values: reading.values }
    if (this.#failure === null) this.#readMono = performance.now()
    this.#arm(reading.leaseMs)
  }

  warnings(): string[] {
    if (this.#active === null || this.#failure === null) return []
    const { message, remedy } = this.#failure
    return [`${message}; the known secrets stay in use (${remedy})`]
  }

  samples(): Sample[] {
    if (this.#active === null) return []
    const sample = (name: string, value: number): Sample => ({ name, labels: '', value })
    return [
      sample('gw_vault_up', this.#failure === null ? 1 : 0),
      sample('gw_vault_age_seconds', Math.round((performance.now() - this.#readMono) / 1000)),
      sample('gw_vault_failures_total', this.#failures),
      sample('gw_vault_rotations_total', this.#rotations),
    ]
  }

  close(): void {
    this.#ending.abort()
    this.#stopTimer()
    this.#active = null
    for (const { session } of this.#known.values()) session.close()
  }

  /** Reads the active secrets again. If one has changed, the document is applied again. */
  async #refresh(active: Active): Promise<void> {
    const { settings, references } = active
    const { session, values } = this.#knownOf(settings)
    const secrets = await session.read(pathsOf(references))
    if (this.#active !== active) return
    const found = valuesIn(secrets, references, values)
    const failure = [...secrets.values()].find((secret) => secret instanceof VaultError) ?? null
    const lost = references.filter((reference) => isIssue(found.values.get(reference)))
    this.#note(failure ?? (lost.length === 0 ? null : missingKey(found.values.get(lost[0]!))))
    const changed = references.filter((reference) => {
      const value = found.values.get(reference)
      return typeof value === 'string' && value !== active.values.get(reference)
    })
    // Armed before the rollout: if that fails, the next turn finds the same change.
    this.#arm(found.leaseMs)
    // A rollout would be refused while another secret cannot be read.
    if (changed.length === 0 || lost.length > 0) return
    this.#rotations++
    this.#log.info('vault.rotated', { references: changed })
    await this.#onRotated()
  }

  #note(failure: VaultError | null): void {
    if (failure === null) {
      if (this.#failure !== null) this.#log.info('vault.restored', {})
      this.#readMono = performance.now()
    } else {
      this.#failures++
      const { message, remedy } = failure
      if (this.#failure?.message !== message)
        this.#log.warn('vault.failed', { reason: message, remedy, effect: 'the known secrets stay in use' })
    }
    this.#failure = failure
  }

  /** Notes that a document is loaded with values from before, or not at all. */
  #noteStale(failure: VaultError, known: Known, isStillKnown: boolean): void {
    if (isStillKnown) this.#note(failure)
    else known.gaveUpMono = performance.now()
  }

  #arm(leaseMs: number): void {
    const { settings } = this.#active!
    const { session } = this.#knownOf(settings)
    const dueMs = Math.min(settings.refreshMs, leaseMs, session.renewalMs, SLOWEST_MS)
    const active = this.#active!
    this.#stopTimer()
    this.#timer = setTimeout(
      () => {
        this.#refresh(active).catch((error: unknown) => {
          this.#log.error('vault.refresh-failed', { message: error instanceof Error ? error.message : '' })
        })
      },
      Math.max(dueMs, MIN_INTERVAL_MS),
    ).unref()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #knownOf(settings: VaultSettings): Known {
    const { refreshMs: _, timeoutMs: __, ...login } = settings
    const key = JSON.stringify(login)
    const known = this.#known.get(key) ?? {
      session: new VaultSession(settings),
      values: new Map<string, string>(),
      gaveUpMono: Number.NEGATIVE_INFINITY,
    }
    // The most recently used is last.
    this.#known.delete(key)
    this.#known.set(key, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_SESSIONS && oldest !== undefined) {
      this.#known.get(oldest)?.session.close()
      this.#known.delete(oldest)
    }
    return known
  }
}

/** Returns the first failure after which the same request may succeed, or null. */
function transientOf(secrets: ReadonlyMap<string, VaultSecret | VaultError>): VaultError | null {
  for (const secret of secrets.values()) if (secret instanceof VaultError && secret.isTransient) return secret
  return null
}

/**
 * Returns the values of references. While Vault is unavailable, these are the known ones. Stores new values
 * as known.
 */
function valuesIn(
  secrets: ReadonlyMap<string, VaultSecret | VaultError>,
  references: readonly string[],
  known: Map<string, string>,
): Pick<VaultReading, 'values' | 'leaseMs'> {
  const values = new Map<string, string | Issue>()
  let leaseMs = Number.POSITIVE_INFINITY
  for (const reference of references) {
    const secret = secrets.get(partsOf(reference).path)!
    const found = secret instanceof VaultError ? secret : valueIn(secret, reference)
    if (!(secret instanceof VaultError)) leaseMs = Math.min(leaseMs, secret.leaseMs)
    if (typeof found === 'string') {
      if (known.size >= MAX_KNOWN) known.clear()
      known.set(reference, found)
    }
    const before = found instanceof VaultError && found.isTransient ? known.get(reference) : undefined
    values.set(reference, typeof found === 'string' ? found : (before ?? unread(reference, found)))
  }
  return { values, leaseMs }
}

function valueIn({ values }: VaultSecret, reference: string): string | Issue {
  const { path, key } = partsOf(reference)
  const value = Object.hasOwn(values, key) ? values[key] : undefined
  if (value === undefined)
    return {
      message: `the secret ${path} has no key '${key}'`,
      remedy: 'add the key in Vault, or correct it',
    }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return { message: `the key '${key}' of ${path} is not a string`, remedy: 'store a string in Vault' }
  if (Buffer.byteLength(String(value)) > MAX_VALUE_BYTES)
    return { message: `the key '${key}' of ${path} is larger than 64 KB`, remedy: 'store a shorter value' }
  return String(value)
}

function unread(reference: string, { message, remedy }: Issue): Issue {
  return { message: `${reference} cannot be read: ${message}`, remedy, ofMachine: true }
}

function missingKey(issue: string | Issue | undefined): VaultError {
  const { message, remedy } = issue as Issue
  return new VaultError(404, message, remedy)
}

function pathsOf(references: readonly string[]): readonly string[] {
  return [...new Set(references.map((reference) => partsOf(reference).path))]
}

/** Splits `${vault:PATH#KEY}`. */
function partsOf(reference: string): { readonly path: string; readonly key: string } {
  const [path = '', key = ''] = reference.slice('${vault:'.length, -1).split('#')
  return { path, key }
}

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Plan } from '@sluice/config'
import type { OperationLog } from '../../telemetry/operation-log.js'
import type { Sample } from '../../telemetry/sample.js'
import { label } from '../../telemetry/text-format.js'

/** Help texts of the metrics below. */
export const CERTIFICATES_HELP: Readonly<Record<string, string>> = {
  gw_certificate_expires_seconds: 'Time until the certificate in the file expires; negative afterwards.',
  gw_certificate_broken: '1 if the certificate or its key cannot be used.',
}

const POLL_MS = 10_000
const READ_MS = 60_000
const DAY_MS = 86_400_000
/** Number of days before expiry at which warnings start. */
const WARN_DAYS = 30

interface KeyPair {
  readonly certFile: string
  readonly keyFile: string
}

interface CertificateState {
  readonly file: string
  /** Expiry in milliseconds since the epoch, or null if the file is unusable. */
  readonly expiresAt: number | null
  /** Warning text, or null if the certificate stays valid long enough. */
  readonly problem: string | null
}

/**
 * Watches the certificate files of the active plan: listeners, the admin API and upstream client
 * certificates.
 */
export class CertificateWatch {
  readonly #plan: () => Plan | null
  readonly #resolved: () => Plan | null
  readonly #log: Pick<OperationLog, 'warn'>
  readonly #timer: NodeJS.Timeout
  #seen: Plan | null = null
  #readAt = Number.NEGATIVE_INFINITY
  #states: readonly CertificateState[] = []
  /** Problems already logged, by file. */
  #reported = new Map<string, string>()

  /**
   * @param resolved the same plan with its references resolved; its file paths are relative to the document's
   * folder.
   */
  constructor(plan: () => Plan | null, log: Pick<OperationLog, 'warn'>, resolved = plan) {
    this.#plan = plan
    this.#resolved = resolved
    this.#log = log
    this.#timer = setInterval(() => this.#refresh(), POLL_MS).unref()
  }

  /** Returns one warning per certificate that is broken or expires soon. */
  warnings(): string[] {
    this.#refresh()
    return this.#states.flatMap(({ file, problem }) =>
      problem === null ? [] : [`certificate ${file}: ${problem}`],
    )
  }

  samples(): Sample[] {
    this.#refresh()
    return this.#states.flatMap(({ file, expiresAt }) => {
      const labels = label('file', file)
      const broken = { name: 'gw_certificate_broken', labels, value: expiresAt === null ? 1 : 0 }
      if (expiresAt === null) return [broken]
      const value = Math.round((expiresAt - Date.now()) / 1000)
      return [broken, { name: 'gw_certificate_expires_seconds', labels, value }]
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Reads the files again when the plan changes, and once a minute. */
  #refresh(): void {
    const plan = this.#plan()
    const nowMono = performance.now()
    if (plan === this.#seen && nowMono - this.#readAt < READ_MS) return
    this.#seen = plan
    this.#readAt = nowMono
    try {
      const resolved = this.#resolved()
      this.#states = resolved === null ? [] : [...pairsOf(resolved).values()].map(stateOf)
    } catch {
      // A file that the plan refers to is missing, such as one with a secret: keep the last known state.
      return
    }
    this.#report()
  }

  #report(): void {
    const reported = new Map<string, string>()
    for (const { file, problem, expiresAt } of this.#states) {
      if (problem === null) continue
      reported.set(file, problem)
      if (this.#reported.get(file) === problem) continue
      const event = expiresAt === null ? 'certificate.broken' : 'certificate.expires'
      this.#log.warn(event, { file, problem })
    }
    this.#reported = reported
  }
}

/** Returns the plan's certificates by file. Several listeners may share one. */
function pairsOf({ listeners, admin, upstreams }: Plan): Map<string, KeyPair> {
  const served = listeners.flatMap(({ tls }) => (tls === null ? [] : [tls, ...tls.certificates]))
  const own = admin.tls === null ? [] : [admin.tls]
  const pairs = new Map([...served, ...own].map((pair) => [pair.certFile, pair]))
  for (const { tls } of Object.values(upstreams)) {
    const { certFile, keyFile } = tls ?? {}
    if (certFile != null && keyFile != null) pairs.set(certFile, { certFile, keyFile })
  }
  return pairs
}

function stateOf({ certFile: file, keyFile }: KeyPair): CertificateState {
  try {
    const certificate = new X509Certificate(readFileSync(file))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile))))
      return { file, expiresAt: null, problem: `the key in ${keyFile} does not belong to this certificate` }
    const expiresAt = Date.parse(certificate.validTo)
    return { file, expiresAt, problem: expiryProblem(expiresAt) }
  } catch (error) {
    return { file, expiresAt: null, problem: `cannot be used (${(error as Error).message})` }
  }
}

function expiryProblem(expiresAt: number): string | null {
  const days = Math.floor((expiresAt - Date.now()) / DAY_MS)
  const date = new Date(expiresAt).toISOString().slice(0, 10)
  if (days < 0) return `expired on ${date}`
  return days > WARN_DAYS ? null : `expires on ${date}, in ${days} ${days === 1 ? 'day' : 'days'}`
}

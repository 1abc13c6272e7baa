import {
  type CidrSet,
  type CompileEnv,
  type Counter,
  type Exchange,
  type Expression,
  type Outcome,
  type Reply,
  refusal,
  type Slot,
} from '@sluice/core'
import type { KeyReader } from '../../shared/limits/limit-key.js'
import type { BanTable } from './ban-table.js'
import type { ClientBanConfig } from './schema.js'

const DETAIL = 'too many of your requests have failed; try again after the time in Retry-After'

interface BanParts {
  readonly env: CompileEnv
  readonly key: KeyReader
  readonly counted: Expression
  /** Addresses that are never banned, or null if there are none. */
  readonly ignored: CidrSet | null
  readonly table: BanTable
}

/** Refuses banned callers, and records the responses of all others. */
export class BanStep {
  readonly #parts: BanParts
  readonly #status: number
  readonly #isDry: boolean
  /** Key of each counted request, stored because a policy may change the data that it is read from. */
  readonly #keys: Slot<string>
  readonly #refused: Counter

  constructor({ status, dryRun }: ClientBanConfig, policy: string, parts: BanParts) {
    this.#parts = parts
    this.#status = status
    this.#isDry = dryRun
    this.#keys = parts.env.slot()
    const result = dryRun ? 'shadow' : 'refused'
    this.#refused = parts.env.counter('gw_client_bans_total', { policy, result })
  }

  onRequest(x: Exchange): Outcome {
    const { key, ignored, table } = this.#parts
    const caller = key.read(x)
    if (caller === null || ignored?.has(x.clientIp) === true) return null
    const leftMs = table.leftMs(caller)
    if (leftMs === 0) {
      this.#keys.set(x, caller)
      return null
    }
    this.#refused.value++
    if (!this.#isDry) return replyFor(this.#status, leftMs)
    x.setVar('client-ban', 'would-deny')
    return null
  }

  onResponse(x: Exchange): null {
    const { counted, table } = this.#parts
    const caller = this.#keys.get(x)
    if (caller === undefined) return null
    const isCounted = isTrue(counted, x)
    if (isCounted || table.countsAll) table.note(caller, isCounted)
    return null
  }
}

function replyFor(status: number, leftMs: number): Reply {
  const seconds = String(Math.ceil(leftMs / 1000))
  return { ...refusal('GW_CLIENT_BANNED', DETAIL, ['retry-after', seconds]), status }
}

/** Returns false if the expression cannot be evaluated. */
function isTrue(expression: Expression, x: Exchange): boolean {
  try {
    return expression.value(x) === true
  } catch {
    return false
  }
}

import type { Plan, RoutePlan } from '@sluice/config'
import { type Catalog, errorKind, isErrorCode } from '@sluice/core'
import { inChainOrder } from '../compile/chain-order.js'

/** A parsed record of the traffic log. */
export type TrafficRecord = Readonly<Record<string, unknown>>

/** Reason for a response that is not a success. */
export interface RecordedRefusal {
  readonly code: string
  /** Policy that refused the request; empty if none did. */
  readonly policy: string
  readonly phase: string
  readonly reason: string
  readonly message: string
  readonly cause: string
  readonly remedy: string
  /** Accepted schemes, if the record has response headers. */
  readonly accepts: string
}

/** A policy of the route and its outcome for the request. */
export interface RecordedPolicy {
  readonly id: string
  readonly use: string
  /** `pass`, `skip`, `stop` or `error`; empty if the record does not have it. */
  readonly out: string
  /** Duration in milliseconds, or null if the record does not have it. */
  readonly ms: number | null
  readonly note: string
  readonly when: string | null
  readonly with: unknown
  readonly meaning: readonly string[]
}

/** Explanation of a recorded request. */
export interface RecordExplanation {
  readonly route: Pick<RoutePlan, 'id' | 'match'> | null
  /** Policies of the route in the order in which they run. */
  readonly policies: readonly RecordedPolicy[]
  readonly refusal: RecordedRefusal | null
}

/**
 * Explains why a request got its response, from its record and a configuration.
 * @param plan with masked secrets, as returned by `displayPlan`; null if unknown.
 */
export function explainRecord(record: TrafficRecord, plan: Plan | null, catalog: Catalog): RecordExplanation {
  const route = plan?.routes.find(({ id }) => id === textAt(record, 'route')) ?? null
  return {
    route: route === null ? null : { id: route.id, match: route.match },
    policies: route === null ? [] : policiesOf(route, record, catalog),
    refusal: refusalOf(record),
  }
}

function refusalOf(record: TrafficRecord): RecordedRefusal | null {
  const code = textAt(record, 'error.code')
  if (code === '') return null
  const kind = isErrorCode(code) ? errorKind(code) : null
  return {
    code,
    policy: textAt(record, 'error.policy'),
    phase: textAt(record, 'error.phase'),
    reason: textAt(record, 'error.reason'),
    message: textAt(record, 'error.msg'),
    cause: kind?.when ?? '',
    remedy: kind?.remedy ?? '',
    accepts: textAt(record, 'hdr.res_out.www-authenticate'),
  }
}

function policiesOf({ policies }: RoutePlan, record: TrafficRecord, catalog: Catalog): RecordedPolicy[] {
  const list = valueAt(record, 'policies')
  const runs = Array.isArray(list) ? (list as TrafficRecord[]) : []
  return inChainOrder(policies, catalog).map(({ id, use, when, with: settings }) => {
    const run = runs.find((each) => each['id'] === id) ?? {}
    const { ms } = run
    return {
      id,
      use,
      out: textAt(run, 'out'),
      ms: typeof ms === 'number' ? ms : null,
      note: textAt(run, 'note'),
      when,
      with: settings,
      meaning: catalog.meanings?.get(use)?.(settings as never) ?? [],
    }
  })
}

/** Returns the text at a dotted path; empty if there is none. */
function textAt(record: TrafficRecord, path: string): string {
  const value = valueAt(record, path)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function valueAt(record: TrafficRecord, path: string): unknown {
  let value: unknown = record
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as TrafficRecord)[name]
  }
  return value
}

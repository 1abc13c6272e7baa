import { formatSize } from '@sluice/core'
import type { Point } from '../model/summary.js'
import type { PolicyCost } from '../report/policy-cost.js'
import { isPlainProxy } from '../report/scenario-relation.js'
import { cheapestFirst } from './body-cost.js'
import type { Measurements } from './measurements.js'

/** What something costs, beside the GET that costs least. */
export interface CostRow {
  readonly what: string
  readonly micros: number
  /** With it over a plain GET: 1.2 is a fifth more. Null: no GET was measured. */
  readonly times: number | null
}

/** The multipliers of requests and of policies. */
export interface CostTable {
  readonly requests: readonly CostRow[]
  /** `micros` is what the policy adds; `times` is the same call with it over without it. */
  readonly policies: readonly CostRow[]
}

/** All that was measured, as multipliers. */
export function costTable({ points, policyCosts }: Measurements): CostTable {
  const plain = cheapestFirst(points.filter(isPlainProxy))
  const get = plain.find(({ method, log }) => method === 'GET' && log === 'none') ?? null
  const requests = plain.map((point) => {
    const micros = point.cpuMicrosPerRequest.mean
    return { what: requestName(point), micros, times: timesOf(micros, get) }
  })
  const kinds = new Map<string, PolicyCost[]>()
  for (const cost of policyCosts) kinds.set(policyName(cost), [...(kinds.get(policyName(cost)) ?? []), cost])
  const policies = [...kinds].map(([what, costs]) => policyRow(what, costs))
  return { requests, policies: policies.toSorted((a, b) => a.times! - b.times!) }
}

/** With different numbers of connections a policy costs the same: the middle of what was measured stands for all. */
function policyRow(what: string, costs: readonly PolicyCost[]): CostRow {
  const { base, withPolicy, addedMicros } = costs.toSorted((a, b) => a.addedMicros - b.addedMicros)[
    costs.length >> 1
  ]!
  return { what, micros: addedMicros, times: timesOf(withPolicy.cpuMicrosPerRequest.mean, base) }
}

function policyName({ policy, withPolicy }: PolicyCost): string {
  return withPolicy.bodyBytes === 0 ? policy : `${policy} (${requestName(withPolicy)})`
}

function timesOf(micros: number, base: Point | null): number | null {
  return base === null ? null : micros / base.cpuMicrosPerRequest.mean
}

function requestName({ method, bodyBytes, log }: Point): string {
  const body = bodyBytes === 0 ? '' : ` ${formatSize(bodyBytes)}`
  return `${method}${body}${log === 'none' ? '' : ', traffic log in Elasticsearch'}`
}

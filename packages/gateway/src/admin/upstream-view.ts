import type { CanaryPlan, Plan, TargetPlan } from '@sluice/config'
import type { TargetStatus } from '../supervise/health/target-states.js'
import { kindOf } from '../telemetry/merge.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'

/** Metric values by name, summed over other labels. */
type Numbers = Readonly<Record<string, number>>

/** State of a target: whether it receives requests, and if not, why. */
interface StateView extends Omit<TargetStatus, 'origin'> {
  /** Number of workers by the state they see. */
  readonly workers: Numbers
}

/** Share and state of an upstream's canary. */
interface CanaryView {
  /** Share of the keys, from 0 to 1. */
  readonly percent: number
  /** Kind and name of the key, such as `ip` or `header:x-user`. */
  readonly key: string
  /** Number of workers that have aborted the canary and wait for the cooldown. */
  readonly abortedWorkers: number
}

/** An upstream with its metrics. */
export interface UpstreamView {
  readonly name: string
  readonly balance: string
  readonly canary?: CanaryView
  readonly targets: readonly (TargetPlan & { readonly state: StateView; readonly numbers: Numbers })[]
  readonly numbers: Numbers
}

/** Data shown with upstreams. */
export interface UpstreamFacts {
  readonly samples: readonly Sample[]
  /** Returns the targets of an upstream in plan order. */
  readonly targetsOf: (upstream: string) => readonly TargetStatus[]
}

const STATE = 'gw_upstream_target_state'
const UNCHECKED = { health: 'unchecked', problem: null, checkedAt: null, drained: false } as const

/** Returns the upstreams of a plan, each with the counters and gauges labelled with it or its targets. */
export function upstreamViews(plan: Plan, { samples, targetsOf }: UpstreamFacts): UpstreamView[] {
  const plain = samples.filter((sample) => kindOf(sample.name) !== 'histogram')
  return plan.upstreams.map(({ name, balance, canary, targets }) => {
    const own = labelled(plain, label('upstream', name))
    const known = targetsOf(name)
    return {
      name,
      balance,
      ...(canary === null ? {} : { canary: canaryView(canary, own) }),
      targets: targets.map((target, i) => {
        const { origin, ...status } = known[i] ?? { origin: target.url, ...UNCHECKED }
        const counted = labelled(own, label('target', origin))
        return { ...target, state: { ...status, workers: statesOf(counted) }, numbers: summed(counted) }
      }),
      numbers: summed(own),
    }
  })
}

function canaryView({ percent, key }: CanaryPlan, samples: readonly Sample[]): CanaryView {
  const abortedWorkers = samples.find(({ name }) => name === 'gw_upstream_canary_aborted')?.value ?? 0
  return { percent, key: 'name' in key ? `${key.kind}:${key.name}` : key.kind, abortedWorkers }
}

function labelled(samples: readonly Sample[], pair: string): Sample[] {
  return samples.filter(({ labels }) => `,${labels},`.includes(`,${pair},`))
}

function summed(samples: readonly Sample[]): Numbers {
  const numbers: Record<string, number> = {}
  for (const { name, value } of samples) {
    if (name !== STATE) numbers[name] = (numbers[name] ?? 0) + value
  }
  return numbers
}

function statesOf(samples: readonly Sample[]): Numbers {
  const states = samples.filter(({ name }) => name === STATE)
  return Object.fromEntries(
    states.map(({ labels, value }) => [/state="([a-z-]+)"$/.exec(labels)?.[1] ?? '', value]),
  )
}

import type { Plan, TargetPlan } from '@sluice/config'
import { kindOf } from '../telemetry/merge.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'

/** Numbers by metric name, added up over the other labels. */
type Numbers = Readonly<Record<string, number>>

/** An upstream with what the workers counted for it. */
export interface UpstreamView {
  readonly name: string
  readonly balance: string
  readonly targets: readonly (TargetPlan & { readonly numbers: Numbers })[]
  readonly numbers: Numbers
}

/** The upstreams of a plan, each with the counters and gauges whose labels name it or its targets. */
export function upstreamViews(plan: Plan, samples: readonly Sample[]): UpstreamView[] {
  const plain = samples.filter((sample) => kindOf(sample.name) !== 'histogram')
  return plan.upstreams.map(({ name, balance, targets }) => {
    const own = labelled(plain, label('upstream', name))
    return {
      name,
      balance,
      targets: targets.map((target) => ({
        ...target,
        numbers: summed(labelled(own, label('target', target.url))),
      })),
      numbers: summed(own),
    }
  })
}

function labelled(samples: readonly Sample[], pair: string): Sample[] {
  return samples.filter(({ labels }) => `,${labels},`.includes(`,${pair},`))
}

function summed(samples: readonly Sample[]): Numbers {
  const numbers: Record<string, number> = {}
  for (const { name, value } of samples) numbers[name] = (numbers[name] ?? 0) + value
  return numbers
}

import type { Sample } from '../telemetry/sample.js'
import type { TargetState } from './state/target-state.js'
import type { Target } from './target.js'
import type { Upstream } from './upstream.js'

/** Returns the counters of an upstream and its targets. */
export function upstreamSamples(upstream: Upstream): Sample[] {
  const labels = `upstream="${upstream.name}"`
  return [
    { name: 'gw_upstream_retries_total', labels, value: upstream.retries },
    { name: 'gw_upstream_shed_total', labels, value: upstream.shed },
    { name: 'gw_upstream_unavailable_total', labels, value: upstream.unavailable },
    {
      name: 'gw_upstream_waits_total',
      labels,
      value: upstream.targets.reduce((sum, { transport }) => sum + transport.waits, 0),
    },
    ...shareSamples(labels, upstream),
    ...upstream.targets.flatMap((target) => targetSamples(labels, target)),
    ...trafficSamples(labels, upstream),
  ]
}

function shareSamples(labels: string, { canary, mirror }: Upstream): Sample[] {
  const samples: Sample[] = []
  if (canary !== null) {
    samples.push({ name: 'gw_upstream_canary_aborts_total', labels, value: canary.aborts })
    samples.push({ name: 'gw_upstream_canary_aborted', labels, value: canary.isAborted ? 1 : 0 })
  }
  if (mirror === null) return samples
  return [
    ...samples,
    { name: 'gw_upstream_mirror_skipped_total', labels, value: mirror.skipped },
    { name: 'gw_upstream_mirror_differences_total', labels, value: mirror.differences },
  ]
}

function labelsOf(upstream: string, { origin, address }: Target): string {
  return `${upstream},target="${origin}"${address === null ? '' : `,address="${address}"`}`
}

function trafficSamples(upstream: string, { targets, otherTraffic }: Upstream): Sample[] {
  const shown = targets.filter(({ traffic }) => traffic !== otherTraffic)
  const samples = shown.flatMap((target) => target.traffic.samples(labelsOf(upstream, target)))
  const hasOther = shown.length < targets.length
  return hasOther ? [...samples, ...otherTraffic.samples(`${upstream},target="other"`)] : samples
}

function targetSamples(upstream: string, target: Target): Sample[] {
  const labels = labelsOf(upstream, target)
  return [
    { name: 'gw_upstream_attempts_total', labels, value: target.attempts },
    { name: 'gw_upstream_failures_total', labels, value: target.failures },
    { name: 'gw_upstream_active', labels, value: target.active },
    ...openingSamples(labels, target.state),
  ]
}

/** Returns the state of each target of a serving upstream. */
export function stateSamples({ name, targets }: Upstream): Sample[] {
  return targets.map(({ origin, state }) => ({
    name: 'gw_upstream_target_state',
    labels: `upstream="${name}",target="${origin}",state="${state.condition}"`,
    value: 1,
  }))
}

function openingSamples(labels: string, { breaker, ejection }: TargetState): Sample[] {
  const samples: Sample[] = []
  if (breaker !== null)
    samples.push({ name: 'gw_upstream_breaker_openings_total', labels, value: breaker.openings })
  if (ejection !== null)
    samples.push({ name: 'gw_upstream_ejections_total', labels, value: ejection.ejections })
  return samples
}

import type { TestGateway } from './gateway.js'
import { until } from './gateway.js'

/** Returns the condition of each target of an in-process gateway, by URL. */
export function conditions({ plane }: TestGateway): Readonly<Record<string, string>> {
  const states = plane.samples().filter(({ name }) => name === 'gw_upstream_target_state')
  const pairs = states.map(({ labels }) => /target="(.*?)",state="(.*?)"/.exec(labels)!)
  return Object.fromEntries(pairs.map(([, target, state]) => [target!, state!]))
}

/** Waits until a target is in a condition. */
export function untilCondition(gateway: TestGateway, url: string, condition: string): Promise<void> {
  return until(() => conditions(gateway)[url] === condition)
}

import type { Suite } from '@sluice/bench'

/** What is known of a run before it begins. */
export interface RunSize {
  readonly scenarios: number
  /** Scenarios times numbers of connections. */
  readonly points: number
  readonly seconds: number
}

interface Times {
  readonly warmUpSeconds: number
  readonly seconds: number
  readonly repetitions: number
  /** How many rates besides saturation. */
  readonly rates: number
  readonly peers: number
}

/** The load alone; starting and stopping what is measured comes on top. */
export function runSize(suite: Suite, { warmUpSeconds, seconds, repetitions, rates, peers }: Times): RunSize {
  const count = (list: Suite['cases']): number =>
    list.reduce((sum, { connections }) => sum + connections.length, 0)
  const points = count(suite.cases)
  const ofPeers = peers * count(suite.cases.filter(({ scenario }) => scenario.peers !== null))
  return {
    scenarios: suite.cases.length,
    points,
    seconds: (points + ofPeers) * repetitions * (1 + rates) * (warmUpSeconds + seconds),
  }
}

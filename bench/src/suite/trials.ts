import type { Suite } from '../model/scenario.js'
import type { TrialPlan } from '../model/trial.js'

const COMMON = { workers: 2, log: 'elasticsearch', needsElasticsearch: false, connections: 128 } as const

const TRIALS: readonly TrialPlan[] = [
  {
    ...{ ...COMMON, needsElasticsearch: true, id: 'elasticsearch-down', title: 'Elasticsearch down' },
    action: 'the node of the traffic log is killed and started again',
  },
  {
    ...{ ...COMMON, needsElasticsearch: true, id: 'elasticsearch-slow', title: 'Elasticsearch slow' },
    action: 'the node of the traffic log stands still with its connections open, and goes on',
  },
  {
    ...{ ...COMMON, id: 'upstream-errors', title: 'upstream errors' },
    action: 'the upstream answers 5 % of the requests with 500',
  },
  {
    // Requests that wait for a timeout hold a connection each.
    ...{ ...COMMON, connections: 256, id: 'upstream-slow', title: 'upstream slow' },
    action: 'the upstream takes longer than its time-out for 1 % of the requests',
  },
  {
    ...{ ...COMMON, id: 'dns-change', title: 'DNS change' },
    action: 'the name of the upstream means another address, and the old server ends its connections',
  },
  {
    ...{ ...COMMON, id: 'target-change', title: 'target change' },
    action: 'a deploy names another target of the upstream',
  },
  {
    ...{ ...COMMON, id: 'worker-kill', title: 'worker killed' },
    action: 'one of two workers is killed with SIGKILL',
  },
  {
    ...{ ...COMMON, id: 'rolling-restart', title: 'rolling restart' },
    action: 'a deploy with larger request heads replaces the workers one by one',
  },
]

/** Trials of faults around and inside the gateway. */
export const chaos: Suite = {
  name: 'chaos',
  description: 'losses when Elasticsearch, upstream, name servers or workers fail under load',
  reproduces: null,
  cases: [],
  trials: TRIALS,
  warmUpSeconds: 10,
  seconds: 60,
  repetitions: 1,
}

const DAY = 86_400

/** Trial of memory and open files over a day of load and reloads. */
export const soak: Suite = {
  name: 'soak',
  description: 'a day at 60 % of saturation, with a reload every minute: heap, open files, lost requests',
  reproduces: null,
  cases: [],
  trials: [
    {
      id: 'soak',
      title: 'soak',
      action: 'another document is deployed every minute',
      ...{ workers: 1, log: 'none', needsElasticsearch: false, connections: 64 },
    },
  ],
  warmUpSeconds: 60,
  seconds: DAY,
  repetitions: 1,
}

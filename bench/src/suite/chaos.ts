import type { Suite } from '../model/scenario.js'
import type { TrialPlan } from '../model/trial.js'

const COMMON = { workers: 2, log: 'elasticsearch', needsSearchEngine: false, connections: 128 } as const

const TRIALS: readonly TrialPlan[] = [
  {
    ...{ ...COMMON, needsSearchEngine: true, id: 'elasticsearch-down', title: 'Elasticsearch down' },
    action: 'the node of the traffic log is killed and started again',
  },
  {
    ...{ ...COMMON, needsSearchEngine: true, id: 'elasticsearch-slow', title: 'Elasticsearch slow' },
    action: 'the node of the traffic log stands still with its connections open, and goes on',
  },
  {
    ...{ ...COMMON, id: 'upstream-errors', title: 'upstream errors' },
    action: 'the upstream answers 5 % of the requests with 500',
  },
  {
    // Those that wait for a time-out take a connection each.
    ...{ ...COMMON, connections: 256, id: 'upstream-slow', title: 'upstream slow' },
    action: 'the upstream takes longer than its time-out for 1 % of the requests',
  },
  {
    ...{ ...COMMON, id: 'dns-change', title: 'DNS change' },
    action: 'the name of the upstream means another address, and the old server takes leave',
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
    action: 'a deploy with larger request heads replaces the workers one after the other',
  },
]

/** What is lost when something goes wrong around the gateway or in it. */
export const chaos: Suite = {
  name: 'chaos',
  description: 'what is lost when Elasticsearch, upstream, name servers or workers fail under load',
  reproduces: null,
  cases: [],
  trials: TRIALS,
  warmUpSeconds: 10,
  seconds: 60,
  repetitions: 1,
}

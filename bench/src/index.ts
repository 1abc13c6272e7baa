/** What `gw bench` is made of. */
export type { Engine, ErrorClass, LoadOrder, LoadResult, Spectrum } from './model/engine.js'
export { PEERS, type PeerName, type RunObserver, type RunOptions, type RunSuite } from './model/run.js'
export type { Call, CallBody, LogWish, OriginWish, Scenario, Suite, Tier } from './model/scenario.js'
export {
  type HostFacts,
  type Point,
  type Spread,
  SUMMARY_VERSION,
  type Summary,
  type WorkerDiagnostics,
} from './model/summary.js'
export { measuredPolicyNames, type PolicyPair, policyPair } from './suite/policies.js'
export { quickSuite } from './suite/quick.js'
export { type ComingSuite, comingSuites, suiteOf, suites } from './suite/suites.js'

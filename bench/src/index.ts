/** What `gw bench` is made of. */

export { type CapacityAnswer, capacityFor } from './capacity/capacity.js'
export type { CapacityWish } from './capacity/evidence.js'
export { type Comparison, type ComparisonOptions, compareSummaries } from './compare/comparison.js'
export { type Limit, parseLimits } from './compare/limit.js'
export {
  type LogSinkTotals,
  type LogSinkWish,
  type RunningLogSink,
  startLogSink,
} from './contestant/log-sink.js'
export { serveOrigin } from './contestant/origin.js'
export { missingPeer } from './contestant/peers.js'
export type { RunningServer } from './contestant/running-server.js'
export { engineOf, engines } from './engine/engines.js'
export { temporaryFolder } from './last-will.js'
export { MASK, maskedPath, maskedUrl } from './masking.js'
export { ceilingSeconds, LEAD_IN_SECONDS } from './measure/ceiling.js'
export { doctor, type Finding, hostFacts } from './measure/host.js'
export { KNEE_STEPS } from './measure/knee.js'
export { measurablePart } from './measure/measurable.js'
export { runSuite } from './measure/run-suite.js'
export type { Engine, ErrorClass, LoadOrder, LoadResult, Spectrum } from './model/engine.js'
export {
  PEERS,
  type PeerName,
  type RunObserver,
  type RunOptions,
  type RunSuite,
  type Target,
} from './model/run.js'
export type {
  Call,
  CallBody,
  LogWish,
  Method,
  OriginWish,
  Scenario,
  Suite,
  SuiteCase,
  Tier,
} from './model/scenario.js'
export {
  type HostFacts,
  type Point,
  type Spread,
  SUMMARY_VERSION,
  type Summary,
  type WorkerDiagnostics,
} from './model/summary.js'
export type { Trial, TrialPlan } from './model/trial.js'
export { areCostsAlike, busyText, hasCost } from './report/cost.js'
export { sourceText } from './report/machine-rows.js'
export { pointTable } from './report/point-table.js'
export { readSummary } from './report/read-summary.js'
export { rivalTables, type TextTable } from './report/rival-tables.js'
export { trialTable } from './report/trial-table.js'
export { countVerdicts, reasonsOf, verdictOf } from './report/trial-verdict.js'
export { writeResults } from './report/write-results.js'
export { policyText } from './suite/chains.js'
export { measuredPolicyNames, type PolicyPair, policyPair } from './suite/policies.js'
export { quickSuite } from './suite/quick.js'
export { type ComingSuite, comingSuites, suiteOf, suites } from './suite/suites.js'
export { urlSuite } from './suite/url.js'

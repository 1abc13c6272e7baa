import {
  capacityFor,
  compareSummaries,
  doctor,
  engineOf,
  engines,
  hostFacts,
  missingPeer,
  parseLimits,
  pointTable,
  readSummary,
  rivalTables,
  runSuite,
  serveOrigin,
  startLogSink,
  trialTable,
  writeResults,
} from '@sluice/bench'
import type { BenchTools } from './tools.js'

/** The real tools. */
export const benchTools: BenchTools = {
  ...{ engines, engineOf, runSuite, hostFacts, doctor, writeResults, pointTable, rivalTables, trialTable },
  ...{ compareSummaries, parseLimits, capacityFor, readSummary, peerProblem: missingPeer },
  startLogSink,
  startOrigin: serveOrigin,
}

import { peerProblem } from './installed-program.js'
import type { BenchTools } from './tools.js'

function missing(): never {
  throw new Error('this part of gw bench is not in this build')
}

/** The real tools. */
export const benchTools: BenchTools = {
  engines: [],
  engineOf: missing,
  runSuite: missing,
  hostFacts: missing,
  doctor: missing,
  writeResults: missing,
  pointTable: missing,
  compareSummaries: missing,
  parseLimits: missing,
  capacityFor: missing,
  readSummary: missing,
  peerProblem,
  startOrigin: missing,
}

import type { Deed } from '../deed.js'
import { dnsChange, targetChange } from './move.js'
import { elasticsearchDown, elasticsearchSlow } from './search-engine.js'
import { soak } from './soak.js'
import { upstreamErrors, upstreamSlow } from './upstream.js'
import { rollingRestart, workerKill } from './workers.js'

/** What is done in a trial, by the trial's id; a deed is done once. */
export const DEEDS: ReadonlyMap<string, () => Deed> = new Map([
  ['elasticsearch-down', elasticsearchDown],
  ['elasticsearch-slow', elasticsearchSlow],
  ['upstream-errors', upstreamErrors],
  ['upstream-slow', () => upstreamSlow()],
  ['dns-change', dnsChange],
  ['target-change', targetChange],
  ['worker-kill', workerKill],
  ['rolling-restart', rollingRestart],
  ['soak', soak],
])

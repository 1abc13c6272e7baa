import { parseDuration, parseSize } from '@sluice/core'
import type { DrainPlan, LogPlan, Plan } from '../plan.js'
import type { Document } from '../schema/document.js'
import { adminPlan, listenerPlan } from './listener-plan.js'
import { inPrecedence } from './precedence.js'
import { routePlans } from './route-plan.js'
import { upstreamPlan } from './upstream-plan.js'

const SEGMENT_BYTES = 64 * 1024 * 1024

/**
 * The plan of a document that has been checked and whose defaults are filled.
 * @throws Error when the document was not checked.
 */
export function planOf(document: Document): Plan {
  const names = Object.keys(document.upstreams).sort()
  return {
    version: 1,
    listeners: document.listeners.map(listenerPlan),
    admin: adminPlan(document.admin),
    workers: document.workers ?? null,
    upstreams: names.map((name) => upstreamPlan(name, document.upstreams[name]!)),
    routes: inPrecedence(routePlans(document)),
    log: logPlan(document.log),
    metrics: { enabled: document.metrics.enabled },
    drain: drainPlan(document.drain),
  }
}

function logPlan({ sink, fields, file }: Document['log']): LogPlan {
  if (sink === 'elasticsearch') throw new Error('unchecked log sink')
  const maxBytes = parseSize(file.maxBytes)
  const half = Math.floor(maxBytes / 2)
  const segmentBytes =
    file.segmentBytes === undefined ? Math.min(SEGMENT_BYTES, half) : parseSize(file.segmentBytes)
  return { sink, fields, file: { dir: file.dir, maxBytes, segmentBytes } }
}

function drainPlan({ delay, timeout }: Document['drain']): DrainPlan {
  return { delayMs: parseDuration(delay), timeoutMs: parseDuration(timeout) }
}

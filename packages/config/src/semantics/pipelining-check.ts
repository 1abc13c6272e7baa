import { parseRatio } from '@sluice/core'
import type { DocumentPath } from '../document-path.js'
import type { UpstreamDocument } from '../schema/document.js'
import type { Inspection } from './inspection.js'
import { isSecure } from './secure-target.js'

/** Pipelining: only the wire can do it, and it needs retries. */
export function checkPipelining(
  inspection: Inspection,
  upstream: UpstreamDocument,
  path: DocumentPath,
): void {
  const place = [...path, 'pipelining']
  if (upstream.pipelining === 1 || !inspection.report.isSound(place)) return
  checkClient(inspection, upstream, path)
  checkRetries(inspection, upstream, path)
}

function checkClient(
  { report, origins }: Inspection,
  { transport, targets, pipelining }: UpstreamDocument,
  path: DocumentPath,
): void {
  if (transport === 'undici' && report.isSound([...path, 'transport'])) {
    report.add({
      path: [...path, 'pipelining'],
      at: 'key',
      message: 'transport: undici does not pipeline',
      remedy: 'write transport: auto, or remove pipelining',
    })
    return
  }
  const place = [...path, 'targets']
  // What transport: wire finds wrong of an https target has been said already.
  if (transport !== 'auto' || !report.isSound(place)) return
  for (const [target, at] of origins.entries(targets, place)) {
    if (!isSecure(target)) continue
    report.add({
      path: at,
      message: `pipelining: ${pipelining} cannot hold for this target: https goes through undici, which does not pipeline`,
      remedy: 'write http:// in the target, or remove pipelining',
    })
  }
}

/** A connection that breaks strands what waits on it; without retries each of those requests fails. */
function checkRetries({ report }: Inspection, { retry }: UpstreamDocument, path: DocumentPath): void {
  if (!report.isSound([...path, 'retry'])) return
  const isNever = retry.attempts === 0
  if (!isNever && parseRatio(retry.budget) > 0) return
  report.add({
    path: [...path, 'pipelining'],
    at: 'key',
    severity: 'warning',
    message: 'without retries, a connection that breaks fails all requests that wait on it',
    remedy: isNever
      ? 'write retry.attempts: 1, or remove pipelining'
      : 'raise retry.budget, or remove pipelining',
  })
}

import { parseSize } from '@sluice/core'
import type { Inspection } from './inspection.js'

/** The traffic log: a bound that holds less than two segments would remove the one being written. */
export function checkLog({ document, report }: Inspection): void {
  const { maxBytes, segmentBytes } = document.log.file
  if (!report.isSound(['log', 'file']) || segmentBytes === undefined) return
  if (parseSize(segmentBytes) * 2 <= parseSize(maxBytes)) return
  report.add({
    path: ['log', 'file', 'segmentBytes'],
    message: 'segmentBytes is more than half of maxBytes',
    remedy: 'raise maxBytes or lower segmentBytes',
  })
}

import { parseSize } from '@sluice/core'
import type { Inspection } from './inspection.js'

/** The traffic log: what its sink needs is there, and a bound leaves room for what is being written. */
export function checkLog(inspection: Inspection): void {
  checkSegments(inspection)
  checkElasticsearch(inspection)
}

/** A bound that holds less than two segments would remove the one being written. */
function checkSegments({ document, report }: Inspection): void {
  const { maxBytes, segmentBytes } = document.log.file
  if (!report.isSound(['log', 'file']) || segmentBytes === undefined) return
  if (parseSize(segmentBytes) * 2 <= parseSize(maxBytes)) return
  report.add({
    path: ['log', 'file', 'segmentBytes'],
    message: 'segmentBytes is more than half of maxBytes',
    remedy: 'raise maxBytes or lower segmentBytes',
  })
}

function checkElasticsearch({ document, report }: Inspection): void {
  const { sink, elasticsearch } = document.log
  if (!report.isSound(['log'])) return
  if (elasticsearch === undefined) {
    if (sink !== 'elasticsearch') return
    report.add({
      path: ['log', 'sink'],
      message: "the sink 'elasticsearch' needs log.elasticsearch",
      remedy: 'add log.elasticsearch with nodes: [http://127.0.0.1:9200]',
    })
    return
  }
  const { auth } = elasticsearch
  if (auth === undefined || (auth.username === undefined) === (auth.password === undefined)) return
  report.add({
    path: ['log', 'elasticsearch', 'auth'],
    message: 'a user and a password belong together',
    remedy: 'write username and password, or an apiKey',
  })
}

import { parseSize } from '@sluice/core'
import { checkPemFile, checkPlacesFile } from './file-check.js'
import type { Inspection } from './inspection.js'
import { checkTlsFiles } from './key-pair-check.js'

/** The traffic log: what its sink needs is there, and a bound leaves room for what is being written. */
export function checkLog(inspection: Inspection): void {
  checkSegments(inspection)
  if (!inspection.report.isSound(['log'])) return
  checkSettings(inspection)
  checkElasticsearch(inspection)
  checkSyslog(inspection)
  checkWebhook(inspection)
  const { geo } = inspection.document.log
  if (geo !== undefined) checkPlacesFile(inspection, geo.file, ['log', 'geo', 'file'])
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

/** What to add for a sink that cannot do without settings. */
const EXAMPLES = {
  elasticsearch: 'nodes: [http://127.0.0.1:9200]',
  syslog: 'address: udp://127.0.0.1:514',
  webhook: 'url: https://logs.example.com/traffic',
  custom: "module: './target.mjs'",
} as const

function checkSettings({ document, report }: Inspection): void {
  const { sink, ...settings } = document.log
  if (sink === 'file' || sink === 'stdout' || sink === 'none' || settings[sink] !== undefined) return
  report.add({
    path: ['log', 'sink'],
    message: `the sink '${sink}' needs log.${sink}`,
    remedy: `add log.${sink} with ${EXAMPLES[sink]}`,
  })
}

function checkElasticsearch({ document, report }: Inspection): void {
  const { elasticsearch } = document.log
  if (isPaired(elasticsearch?.auth?.username, elasticsearch?.auth?.password)) return
  report.add({
    path: ['log', 'elasticsearch', 'auth'],
    message: 'a user and a password belong together',
    remedy: 'write username and password, or an apiKey',
  })
}

function checkSyslog(inspection: Inspection): void {
  const { tls } = inspection.document.log.syslog ?? {}
  if (tls === undefined) return
  const path = ['log', 'syslog', 'tls']
  checkTlsFiles(inspection, tls, path)
  if (isPaired(tls.certFile, tls.keyFile)) return
  inspection.report.add({
    path,
    message: 'a certificate and a key belong together',
    remedy: 'write certFile and keyFile, or neither',
  })
}

function checkWebhook(inspection: Inspection): void {
  const { tls, auth } = inspection.document.log.webhook ?? {}
  if (tls?.caFile !== undefined) checkPemFile(inspection, tls.caFile, ['log', 'webhook', 'tls', 'caFile'])
  if (isPaired(auth?.username, auth?.password)) return
  inspection.report.add({
    path: ['log', 'webhook', 'auth'],
    message: 'a user and a password belong together',
    remedy: 'write username and password, or a token',
  })
}

function isPaired(one: string | undefined, other: string | undefined): boolean {
  return (one === undefined) === (other === undefined)
}

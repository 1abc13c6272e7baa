import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

const CLUSTER = ['state', 'cluster'] as const

/** State names one server, or a cluster; the authorities of the servers of values are there. */
export function checkState(inspection: Inspection): void {
  checkServers(inspection)
  for (const part of ['state', 'cache'] as const) {
    const caFile = inspection.document[part]?.tls?.caFile
    if (caFile !== undefined) checkPemFile(inspection, caFile, [part, 'tls', 'caFile'])
  }
}

function checkServers(inspection: Inspection): void {
  const { document, report } = inspection
  const { state } = document
  if (state === undefined || !report.isSound(['state', 'url']) || !report.isSound(CLUSTER)) return
  if (state.url === undefined && state.cluster === undefined)
    report.add({
      path: ['state'],
      at: 'key',
      message: 'state names no server',
      remedy: 'add for example url: redis://127.0.0.1:6379, or the nodes of a cluster as cluster',
    })
  else if (state.url !== undefined && state.cluster !== undefined)
    report.add({
      path: CLUSTER,
      at: 'key',
      message: 'state has both url and cluster',
      remedy: 'remove url, or for one server cluster',
    })
  else checkNodes(inspection, state.cluster ?? [])
}

/** A password that goes to one node goes to all. */
function checkNodes({ report }: Inspection, urls: readonly string[]): void {
  const parsed = urls.map((url) => new URL(url))
  for (const [i, { protocol, pathname }] of parsed.entries()) {
    const path = [...CLUSTER, i]
    if (protocol !== parsed[0]!.protocol)
      report.add({
        path,
        message: 'some nodes of the cluster are asked over TLS, and others are not',
        remedy: 'write rediss:// for all of them',
      })
    if (!/^(\/0?)?$/.test(pathname))
      report.add({
        path,
        message: 'a cluster has the database 0 only',
        remedy: 'leave the number at the end of the URL out',
      })
  }
}

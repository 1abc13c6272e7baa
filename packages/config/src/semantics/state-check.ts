import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

const CLUSTER = ['state', 'cluster'] as const

/** Checks that state has one server or a cluster, and the CA files of state, cache and Vault. */
export function checkState(inspection: Inspection): void {
  checkServers(inspection)
  for (const part of ['state', 'cache', 'vault'] as const) {
    const caFile = inspection.document[part]?.tls?.caFile
    if (caFile !== undefined) checkPemFile(inspection, caFile, [part, 'tls', 'caFile'])
  }
}

function checkServers(inspection: Inspection): void {
  const { document, report } = inspection
  const { state } = document
  if (state === undefined || !report.isValid(['state', 'url']) || !report.isValid(CLUSTER)) return
  if (state.url === undefined && state.cluster === undefined)
    report.add({
      path: ['state'],
      at: 'key',
      message: 'state needs url or cluster',
      remedy: 'add for example url: redis://127.0.0.1:6379, or cluster with the URLs of nodes',
    })
  else if (state.url !== undefined && state.cluster !== undefined)
    report.add({
      path: CLUSTER,
      at: 'key',
      message: 'state has both url and cluster',
      remedy: 'keep url for a single server, or cluster',
    })
  else checkNodes(inspection, state.cluster ?? [])
}

/** Checks that all nodes use TLS or none do: the password is sent to all of them. */
function checkNodes({ report }: Inspection, urls: readonly string[]): void {
  const parsed = urls.map((url) => new URL(url))
  for (const [i, { protocol, pathname }] of parsed.entries()) {
    const path = [...CLUSTER, i]
    if (protocol !== parsed[0]!.protocol)
      report.add({
        path,
        message: 'some nodes of the cluster use TLS, others do not',
        remedy: 'write rediss:// for all of them',
      })
    if (!/^(\/0?)?$/.test(pathname))
      report.add({
        path,
        message: 'a cluster only has database 0',
        remedy: 'remove the number at the end of the URL',
      })
  }
}

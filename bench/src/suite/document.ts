import { type LoadResult, loadDocument } from '@sluice/config'
import type { Catalog } from '@sluice/core'

/** Loads routes as a gateway would that has an upstream `origin` and no traffic log. */
export function loadRoutes(routes: readonly object[], catalog: Catalog): LoadResult {
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:8080' }],
    upstreams: { origin: { targets: ['http://127.0.0.1:9000'] } },
    routes,
    log: { sink: 'none' },
  }
  return loadDocument({ text: JSON.stringify(document), name: 'benchmark' }, { catalog, env: {} })
}

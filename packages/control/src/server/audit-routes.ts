import { type Static, Type } from '@sluice/core'
import { auditEntry } from '../store/log-entry.js'
import { mayUseGroup } from './access.js'
import { endpoint, type Routes } from './api.js'
import { AuditQuery, EntryView } from './schemas.js'

/** Endpoint for the audit trail. */
export const auditRoutes: Routes = (app, { log, store }) => {
  app.get<{ Querystring: Static<typeof AuditQuery> }>(
    '/v1/audit',
    endpoint('viewer', {
      summary: 'Audit trail: entries of the log in order',
      querystring: AuditQuery,
      response: Type.Object({ entries: Type.Array(EntryView) }),
    }),
    async ({ caller, query: { limit, after = Math.max(0, log.state.seq - limit), group } }) => {
      const entries = await store.entriesAfter(after, limit)
      const visible = entries.filter((entry) => {
        const ofGroup = 'group' in entry ? entry.group : '*'
        if (group !== undefined && ofGroup !== group) return false
        // Entries without a group are about tokens.
        return ofGroup === '*' ? caller.groups.includes('*') : mayUseGroup(caller, ofGroup)
      })
      return { entries: visible.map(auditEntry) }
    },
  )
}

import type { TeamScope } from '@sluice/config'
import type { CanaryMember, CanarySettings, Comparison } from './canary.js'

/** Fields of every entry. Together they are the audit trail. */
interface EntryHead {
  /** Unique id, by which an author finds its entry after a lost connection to the store. */
  readonly id: string
  /** Time on the clock of the controller, ISO 8601. */
  readonly at: string
  /** Name of the token or person, or `controller`. */
  readonly actor: string
  /** Address of the client, or null if the controller acted by itself. */
  readonly address: string | null
  /** Id of the controller process that wrote the entry. */
  readonly controller: string
}

/** Role of a token. `member` is for gateways and allows nothing else. */
export type Role = 'viewer' | 'deployer' | 'admin' | 'member'

/** A role for groups. */
export interface Grant {
  readonly role: Role
  /** Globs of groups. */
  readonly groups: readonly string[]
}

/** Event of the log. `deploy` is the number of the entry `deploy.started`. */
export type LogEvent =
  | {
      readonly type: 'deploy.started'
      readonly group: string
      /** Manifest digest of the bundle. */
      readonly digest: string
      /** Manifest digest of the source that the document was composed from. */
      readonly source?: string
      readonly note: string
      /** Number of the deploy whose bundle is deployed again, or null. */
      readonly rollbackTo: number | null
      readonly quorumPercent: number
      readonly deadlineMs: number
      /** Absent: all members take the deploy together. */
      readonly canary?: CanarySettings & { readonly members: CanaryMember[] }
    }
  /** All canaries serve the bundle: the comparison begins. */
  | { readonly type: 'canary.activated'; readonly group: string; readonly deploy: number }
  /** The comparison has ended well: the other members prepare the bundle. */
  | {
      readonly type: 'canary.passed'
      readonly group: string
      readonly deploy: number
      readonly comparison: Comparison
    }
  | {
      readonly type: 'deploy.committed'
      readonly group: string
      readonly deploy: number
      /** Names of known members that were away. */
      readonly missing: readonly string[]
    }
  | {
      readonly type: 'deploy.aborted'
      readonly group: string
      readonly deploy: number
      readonly reasons: readonly string[]
    }
  | {
      readonly type: 'token.created'
      readonly token: string
      readonly name: string
      readonly role: Role
      /** Globs of the groups that the token is for. */
      readonly groups: readonly string[]
      /** Team whose part the token may change. Absent: all parts. */
      readonly scope?: TeamScope
      readonly sha256: string
    }
  | { readonly type: 'session.opened'; readonly grants: readonly Grant[] }
  | { readonly type: 'token.revoked'; readonly token: string }
  | { readonly type: 'member.forgotten'; readonly group: string; readonly member: string }

/** Entry of the log. */
export type LogEntry = EntryHead & LogEvent
/** Entry with its number. Numbers start at 1 and have no gaps. */
export type NumberedEntry = LogEntry & { readonly seq: number }

/** Returns an entry as the audit trail shows it: without the digest of a token. */
export function auditEntry(entry: NumberedEntry): NumberedEntry {
  return 'sha256' in entry ? ({ ...entry, sha256: undefined } as unknown as NumberedEntry) : entry
}

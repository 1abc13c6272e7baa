import type { TeamScope } from '@sluice/config'
import type { Canary } from '../store/canary.js'
import type { NumberedEntry, Role } from '../store/log-entry.js'

/** Maximum number of deploys of a group in memory. Older ones are in the audit trail only. */
const MAX_DEPLOYS = 1000

/** A deploy of a group. */
export interface Deploy {
  /** Number of its first entry in the log. */
  readonly deploy: number
  readonly group: string
  readonly digest: string
  /** Manifest digest of the source that the document was composed from, or null. */
  readonly source: string | null
  readonly note: string
  readonly rollbackTo: number | null
  readonly actor: string
  /** Time of its start, ISO 8601. */
  readonly at: string
  /** Id of the controller that coordinates it. */
  readonly controller: string
  readonly quorumPercent: number
  readonly deadlineMs: number
  readonly status: 'pending' | 'committed' | 'aborted'
  /** Reasons why it was aborted. */
  readonly reasons: readonly string[]
  /** Names of members that were away when it was committed. */
  readonly missing: readonly string[]
  /** Null: all members take the deploy together. */
  readonly canary: Canary | null
}

/** A group of gateways. */
export interface Group {
  readonly name: string
  /** Deploys, the oldest first. */
  readonly deploys: readonly Deploy[]
  /** The last committed deploy. Its bundle is what all members should serve. */
  readonly head: Deploy | null
  /**
   * Number with which canaries of an aborted deploy get the bundle of `head`: members refuse lower numbers than that of
   * their bundle. Otherwise the number of `head`.
   */
  readonly returnNumber: number
  /** The deploy that is not decided yet. */
  readonly pending: Deploy | null
}

/** A token. Only its digest is known. */
export interface Token {
  readonly token: string
  readonly name: string
  readonly role: Role
  readonly groups: readonly string[]
  /** Team whose part the token may change, or null for all parts. */
  readonly scope: TeamScope | null
  readonly sha256: string
  readonly createdAt: string
  readonly createdBy: string
  readonly isRevoked: boolean
}

/** State that follows from the entries of the log up to a number. */
export interface ControlState {
  readonly seq: number
  readonly groups: ReadonlyMap<string, Group>
  /** Tokens by id, also revoked ones. */
  readonly tokens: ReadonlyMap<string, Token>
}

/** State before the first entry. */
export const EMPTY_STATE: ControlState = { seq: 0, groups: new Map(), tokens: new Map() }

/** Returns a group, empty if it has no deploys. */
export function groupOf({ groups }: ControlState, name: string): Group {
  return groups.get(name) ?? { name, deploys: [], head: null, returnNumber: 0, pending: null }
}

/** True if a member takes the pending deploy before the others. */
export function isCanary({ pending }: Group, member: string): boolean {
  return pending?.canary?.members.some((one) => one.member === member) ?? false
}

/**
 * Returns the state after an entry. Entries that contradict the state, or of unknown types, change nothing: newer
 * controllers may write entries that this one does not know.
 */
export function stateAfter(state: ControlState, entry: NumberedEntry): ControlState {
  const next = { ...state, seq: entry.seq }
  switch (entry.type) {
    case 'deploy.started': {
      const group = groupOf(state, entry.group)
      if (group.pending !== null) return next
      const pending = startedDeploy(entry)
      const deploys = [...group.deploys.slice(-MAX_DEPLOYS + 1), pending]
      return { ...next, groups: withKey(state.groups, group.name, { ...group, deploys, pending }) }
    }
    case 'deploy.committed':
      return changed(next, entry, () => ({ status: 'committed', missing: entry.missing }))
    case 'deploy.aborted':
      return changed(next, entry, () => ({ status: 'aborted', reasons: entry.reasons }))
    case 'canary.activated':
      return changed(next, entry, ({ canary }) =>
        canary?.phase === 'activating'
          ? { canary: { ...canary, phase: 'observing', observedFrom: entry.at } }
          : {},
      )
    case 'canary.passed':
      return changed(next, entry, ({ canary }) =>
        canary === null ? {} : { canary: { ...canary, phase: 'passed', comparison: entry.comparison } },
      )
    case 'token.created': {
      const { token, name, role, groups, scope = null, sha256 } = entry
      const known = { token, name, role, groups, scope, sha256 }
      const created = { ...known, createdAt: entry.at, createdBy: entry.actor }
      return { ...next, tokens: withKey(state.tokens, token, { ...created, isRevoked: false }) }
    }
    case 'token.revoked': {
      const token = state.tokens.get(entry.token)
      if (token === undefined) return next
      return { ...next, tokens: withKey(state.tokens, entry.token, { ...token, isRevoked: true }) }
    }
    default:
      return next
  }
}

/** Returns the digests of the bundles to keep: the last committed ones of each group, and pending ones. */
export function keptBundles({ groups }: ControlState, deploysPerGroup: number): Set<string> {
  const kept = new Set<string>()
  for (const { deploys, pending } of groups.values()) {
    const committed = deploys.filter(({ status }) => status === 'committed')
    for (const { digest, source } of [
      ...committed.slice(-deploysPerGroup),
      ...(pending === null ? [] : [pending]),
    ]) {
      kept.add(digest)
      if (source !== null) kept.add(source)
    }
  }
  return kept
}

function startedDeploy(entry: Extract<NumberedEntry, { readonly type: 'deploy.started' }>): Deploy {
  const { group, digest, source = null, note, rollbackTo } = entry
  const { actor, at, controller, quorumPercent, deadlineMs } = entry
  const origin = { group, digest, source, note, rollbackTo }
  const canary =
    entry.canary === undefined
      ? null
      : { ...entry.canary, phase: 'activating' as const, observedFrom: null, comparison: null }
  const started = { ...origin, actor, at, controller, quorumPercent, deadlineMs }
  return { ...started, deploy: entry.seq, status: 'pending', reasons: [], missing: [], canary }
}

/** Changes the pending deploy. */
function changed(
  state: ControlState,
  { group: name, deploy: number }: { readonly group: string; readonly deploy: number },
  change: (pending: Deploy) => Partial<Deploy>,
): ControlState {
  const group = groupOf(state, name)
  if (group.pending?.deploy !== number) return state
  const deploy = { ...group.pending, ...change(group.pending) }
  const deploys = group.deploys.map((known) => (known.deploy === number ? deploy : known))
  const pending = deploy.status === 'pending' ? deploy : null
  const head = deploy.status === 'committed' ? deploy : group.head
  const isReturn = deploy.status === 'aborted' && deploy.canary !== null
  const returnNumber = isReturn ? state.seq : head === group.head ? group.returnNumber : number
  return { ...state, groups: withKey(state.groups, name, { name, deploys, head, returnNumber, pending }) }
}

function withKey<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  return new Map(map).set(key, value)
}

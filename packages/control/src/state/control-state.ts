import type { NumberedEntry, Role } from '../store/log-entry.js'

/** Maximum number of deploys of a group in memory. Older ones are in the audit trail only. */
const MAX_DEPLOYS = 1000

/** A deploy of a group. */
export interface Deploy {
  /** Number of its first entry in the log. */
  readonly deploy: number
  readonly group: string
  readonly digest: string
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
}

/** A group of gateways. */
export interface Group {
  readonly name: string
  /** Deploys, the oldest first. */
  readonly deploys: readonly Deploy[]
  /** The last committed deploy. Its bundle is what all members should serve. */
  readonly head: Deploy | null
  /** The deploy that is not decided yet. */
  readonly pending: Deploy | null
}

/** A token. Only its digest is known. */
export interface Token {
  readonly token: string
  readonly name: string
  readonly role: Role
  readonly groups: readonly string[]
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
  return groups.get(name) ?? { name, deploys: [], head: null, pending: null }
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
      return decided(next, entry, { status: 'committed', missing: entry.missing })
    case 'deploy.aborted':
      return decided(next, entry, { status: 'aborted', reasons: entry.reasons })
    case 'token.created': {
      const { token, name, role, groups, sha256 } = entry
      const created = { token, name, role, groups, sha256, createdAt: entry.at, createdBy: entry.actor }
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
    for (const { digest } of committed.slice(-deploysPerGroup)) kept.add(digest)
    if (pending !== null) kept.add(pending.digest)
  }
  return kept
}

function startedDeploy(entry: Extract<NumberedEntry, { readonly type: 'deploy.started' }>): Deploy {
  const { group, digest, note, rollbackTo, actor, at, controller, quorumPercent, deadlineMs } = entry
  const written = { group, digest, note, rollbackTo, actor, at, controller, quorumPercent, deadlineMs }
  return { ...written, deploy: entry.seq, status: 'pending', reasons: [], missing: [] }
}

function decided(
  state: ControlState,
  { group: name, deploy: number }: { readonly group: string; readonly deploy: number },
  decision: Partial<Deploy>,
): ControlState {
  const group = groupOf(state, name)
  if (group.pending?.deploy !== number) return state
  const deploy = { ...group.pending, ...decision }
  const deploys = group.deploys.map((known) => (known.deploy === number ? deploy : known))
  const head = deploy.status === 'committed' ? deploy : group.head
  return { ...state, groups: withKey(state.groups, name, { name, deploys, head, pending: null }) }
}

function withKey<T>(map: ReadonlyMap<string, T>, key: string, value: T): ReadonlyMap<string, T> {
  return new Map(map).set(key, value)
}

import type { MemberVote } from '../store/control-store.js'

/** A known member of the group. */
export interface Voter {
  readonly name: string
  readonly isConnected: boolean
  /** Answer to `prepare` of this deploy, or null. */
  readonly vote: MemberVote | null
}

/** Decision about a deploy. */
export type Verdict =
  | { readonly kind: 'wait' }
  | { readonly kind: 'commit'; readonly missing: readonly string[] }
  | { readonly kind: 'abort'; readonly reasons: readonly string[] }

/** State of the vote about a deploy. */
export interface Ballot {
  readonly voters: readonly Voter[]
  /** Share of the known members that must be prepared. */
  readonly quorumPercent: number
  /** True after the deadline of the deploy. */
  readonly isOverdue: boolean
}

/**
 * Decides about a deploy. A refusal aborts it at once. It is committed if every connected member is prepared, and enough
 * of the known ones. Until the deadline, members may still answer or connect.
 */
export function verdictOf({ voters, quorumPercent, isOverdue }: Ballot): Verdict {
  const refusals = voters.filter(({ vote }) => vote?.vote === 'refused')
  if (refusals.length > 0)
    return {
      kind: 'abort',
      reasons: refusals.map(
        ({ name, vote }) => `${name} refused: ${vote!.reasons.join('; ') || 'no reason given'}`,
      ),
    }
  const connected = voters.filter(({ isConnected }) => isConnected)
  const silent = connected.filter(({ vote }) => vote === null)
  const prepared = connected.length - silent.length
  const needed = Math.ceil((voters.length * quorumPercent) / 100)
  if (silent.length === 0 && prepared >= needed)
    return {
      kind: 'commit',
      missing: voters.filter(({ isConnected }) => !isConnected).map(({ name }) => name),
    }
  if (!isOverdue) return { kind: 'wait' }
  const reasons = silent.map(({ name }) => `${name} did not answer in time`)
  if (prepared < needed)
    reasons.push(`${prepared} of ${voters.length} members are prepared, but ${needed} are required`)
  return { kind: 'abort', reasons }
}

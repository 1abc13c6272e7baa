import { visibleText } from '@sluice/core'
import type { AdminAnswer, AdminClient } from '../../admin/admin-client.js'
import type { AnswerPart } from '../../admin/answer-part.js'
import { EXIT, Failure, messageOf } from '../../output/failure.js'

/** A gateway in a fleet. */
export interface FleetMember {
  readonly name: string
  readonly client: AdminClient
}

/** Response of a member. */
export interface MemberAnswer {
  readonly member: FleetMember
  /** Null if the member did not respond. */
  readonly result: string | null
  readonly digest: string | null
  /** Errors, one line each; empty on success. */
  readonly reasons: readonly string[]
}

/** Outcome of a fleet change. Unless the result is `done`, all members keep their previous document. */
export interface FleetOutcome {
  readonly result: 'done' | 'refused' | 'unreachable' | 'stopped'
  /** Digest of the active document, or null if unknown. */
  readonly digest: string | null
  /** Errors. With `done`, these are errors of members that failed after they had prepared the document. */
  readonly reasons: readonly string[]
}

/** A document for all members of a fleet. */
export interface FleetChange {
  readonly text: string
  readonly note: string
  /**
   * Called when all members have prepared the document, before the first one activates it. If it throws, all members
   * discard the document.
   */
  readonly whenPrepared: () => Promise<void>
}

/** Request timeout; longer than a rollout on the slowest worker. */
const TIMEOUT_MS = 120_000
/** Time for which a member keeps a prepared document. */
const HOLD = '2m'
const YAML = { 'content-type': 'application/yaml' }
const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Deploys a document to all members or to none, in two phases. First each member prepares the document while the
 * previous one stays active. If all succeed, each member activates it; the document cannot cause an error here, because
 * activation is one assignment per worker. A member that restarts between the phases loads the document that
 * `whenPrepared` has stored.
 */
export async function changeFleet(
  members: readonly FleetMember[],
  change: FleetChange,
): Promise<FleetOutcome> {
  const prepared = await askAll(members, (member) => put(member, change, `hold=${HOLD}`))
  const held = prepared.filter(({ result }) => result === 'prepared')
  const failed = prepared.filter(({ result }) => result !== 'prepared' && result !== 'unchanged')
  const digests = new Set(prepared.map(({ digest }) => digest))
  if (failed.length > 0 || digests.size > 1) {
    await settleAll(held, 'discard')
    const reasons =
      failed.length > 0
        ? failed.flatMap(linesOf)
        : ['the members computed different digests for the document']
    const isUnreachable = failed.length > 0 && failed.every(({ result }) => result === null)
    return { result: isUnreachable ? 'unreachable' : 'refused', digest: null, reasons }
  }
  try {
    await change.whenPrepared()
  } catch (error) {
    await settleAll(held, 'discard')
    return { result: 'stopped', digest: null, reasons: [messageOf(error)] }
  }
  const activated = await settleAll(held, 'activate')
  const late = activated.filter(({ result }) => result !== 'applied')
  // The other members have already activated the document, so these get it again in one step.
  const again = await applyToAll(
    late.map(({ member }) => member),
    change,
  )
  const lost = again.filter(({ result }) => result !== 'applied' && result !== 'unchanged')
  return { result: 'done', digest: prepared[0]?.digest ?? null, reasons: lost.flatMap(linesOf) }
}

/** Compares this document with the active one of each member. The result `unchanged` means equal. */
export function compareFleet(members: readonly FleetMember[], text: string): Promise<MemberAnswer[]> {
  return askAll(members, (member) => put(member, { text, note: '' }, 'dryRun=1'))
}

/** Applies a document to each member independently. */
export function applyToAll(
  members: readonly FleetMember[],
  change: Pick<FleetChange, 'text' | 'note'>,
): Promise<MemberAnswer[]> {
  return askAll(members, (member) => put(member, change, ''))
}

function settleAll(held: readonly MemberAnswer[], verb: 'activate' | 'discard'): Promise<MemberAnswer[]> {
  const digestOf = new Map(held.map(({ member, digest }) => [member, digest]))
  const settle = (member: FleetMember): Promise<AdminAnswer> => {
    const body = JSON.stringify({ digest: digestOf.get(member) })
    const path = `/v1/config/${verb}`
    return member.client.send({ method: 'POST', path, headers: JSON_TYPE, body, timeoutMs: TIMEOUT_MS })
  }
  return askAll([...digestOf.keys()], settle)
}

function put({ client }: FleetMember, { text, note }: Pick<FleetChange, 'text' | 'note'>, query: string) {
  const more = note === '' ? '' : `&note=${encodeURIComponent(note)}`
  const path = `/v1/config?${query}${more}`
  return client.send({ method: 'PUT', path, headers: YAML, body: text, timeoutMs: TIMEOUT_MS })
}

function askAll(
  members: readonly FleetMember[],
  ask: (member: FleetMember) => Promise<AdminAnswer>,
): Promise<MemberAnswer[]> {
  return Promise.all(
    members.map(async (member) => {
      try {
        const answer = await ask(member)
        return { member, ...readAnswer(member.client.parsed(answer), answer) }
      } catch (error) {
        // Missing permissions are the same for all members.
        if (error instanceof Failure && error.exit === EXIT.unauthorised) throw error
        return { member, result: null, digest: null, reasons: [messageOf(error)] }
      }
    }),
  )
}

function readAnswer(part: AnswerPart, { status }: AdminAnswer): Omit<MemberAnswer, 'member'> {
  const result = part.textOrNull('result') ?? `status ${status}`
  const digest = part.textOrNull('digest')
  if (status === 200) return { result, digest, reasons: [] }
  return { result, digest, reasons: reasonsOf(part, result) }
}

function reasonsOf(part: AnswerPart, result: string): string[] {
  if (result === 'invalid')
    return part
      .parts('diagnostics')
      .map((one) => visibleText(`${one.text('message')} (${one.text('remedy')})`))
  if (result === 'rolled-back') return part.parts('reasons').map((one) => visibleText(one.text('reason')))
  return [visibleText(part.textOrNull('detail') ?? result)]
}

/** Returns the errors of a member, one line each. */
export function linesOf({ member, reasons }: MemberAnswer): string[] {
  return reasons.map((reason) => `${member.name}: ${reason}`)
}

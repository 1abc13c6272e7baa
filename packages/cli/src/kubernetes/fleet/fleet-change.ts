import { visibleText } from '@sluice/core'
import type { AdminAnswer, AdminClient } from '../../admin/admin-client.js'
import type { AnswerPart } from '../../admin/answer-part.js'
import { EXIT, Failure, messageOf } from '../../failure.js'

/** A gateway of a fleet. */
export interface FleetMember {
  readonly name: string
  readonly client: AdminClient
}

/** What a member answered. */
export interface MemberAnswer {
  readonly member: FleetMember
  /** Null: it did not answer. */
  readonly result: string | null
  readonly digest: string | null
  /** Why not, a line each; empty when all is well. */
  readonly reasons: readonly string[]
}

/** How a change of all members ended; with any other result than `done`, all serve what they did before. */
export interface FleetOutcome {
  readonly result: 'done' | 'refused' | 'unreachable' | 'stopped'
  /** Of what serves now; null where nobody said. */
  readonly digest: string | null
  /** Why not; with `done`, what became of members that were lost between preparing and activating. */
  readonly reasons: readonly string[]
}

/** How a document comes to a fleet. */
export interface FleetChange {
  readonly text: string
  readonly note: string
  /** Called when all members have prepared the document, before the first activates it. An error stops the change: all discard the document. */
  readonly whenPrepared: () => Promise<void>
}

/** Longer than a rollout may take on the slowest worker. */
const TIMEOUT_MS = 120_000
/** How long members wait for each other. */
const HOLD = '2m'
const YAML = { 'content-type': 'application/yaml' }
const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Brings a document to all members or to none: each prepares it beside what it serves, and only when all could do so does each
 * activate it, which is one assignment per worker and cannot fail for a reason of the document. A member that is lost
 * between the two starts with what `whenPrepared` has written down for it.
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
      failed.length > 0 ? failed.flatMap(linesOf) : ['the members do not read the document alike']
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
  // Too late for the others to turn back: it gets the document once more, without waiting for anybody.
  const again = await applyToAll(
    late.map(({ member }) => member),
    change,
  )
  const lost = again.filter(({ result }) => result !== 'applied' && result !== 'unchanged')
  return { result: 'done', digest: prepared[0]?.digest ?? null, reasons: lost.flatMap(linesOf) }
}

/** Asks each member whether it serves exactly this document: `unchanged` says yes. */
export function compareFleet(members: readonly FleetMember[], text: string): Promise<MemberAnswer[]> {
  return askAll(members, (member) => put(member, { text, note: '' }, 'dryRun=1'))
}

/** Has each member apply a document by itself, whatever becomes of the others. */
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
        // Who may not do this may not do it anywhere.
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

/** What went wrong at a member, a line each. */
export function linesOf({ member, reasons }: MemberAnswer): string[] {
  return reasons.map((reason) => `${member.name}: ${reason}`)
}

import { visibleText } from '@sluice/core'
import type { AnswerPart } from '../admin/answer-part.js'
import { canaryText } from '../control/canary-line.js'
import { controllerClient, groupPath } from '../control/controller-client.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { Failure } from '../output/failure.js'
import { print, printResult, printTable } from '../output/output.js'
import { minor } from '../output/table.js'
import { ageText, shortDigest } from '../output/text.js'

const HEADINGS = [
  'GATEWAY',
  'GROUP',
  'STATUS',
  minor('DEPLOY', 3),
  'CONFIG',
  minor('VERSION', 1),
  'REQ/S',
  '5XX/S',
  'P99',
  minor('SEEN', 2),
]
const STATUS_TEXTS: Readonly<Record<string, string>> = { inSync: 'in sync' }
/** Difference between the clocks of gateway and controller that is reported, in milliseconds. */
const CLOCK_WARNING_MS = 10_000

interface FleetOptions extends OutputOptions, ServerOptions {
  readonly group?: string
}

/** Prints the gateways of all groups or of one, and why some of them serve something else than their group. */
export async function listFleet(options: FleetOptions): Promise<void> {
  const query = options.group === undefined ? '' : `?group=${encodeURIComponent(options.group)}`
  const client = controllerClient(options)
  const { part } = await client.get(`/v1/members${query}`)
  const isCanary = part.parts('members').some((member) => member.text('status') === 'canary')
  const groups = isCanary ? (await client.get('/v1/groups')).part.parts('groups') : []
  await printResult(part.value, options.output, () => {
    const members = [...part.parts('members')].sort((one, other) =>
      placeOf(one).localeCompare(placeOf(other), 'en', { numeric: true }),
    )
    if (members.length === 0) return print('no gateways are known')
    printTable(HEADINGS, members.map(memberRow), options.output)
    for (const member of members) for (const remark of remarksOf(member)) print(remark)
    for (const group of groups) {
      const canary = group.partOrNull('canary')
      const name = group.text('name')
      if (canary !== null && name === (options.group ?? name))
        print(`${visibleText(name)}: ${canaryText(canary)}`)
    }
  })
}

/** Returns the text to sort gateways by: `gw-2` comes before `gw-10`. */
function placeOf(member: AnswerPart): string {
  return `${member.text('group')} ${member.text('name')}`
}

function memberRow(member: AnswerPart): string[] {
  const status = member.text('status')
  const figures = member.partOrNull('figures')
  const p99 = figures?.numberOrNull('p99Ms') ?? null
  return [
    ...[member.text('name'), member.text('group')].map(visibleText),
    STATUS_TEXTS[status] ?? status,
    String(member.number('deploy')),
    shortDigest(member.textOrNull('digest')),
    visibleText(member.text('version')),
    figures === null ? '-' : figures.number('requestsPerSecond').toFixed(0),
    figures === null ? '-' : figures.number('errorsPerSecond').toFixed(1),
    p99 === null ? '-' : `${p99.toFixed(1)} ms`,
    `${ageText(member.number('seenAgoMs'))} ago`,
  ]
}

function remarksOf(member: AnswerPart): string[] {
  const name = visibleText(member.text('name'))
  const reason = member.textOrNull('reason')
  const lag = member.number('lagDeploys')
  const clock = member.number('clockDifferenceMs')
  return [
    ...(reason === null ? [] : [`${name}: ${visibleText(reason)}`]),
    ...(lag > 0 ? [`${name}: ${lag} deploys behind`] : []),
    ...(Math.abs(clock) >= CLOCK_WARNING_MS
      ? [`${name}: its clock is ${ageText(Math.abs(clock))} ${clock > 0 ? 'ahead' : 'behind'}`]
      : []),
  ]
}

/** Forgets a gateway that was removed for good. */
export async function forgetMember(options: FleetOptions, name: string): Promise<void> {
  const client = controllerClient(options)
  const { part } = await client.get('/v1/members')
  const matching = part
    .parts('members')
    .filter(
      (member) =>
        [member.text('name'), member.text('member')].includes(name) &&
        member.text('group') === (options.group ?? member.text('group')),
    )
  if (matching.length !== 1) {
    const found = matching.length === 0 ? 'no gateway' : `${matching.length} gateways`
    throw new Failure(`there is ${found} named '${name}'; see gw fleet, or use the id from gw fleet -o json`)
  }
  const [group, id] = [matching[0]!.text('group'), matching[0]!.text('member')]
  const answer = await client.send({ method: 'DELETE', path: `${groupPath(group)}/members/${id}` })
  if (answer.status !== 204) throw client.refused(answer)
  await printResult({ group, member: id, name }, options.output, () =>
    print(`forgot ${visibleText(name)} of ${visibleText(group)}`),
  )
}

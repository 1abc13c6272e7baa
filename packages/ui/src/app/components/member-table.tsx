import { hashOf } from '../data/address.js'
import type { Member } from '../data/control-api.js'
import { ageText, latencyText, rateText } from '../data/text.js'
import { Badge, type Column, Table } from './parts.js'

/** Difference between the clocks of gateway and controller that is shown, in milliseconds. */
const CLOCK_WARNING_MS = 10_000
const STATES = {
  inSync: <Badge tone="good">in sync</Badge>,
  drifted: <Badge tone="bad">drifted</Badge>,
  canary: <Badge tone="warn">canary</Badge>,
  away: <Badge tone="bad">away</Badge>,
  unmanaged: <Badge tone="plain">unmanaged</Badge>,
}

/** A table of gateways with what they serve, and why it differs from the bundle of their group. */
export function MemberTable({ members, empty }: { members: readonly Member[]; empty: string }) {
  return (
    <Table
      caption="Gateways"
      columns={COLUMNS}
      rows={members}
      keyOf={({ group, member }) => `${group}/${member}`}
      empty={empty}
    />
  )
}

const COLUMNS: readonly Column<Member>[] = [
  { title: 'Gateway', cell: (member) => <GatewayLink {...member} />, by: ({ name }) => name },
  {
    title: 'Group',
    cell: ({ group }) => <a href={hashOf('groups', group)}>{group}</a>,
    by: ({ group }) => group,
  },
  { title: 'State', cell: ({ status }) => STATES[status], by: ({ status }) => status },
  { title: 'Deploy', cell: ({ deploy }) => (deploy === 0 ? '–' : `#${deploy}`), isNumber: true },
  {
    title: 'Behind',
    cell: ({ lagDeploys }) => lagDeploys,
    by: ({ lagDeploys }) => lagDeploys,
    isNumber: true,
  },
  { title: 'Digest', cell: ({ digest }) => <code>{digest?.slice(0, 12)}</code>, isExtra: true },
  { title: 'Version', cell: ({ version }) => version, by: ({ version }) => version, isExtra: true },
  {
    title: 'Requests/s',
    cell: ({ figures }) => (figures === null ? '–' : rateText(figures.requestsPerSecond)),
    by: ({ figures }) => figures?.requestsPerSecond ?? 0,
    isNumber: true,
    isExtra: true,
  },
  {
    title: 'Errors/s',
    cell: ({ figures }) => (figures === null ? '–' : rateText(figures.errorsPerSecond)),
    by: ({ figures }) => figures?.errorsPerSecond ?? 0,
    isNumber: true,
    isExtra: true,
  },
  { title: 'p99', cell: ({ figures }) => latencyText(figures?.p99Ms ?? null), isNumber: true, isExtra: true },
  { title: 'Seen', cell: ({ seenAgoMs }) => `${ageText(seenAgoMs)} ago`, isNumber: true, isExtra: true },
  { title: 'Reason', cell: reasonsOf },
]

/** Links to the gateway's own dashboard. The controller accepts only web addresses from gateways. */
function GatewayLink({ name, adminUrl }: Member) {
  if (adminUrl === null) return <>{name}</>
  return (
    <a href={`${adminUrl.replace(/\/$/, '')}/ui/`} rel="noreferrer">
      {name}
    </a>
  )
}

function reasonsOf({ reason, clockDifferenceMs, isReady, status }: Member): string {
  const clock = Math.abs(clockDifferenceMs)
  return [
    ...(reason === null ? [] : [reason]),
    ...(isReady || status === 'away' || reason !== null ? [] : ['not ready']),
    ...(clock < CLOCK_WARNING_MS
      ? []
      : [`its clock is ${ageText(clock)} ${clockDifferenceMs > 0 ? 'ahead' : 'behind'}`]),
  ].join('; ')
}

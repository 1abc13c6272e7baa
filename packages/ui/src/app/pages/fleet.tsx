import { MemberTable } from '../components/member-table.js'
import { Badge, Card, type Column, Figure, Problem, Table } from '../components/parts.js'
import { hashOf } from '../data/address.js'
import { useAnswer } from '../data/answer.js'
import type { Group, Member } from '../data/control-api.js'
import { rateText } from '../data/text.js'

/** Interval of requests to the controller, in milliseconds. */
const POLL_MS = 2000

/** All groups, and the gateways that do not serve what their group should serve. */
export function Fleet() {
  const { value, problem } = useAnswer<{ readonly groups: readonly Group[] }>('/v1/groups', POLL_MS)
  const fleet = useAnswer<{ readonly members: readonly Member[] }>('/v1/members', POLL_MS)
  if (value === null || fleet.value === null)
    return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  const { members } = fleet.value
  return (
    <>
      <Problem text={problem ?? fleet.problem} />
      <Figures members={members} />
      <Card title="Groups">
        <Table
          caption="Groups"
          columns={COLUMNS}
          rows={value.groups}
          keyOf={({ name }) => name}
          empty="No gateway is connected, and nothing was deployed yet."
        />
      </Card>
      <Card title="Gateways that are not in sync">
        <MemberTable
          members={members.filter(({ status }) => status !== 'inSync')}
          empty="All gateways serve the bundle of their group."
        />
      </Card>
    </>
  )
}

function Figures({ members }: { members: readonly Member[] }) {
  const withStatus = (wanted: Member['status']) => members.filter(({ status }) => status === wanted).length
  const sum = (figure: 'requestsPerSecond' | 'errorsPerSecond') =>
    members.reduce(
      (total, { status, figures }) => total + (status === 'away' ? 0 : (figures?.[figure] ?? 0)),
      0,
    )
  const [drifted, away] = [withStatus('drifted'), withStatus('away')]
  return (
    <dl class="figures">
      <Figure name="Gateways" value={String(members.length)} />
      <Figure name="In sync" value={String(withStatus('inSync'))} />
      <Figure name="Drifted" value={String(drifted)} tone={drifted > 0 ? 'bad' : ''} />
      <Figure name="Away" value={String(away)} tone={away > 0 ? 'bad' : ''} />
      <Figure name="Requests/s" value={rateText(sum('requestsPerSecond'))} />
      <Figure name="Errors/s (5xx)" value={rateText(sum('errorsPerSecond'))} />
    </dl>
  )
}

const COLUMNS: readonly Column<Group>[] = [
  { title: 'Group', cell: ({ name }) => <a href={hashOf('groups', name)}>{name}</a>, by: ({ name }) => name },
  { title: 'Deploy', cell: ({ head }) => (head === null ? '–' : `#${head.deploy}`), isNumber: true },
  { title: 'Digest', cell: ({ head }) => <code>{head?.digest.slice(0, 12)}</code>, isExtra: true },
  { title: 'Note', cell: ({ head }) => head?.note, isExtra: true },
  { title: 'Gateways', cell: ({ members }) => members, by: ({ members }) => members, isNumber: true },
  { title: 'Connected', cell: ({ connected }) => connected, isNumber: true },
  { title: 'In sync', cell: ({ inSync }) => inSync, isNumber: true },
  {
    title: 'Running deploy',
    cell: ({ pending }) =>
      pending === null ? null : (
        <>
          <Badge tone="warn">#{pending.deploy}</Badge> by {pending.actor}
        </>
      ),
  },
]

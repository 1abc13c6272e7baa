import { MemberTable } from '../components/member-table.js'
import { Badge, Card, type Column, Figure, Problem, Table } from '../components/parts.js'
import { useAnswer } from '../data/answer.js'
import type { Deploy, Group, Member } from '../data/control-api.js'
import { ageText, latencyText, shareText } from '../data/text.js'

/** Interval of requests to the controller, in milliseconds. */
const POLL_MS = 2000
const TONES = { pending: 'warn', committed: 'plain', aborted: 'bad' } as const

/** A group: its running deploy, its gateways, and its history. */
export function GroupPage({ name }: { name: string }) {
  const path = `/v1/groups/${encodeURIComponent(name)}`
  const group = useAnswer<Group>(path, POLL_MS)
  const fleet = useAnswer<{ readonly members: readonly Member[] }>(
    `/v1/members?group=${encodeURIComponent(name)}`,
    POLL_MS,
  )
  const history = useAnswer<{ readonly deploys: readonly Deploy[] }>(`${path}/deploys`, POLL_MS)
  const problem = group.problem ?? fleet.problem ?? history.problem
  if (group.value === null || fleet.value === null || history.value === null)
    return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  const { head, pending, canary } = group.value
  return (
    <>
      <Problem text={problem} />
      {pending === null ? null : <RunningDeploy deploy={pending} canary={canary} />}
      <Card title="Gateways">
        <MemberTable members={fleet.value.members} empty="No gateway of this group has connected." />
      </Card>
      <Card title="History">
        <Table
          caption="Deploys"
          columns={columnsFor(head)}
          rows={history.value.deploys}
          keyOf={({ deploy }) => String(deploy)}
          empty="Nothing was deployed yet."
        />
      </Card>
    </>
  )
}

const PHASES = {
  activating: 'The canaries take the bundle.',
  observing: 'The canaries are compared with the other gateways.',
  passed: 'The canaries have passed. The other gateways prepare the bundle.',
} as const

function RunningDeploy({ deploy, canary }: { deploy: Deploy; canary: Group['canary'] }) {
  return (
    <Card title={`Running deploy #${deploy.deploy}`} note={deploy.digest.slice(0, 12)}>
      <p>
        {deploy.actor} started it {ageText(Date.now() - Date.parse(deploy.at))} ago. {deploy.note}
      </p>
      {canary === null ? null : <Canary canary={canary} />}
    </Card>
  )
}

function Canary({ canary }: { canary: NonNullable<Group['canary']> }) {
  const { phase, members, leftMs, abortOn, notChecked, others } = canary
  const compared = (title: string, figures: typeof others) => (
    <>
      <h3>{title}</h3>
      <dl class="figures">
        <Figure name="Gateways" value={String(figures.gateways)} />
        <Figure name="Responses" value={String(figures.responses)} />
        <Figure name="Errors (5xx)" value={figures.errors === null ? '–' : shareText(figures.errors)} />
        <Figure name="p50" value={latencyText(figures.p50Ms)} />
        <Figure name="p99" value={latencyText(figures.p99Ms)} />
      </dl>
    </>
  )
  return (
    <>
      <p>
        {PHASES[phase]} {leftMs === null ? '' : `${ageText(leftMs)} are left.`} The deploy is aborted if{' '}
        <code>{abortOn}</code>.
      </p>
      {notChecked.length === 0 ? null : <p class="warning">Not checked: {notChecked.join('; ')}</p>}
      {compared(`Canaries: ${members.join(', ')}`, canary.canary)}
      {compared('Other gateways', others)}
    </>
  )
}

function columnsFor(head: Deploy | null): readonly Column<Deploy>[] {
  const isActive = ({ deploy }: Deploy): boolean => deploy === head?.deploy
  return [
    { title: 'Deploy', cell: ({ deploy }) => `#${deploy}` },
    {
      title: 'State',
      cell: (deploy) =>
        isActive(deploy) ? (
          <Badge tone="good">active</Badge>
        ) : (
          <Badge tone={TONES[deploy.status]}>{deploy.status}</Badge>
        ),
    },
    { title: 'Digest', cell: ({ digest }) => <code>{digest.slice(0, 12)}</code>, isExtra: true },
    { title: 'Age', cell: ({ at }) => <time dateTime={at}>{ageText(Date.now() - Date.parse(at))}</time> },
    { title: 'By', cell: ({ actor }) => actor },
    {
      title: 'Note',
      cell: ({ note, rollbackTo }) =>
        rollbackTo === null ? note : `${note === '' ? '' : `${note}, `}rollback to #${rollbackTo}`,
    },
    { title: 'Result', cell: resultOf },
  ]
}

function resultOf({ reasons, missing }: Deploy): string {
  return [...reasons, ...(missing.length === 0 ? [] : [`without ${missing.join(', ')}`])].join('; ')
}

import { useState } from 'preact/hooks'
import { Confirmation } from '../components/confirmation.js'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import type { Session, Target, Upstream } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { request } from '../data/request.js'
import { shareText } from '../data/text.js'

interface Change {
  readonly upstream: string
  readonly target: string
  readonly isDrained: boolean
}

const RELOAD_MS = 3000

/** All upstreams with the state of their targets. Operators can drain targets. */
export function Upstreams({ session }: { session: Session }) {
  const { value, problem, reload } = useAnswer<{ readonly upstreams: readonly Upstream[] }>(
    '/v1/upstreams',
    RELOAD_MS,
  )
  const [change, setChange] = useState<Change | null>(null)
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  const onChange = session.role === 'viewer' ? null : setChange
  return (
    <>
      {value.upstreams.length === 0 ? <p class="empty">The active plan has no upstreams.</p> : null}
      {value.upstreams.map((upstream) => (
        <Card key={upstream.name} title={upstream.name} note={noteOf(upstream)}>
          <Table
            caption={`Targets of ${upstream.name}`}
            columns={columnsFor(upstream, onChange)}
            rows={upstream.targets}
            keyOf={({ url, role }) => `${role} ${url}`}
            empty="It has no targets."
          />
        </Card>
      ))}
      {change === null ? null : <ChangeDialog change={change} onClose={() => closeDialog()} />}
    </>
  )

  function closeDialog(): void {
    setChange(null)
    reload()
  }
}

function ChangeDialog({ change, onClose }: { change: Change; onClose: () => void }) {
  const { upstream, target, isDrained } = change
  const drain = async (): Promise<string> => {
    await request('POST', `/v1/upstreams/${isDrained ? 'undrain' : 'drain'}`, { upstream, target })
    return isDrained ? `${target} receives requests again` : `${target} is drained`
  }
  const title = isDrained ? 'End the drain of this target?' : 'Drain this target?'
  return (
    <Confirmation title={title} action={isDrained ? 'Undrain' : 'Drain'} onConfirm={drain} onClose={onClose}>
      <p>
        <code>{target}</code> of <b>{upstream}</b>
      </p>
      <p>
        {isDrained
          ? 'It receives new requests again.'
          : 'It receives no new requests until you undrain it. Requests in flight finish.'}
      </p>
    </Confirmation>
  )
}

function noteOf({ balance, canary }: Upstream): string {
  if (canary === undefined) return balance
  const aborted = canary.abortedWorkers === 0 ? '' : `, aborted in ${canary.abortedWorkers} workers`
  return `${balance}, canary ${shareText(canary.percent)} by ${canary.key}${aborted}`
}

function columnsFor(
  upstream: Upstream,
  onChange: ((change: Change) => void) | null,
): readonly Column<Target>[] {
  const count = (title: string, name: string, isExtra = false): Column<Target> => ({
    title,
    cell: ({ numbers }) => (numbers[name] ?? 0).toLocaleString('en'),
    by: ({ numbers }) => numbers[name] ?? 0,
    isNumber: true,
    isExtra,
  })
  const columns: readonly Column<Target>[] = [
    {
      title: 'Target',
      cell: ({ url, role }) => (
        <>
          <code>{url}</code> {role === 'primary' ? null : <Badge tone="plain">{role}</Badge>}
        </>
      ),
      by: ({ url }) => url,
    },
    { title: 'State', cell: (target) => <State target={target} /> },
    { title: 'Weight', cell: ({ weight }) => weight, isNumber: true, isExtra: true },
    count('Active', 'gw_upstream_active', true),
    count('Attempts', 'gw_upstream_attempts_total'),
    count('Failures', 'gw_upstream_failures_total'),
    count('Breaker openings', 'gw_upstream_breaker_openings_total', true),
  ]
  if (onChange === null) return columns
  return [
    ...columns,
    { title: 'Action', cell: (target) => <DrainButton {...{ upstream, target, onChange }} /> },
  ]
}

function DrainButton(props: { upstream: Upstream; target: Target; onChange: (change: Change) => void }) {
  const { url, state } = props.target
  const change = { upstream: props.upstream.name, target: url, isDrained: state.drained }
  const word = state.drained ? 'Undrain' : 'Drain'
  return (
    <button type="button" aria-label={`${word} ${url}`} onClick={() => props.onChange(change)}>
      {word}
    </button>
  )
}

/** Shows the health check's result, a drain, and the states that the workers see. */
function State({ target: { state } }: { target: Target }) {
  const seen = Object.entries(state.workers)
  const out = seen.filter(
    ([name]) => name !== 'closed' && name !== 'available' && name !== 'ok' && name !== 'up',
  )
  const healthTone = state.health === 'healthy' ? 'good' : state.health === 'unhealthy' ? 'bad' : 'plain'
  return (
    <>
      <Badge tone={healthTone}>{state.health}</Badge>{' '}
      {state.drained ? <Badge tone="warn">drained</Badge> : null}{' '}
      {out.map(([name, workers]) => (
        <Badge key={name} tone="plain">
          {name}: {workers} {workers === 1 ? 'worker' : 'workers'}
        </Badge>
      ))}
      {state.problem === null ? null : <span class="bad"> {state.problem}</span>}
    </>
  )
}

import { useEffect, useState } from 'preact/hooks'
import { Changes } from '../components/changes.js'
import { Confirmation } from '../components/confirmation.js'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import { Source } from '../components/source.js'
import { isActive } from '../data/active-deploy.js'
import type { Change, Deploy, Deploys, Document, Session } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { request } from '../data/request.js'
import { ageText } from '../data/text.js'
import { Trial } from './trial.js'

const RELOAD_MS = 10_000

/** The deploys with their differences, the active document and its plan. Admins can roll back and try documents. */
export function Configuration({ session }: { session: Session }) {
  const { value, problem, reload } = useAnswer<Deploys>('/v1/deploys', RELOAD_MS)
  const [target, setTarget] = useState<Deploy | null>(null)
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  const close = (): void => {
    setTarget(null)
    reload()
  }
  return (
    <>
      <Card title="History">
        <Table
          caption="Deploys"
          columns={columnsFor(value, session.role === 'admin' ? setTarget : null)}
          rows={value.deploys}
          keyOf={({ id }) => id}
          empty="No document was deployed yet."
        />
      </Card>
      {value.deploys.length > 1 ? <Comparison deploys={value.deploys} /> : null}
      <ActiveDocument digest={value.digest ?? ''} />
      <ActivePlan digest={value.digest ?? ''} />
      {session.role === 'admin' ? <Trial /> : null}
      {target === null ? null : <RollbackDialog deploy={target} onClose={close} />}
    </>
  )
}

function columnsFor(
  history: Deploys,
  onRollback: ((deploy: Deploy) => void) | null,
): readonly Column<Deploy>[] {
  const columns: readonly Column<Deploy>[] = [
    { title: 'Deploy', cell: ({ id }) => `#${id}` },
    {
      title: 'Digest',
      cell: (deploy) => (
        <>
          <code>{deploy.digest.slice(0, 12)}</code>{' '}
          {isActive(deploy, history) ? <Badge tone="good">active</Badge> : null}
        </>
      ),
    },
    { title: 'Age', cell: ({ at }) => <time dateTime={at}>{ageText(Date.now() - Date.parse(at))}</time> },
    { title: 'By', cell: ({ actor }) => actor, isExtra: true },
    { title: 'From', cell: ({ origin }) => origin, isExtra: true },
    { title: 'Note', cell: ({ note }) => note },
  ]
  if (onRollback === null) return columns
  const button = (deploy: Deploy) =>
    deploy.digest === history.digest ? null : (
      <button type="button" aria-label={`Roll back to #${deploy.id}`} onClick={() => onRollback(deploy)}>
        Roll back
      </button>
    )
  return [...columns, { title: 'Action', cell: button }]
}

function Comparison({ deploys }: { deploys: readonly Deploy[] }) {
  const [to, setTo] = useState(deploys[0]!.id)
  const [from, setFrom] = useState(deploys[1]!.id)
  const { value, problem } = useAnswer<{ readonly changes: readonly Change[] }>(
    `/v1/deploys/diff?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
  )
  const select = (id: string, label: string, chosen: string, set: (id: string) => void) => (
    <>
      <label for={id}>{label}</label>
      <select id={id} value={chosen} onChange={(event) => set(event.currentTarget.value)}>
        {deploys.map((deploy) => (
          <option key={deploy.id} value={deploy.id}>
            #{deploy.id} {deploy.note}
          </option>
        ))}
      </select>
    </>
  )
  return (
    <Card title="Differences">
      <div class="filter">
        {select('from', 'From', from, setFrom)}
        {select('to', 'To', to, setTo)}
      </div>
      <Problem text={problem} />
      {value === null || problem !== null ? null : <Changes changes={value.changes} />}
    </Card>
  )
}

function ActivePlan({ digest }: { digest: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Active plan" note={digest.slice(0, 12)}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The document with its defaults, as JSON. Secrets are masked.</summary>
        {isOpen ? <PlanText key={digest} /> : null}
      </details>
    </Card>
  )
}

function PlanText() {
  const { value, problem } = useAnswer<unknown>('/v1/plan')
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  return <Source label="Plan" text={JSON.stringify(value, null, 2)} />
}

function ActiveDocument({ digest }: { digest: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Card title="Active document" note={digest.slice(0, 12)}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>The document as YAML, without its comments. Secrets are masked.</summary>
        {isOpen ? <DocumentText key={digest} /> : null}
      </details>
    </Card>
  )
}

function DocumentText() {
  const { value, problem } = useAnswer<Document>('/v1/config')
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  return <Source label="Document" text={value.yaml} />
}

function RollbackDialog({ deploy, onClose }: { deploy: Deploy; onClose: () => void }) {
  const [changes, setChanges] = useState<readonly Change[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    request<{ readonly changes: readonly Change[] }>('POST', '/v1/rollback?dryRun=1', { to: deploy.id }).then(
      (answer) => setChanges(answer.changes),
      (error: Error) => setProblem(error.message),
    )
  }, [deploy.id])
  const rollBack = async (): Promise<string> => {
    await request('POST', '/v1/rollback', { to: deploy.id })
    return `Rolled back to #${deploy.id}`
  }
  return (
    <Confirmation
      title={`Roll back to #${deploy.id}?`}
      action="Roll back"
      onConfirm={rollBack}
      onClose={onClose}
    >
      <p>The document of this deploy becomes active on all workers. These are the changes:</p>
      <Problem text={problem} />
      {changes === null ? null : <Changes changes={changes} />}
    </Confirmation>
  )
}

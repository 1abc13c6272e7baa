import { useEffect, useState } from 'preact/hooks'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import type { ExplainedPolicy, Explanation } from '../data/admin-api.js'
import { request } from '../data/request.js'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
/** Maximum number of other routes to show. */
const MAX_LOSERS = 20

/** A form that explains what the gateway does with a request. Nothing is sent. */
export function Explain({ query }: { query: URLSearchParams }) {
  const [method, setMethod] = useState(query.get('method') ?? 'GET')
  const [url, setUrl] = useState(query.get('url') ?? '')
  const [headers, setHeaders] = useState('')
  const [consumer, setConsumer] = useState({ ...NOBODY, id: query.get('consumer') ?? '' })
  const [answer, setAnswer] = useState<Explanation | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const clientIp = query.get('clientIp')
  const ask = (event?: Event): void => {
    event?.preventDefault()
    setProblem(null)
    const asked = { method, url, headers: fieldsOf(headers), ...consumerPart(consumer) }
    request<Explanation>('POST', '/v1/explain', clientIp === null ? asked : { ...asked, clientIp }).then(
      setAnswer,
      (error: Error) => {
        setAnswer(null)
        setProblem(error.message)
      },
    )
  }
  // A link from a recorded request asks at once.
  useEffect(() => {
    if (url !== '') ask()
  }, [])
  return (
    <>
      <form class="card" onSubmit={ask}>
        <p>
          Shows which route handles a request, which policies run, and why other routes do not match. Nothing
          is sent.
        </p>
        <div class="request">
          <div>
            <label for="method">Method</label>
            <select id="method" value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
              {METHODS.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
          <div>
            <label for="url">URL or path</label>
            <input
              id="url"
              required
              placeholder="/orders/7"
              value={url}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
          </div>
        </div>
        <label for="headers">Headers, one per line</label>
        <textarea
          id="headers"
          rows={3}
          placeholder="accept: application/json"
          value={headers}
          onInput={(event) => setHeaders(event.currentTarget.value)}
        />
        <details open={consumer.id !== ''}>
          <summary>Assume a consumer, as if it had logged in</summary>
          <ConsumerFields consumer={consumer} onChange={setConsumer} />
        </details>
        <div class="buttons">
          <button type="submit" class="primary">
            Explain
          </button>
        </div>
        <Problem text={problem} />
      </form>
      <div aria-live="polite">{answer === null ? null : <Answer answer={answer} />}</div>
    </>
  )
}

/** Parses lines such as `accept: text/plain`. */
function fieldsOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => line.split(/:(.*)/s).map((part) => part.trim()))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]))
}

/** An assumed consumer. Lists are separated by commas. */
interface AssumedConsumer {
  readonly id: string
  readonly groups: string
  readonly roles: string
  readonly scopes: string
}

const NOBODY: AssumedConsumer = { id: '', groups: '', roles: '', scopes: '' }
const CONSUMER_LABELS = { id: 'Consumer id', groups: 'Groups', roles: 'Roles', scopes: 'Scopes' } as const

function ConsumerFields(props: { consumer: AssumedConsumer; onChange: (next: AssumedConsumer) => void }) {
  const { consumer, onChange } = props
  const names = Object.keys(CONSUMER_LABELS) as (keyof AssumedConsumer)[]
  return (
    <div class="filters">
      {names.map((name) => (
        <div key={name}>
          <label for={`consumer-${name}`}>{CONSUMER_LABELS[name]}</label>
          <input
            id={`consumer-${name}`}
            value={consumer[name]}
            placeholder={name === 'id' ? 'ann' : 'one, two'}
            onInput={(event) => onChange({ ...consumer, [name]: event.currentTarget.value })}
          />
        </div>
      ))}
    </div>
  )
}

function consumerPart({ id, ...lists }: AssumedConsumer): object {
  if (id.trim() === '') return {}
  const items = (text: string): string[] =>
    text
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean)
  const present = Object.entries(lists).filter(([, text]) => text.trim() !== '')
  return {
    consumer: { id: id.trim(), ...Object.fromEntries(present.map(([name, text]) => [name, items(text)])) },
  }
}

function Answer({ answer: { request: asked, outcome, refusal, route, losers } }: { answer: Explanation }) {
  const query = asked.query === '' ? '' : `?${asked.query}`
  return (
    <>
      <Card title="Answer">
        <p>
          <code>
            {asked.method} {asked.scheme}://{asked.host}
            {asked.path}
            {query}
          </code>
        </p>
        {outcome === 'health' ? <p>The listener answers it as a health check.</p> : null}
        {refusal === null ? null : (
          <p>
            <Badge tone="bad">{refusal.status}</Badge> <code>{refusal.code}</code> {refusal.detail}
          </p>
        )}
        {route === null ? null : <RouteLine route={route} />}
      </Card>
      {route === null ? null : (
        <Card title="Policies" note="in the order in which they run">
          <Table
            caption={`Policies of ${route.id}`}
            columns={POLICY_COLUMNS}
            rows={route.policies}
            keyOf={({ id }) => id}
            empty="The route has no policies."
          />
        </Card>
      )}
      {losers.length === 0 ? null : (
        <Card
          title="Other routes"
          note={losers.length > MAX_LOSERS ? `the first ${MAX_LOSERS} of ${losers.length}` : ''}
        >
          <Table
            caption="Other routes"
            columns={LOSER_COLUMNS}
            rows={losers.slice(0, MAX_LOSERS)}
            keyOf={({ id }) => id}
            empty=""
          />
        </Card>
      )}
    </>
  )
}

function RouteLine({ route: { id, params, action } }: { route: NonNullable<Explanation['route']> }) {
  const targets = (action.targets ?? []).map(({ url }) => url).join(', ')
  return (
    <ul class="list">
      <li>
        Route <a href={`#/routes/${encodeURIComponent(id)}`}>{id}</a>
      </li>
      {Object.entries(params).map(([name, value]) => (
        <li key={name}>
          Parameter {name} <code>{value}</code>
        </li>
      ))}
      {action.kind === 'proxy' ? (
        <>
          <li>
            Upstream{' '}
            <span>
              <b>{action.upstream}</b> <code>{targets}</code>
            </span>
          </li>
          <li>
            Path for the upstream <code>{action.path ?? 'depends on a reference'}</code>
          </li>
        </>
      ) : (
        <li>
          Answers <b>{action.status}</b> {action.location ?? ''}
        </li>
      )}
    </ul>
  )
}

const VERDICTS = {
  always: 'runs',
  true: 'runs: its condition is true',
  false: 'skipped: its condition is false',
  fails: 'its condition cannot be evaluated',
  unknown: 'runs if its condition is true then',
} as const

const POLICY_COLUMNS: readonly Column<ExplainedPolicy>[] = [
  { title: 'Policy', cell: ({ id, use }) => <NameOf id={id} use={use} /> },
  {
    title: 'Runs',
    cell: ({ verdict, when, decision }) => (
      <>
        <Verdict verdict={verdict} when={when} />
        {decision === null ? null : (
          <div>
            {decision.refusal === null ? (
              <Badge tone="good">allows this consumer</Badge>
            ) : (
              <>
                <Badge tone="bad">refuses this consumer</Badge> <code>{decision.refusal}</code>{' '}
                {decision.reason}
              </>
            )}
          </div>
        )}
      </>
    ),
  },
  { title: 'Cost', cell: (policy) => costText(policy), isExtra: true },
  {
    title: 'Configuration',
    cell: ({ meaning, with: settings }) => (
      <>
        {meaning.map((sentence) => (
          <div key={sentence}>{sentence}</div>
        ))}
        <code>{JSON.stringify(settings)}</code>
      </>
    ),
  },
]

const LOSER_COLUMNS: readonly Column<Explanation['losers'][number]>[] = [
  { title: 'Route', cell: ({ id }) => <a href={`#/routes/${encodeURIComponent(id)}`}>{id}</a> },
  { title: 'Path', cell: ({ path }) => <code>{path}</code>, isExtra: true },
  { title: 'Why not', cell: ({ reason }) => reason },
]

function NameOf({ id, use }: { id: string; use: string }) {
  return (
    <>
      <b>{use}</b> {id === use ? null : <span class="soft">{id}</span>}
    </>
  )
}

function Verdict({ verdict, when }: Pick<ExplainedPolicy, 'verdict' | 'when'>) {
  return (
    <>
      {VERDICTS[verdict]} {when === null ? null : <code>{when}</code>}
    </>
  )
}

function costText({ cost, measured, buffers }: ExplainedPolicy): string {
  const kind = cost === 'cheap' ? 'little' : cost === 'cpu' ? 'CPU time' : 'a call to another server'
  const micros =
    measured === null ? '' : `, ${measured.addedMicros < 1 ? '< 1' : Math.round(measured.addedMicros)} µs`
  const held = buffers === null || buffers.length === 0 ? '' : `, holds the ${buffers.join(' and ')} body`
  return `${kind}${micros}${held}`
}

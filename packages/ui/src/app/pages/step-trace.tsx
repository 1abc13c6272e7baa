import { useEffect, useRef, useState } from 'preact/hooks'
import { Badge, Card, type Column, Problem, Table } from '../components/parts.js'
import type { Route, Session, StepChange, StepTrace, TracedStep } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { stream } from '../data/stream.js'

type Line =
  | { readonly kind: 'armed' }
  | { readonly kind: 'trace'; readonly trace: StepTrace }
  | { readonly kind: 'end'; readonly reason: string; readonly lost: number }

/** Number of traces that stay on the page. */
const MAX_SHOWN = 50

/** Shows what each policy does to live requests. */
export function StepTraces({ session }: { session: Session }) {
  const [route, setRoute] = useState('')
  const [when, setWhen] = useState('')
  const [count, setCount] = useState(10)
  const [traces, setTraces] = useState<readonly StepTrace[]>([])
  const [state, setState] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const running = useRef<AbortController | null>(null)
  const [isRunning, setRunning] = useState(false)
  useEffect(() => () => running.current?.abort(), [])
  const routes = useAnswer<{ readonly routes: readonly Route[] }>('/v1/routes').value?.routes ?? []

  async function start(event: Event): Promise<void> {
    event.preventDefault()
    const control = new AbortController()
    running.current = control
    setRunning(true)
    setProblem(null)
    setTraces([])
    setState('Starting …')
    const body = { route: route || null, when: when || null, count, seconds: 600 }
    const onLine = (line: Line): void => {
      if (line.kind === 'armed') setState('Waiting for requests …')
      else if (line.kind === 'trace') setTraces((last) => [line.trace, ...last].slice(0, MAX_SHOWN))
      else setState(endText(line))
    }
    await stream<Line>('/v1/step-traces', body, { signal: control.signal, onLine }).catch((error: Error) => {
      setState('')
      setProblem(error.message)
    })
    if (control.signal.aborted) setState('Stopped.')
    if (running.current === control) setRunning(false)
  }

  if (session.role === 'viewer') return <p class="empty">Step traces need the role operator.</p>
  return (
    <>
      <form class="card" onSubmit={(event) => void start(event)}>
        <p>Shows what each policy does to live requests: its result, its duration and what it changes.</p>
        <label for="route">Route</label>
        <select id="route" value={route} onChange={(event) => setRoute(event.currentTarget.value)}>
          <option value="">All routes</option>
          {routes.map(({ id }) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
        <label for="when">Condition</label>
        <input
          id="when"
          placeholder="res.status == 401"
          value={when}
          onInput={(event) => setWhen(event.currentTarget.value)}
        />
        <label for="count">Number of requests</label>
        <input
          id="count"
          type="number"
          min="1"
          max="1000"
          required
          value={count}
          onInput={(event) => setCount(event.currentTarget.valueAsNumber)}
        />
        <div class="buttons">
          {isRunning ? (
            <button type="button" onClick={() => running.current?.abort()}>
              Stop
            </button>
          ) : (
            <button type="submit" class="primary">
              Trace
            </button>
          )}
        </div>
        <Problem text={problem} />
      </form>
      <p class="soft" role="status">
        {state}
      </p>
      {traces.map((trace) => (
        <Trace key={trace.id} trace={trace} />
      ))}
    </>
  )
}

function endText({ reason, lost }: Extract<Line, { kind: 'end' }>): string {
  const why =
    reason === 'count' ? 'All requests are traced.' : reason === 'duration' ? 'The time is over.' : 'Stopped.'
  return lost === 0 ? why : `${why} ${lost} more matched, but were too many at once.`
}

function Trace({ trace }: { trace: StepTrace }) {
  const { method, path, query, status, code, route, ms, worker, upstream } = trace
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'
  return (
    <Card title={`${method} ${path}${query === '' ? '' : `?${query}`}`} note={`${ms.toFixed(1)} ms`}>
      <p>
        <Badge tone={tone}>{status}</Badge> <code>{code}</code> route{' '}
        <a href={`#/routes/${encodeURIComponent(route)}`}>{route}</a>, worker {worker}
        {upstream === null ? '' : `, upstream ${upstream.name} ${upstream.target}`}
        <br />
        <span class="soft">
          id <code>{trace.id}</code> {trace.traceId === '' ? null : <code>trace {trace.traceId}</code>}
        </span>
      </p>
      <Table
        caption={`Steps of ${trace.id}`}
        columns={COLUMNS}
        rows={trace.steps.map((step, i) => ({ ...step, key: String(i) }))}
        keyOf={({ key }) => key}
        empty="No policies ran."
      />
      {trace.lostSteps === 0 ? null : (
        <p class="soft">{trace.lostSteps} steps or their changes are left out.</p>
      )}
    </Card>
  )
}

const TONES = { continue: 'plain', respond: 'warn', skipped: 'plain', error: 'bad' } as const

const COLUMNS: readonly Column<TracedStep & { readonly key: string }>[] = [
  { title: 'Phase', cell: ({ phase }) => phase.replace('_', ' '), isExtra: true },
  {
    title: 'Policy',
    cell: ({ policy, use }) => (
      <>
        <b>{use === '' ? policy : use}</b> {use === policy ? null : <span class="soft">{policy}</span>}
      </>
    ),
  },
  {
    title: 'Result',
    cell: ({ outcome, note }) => (
      <>
        <Badge tone={TONES[outcome]}>{outcome}</Badge> {note}
      </>
    ),
  },
  { title: 'µs', cell: ({ micros }) => micros.toLocaleString('en'), isNumber: true },
  {
    title: 'Changes',
    cell: ({ changes }) => changes.map((change) => <Change key={keyOf(change)} change={change} />),
  },
]

function keyOf({ what, side, name }: StepChange): string {
  return `${what} ${side} ${name}`
}

function Change({ change: { what, side, name, before, after, diff } }: { change: StepChange }) {
  const label = what === 'header' ? name : what === 'variable' ? `vars.${name}` : `${side} ${what}`
  if (what === 'filter') return <div class="change">response body: changed while it is sent</div>
  const isHidden = what === 'body' && diff === null
  return (
    <div>
      {before === null && after === null ? <code class="change">~ {label}</code> : null}
      {before === null ? null : <Value mark="-" text={`${label}: ${before}`} />}
      {after === null ? null : <Value mark="+" text={`${label}: ${after}`} />}
      {isHidden ? <span class="soft">not shown</span> : null}
      {diff === null ? null : (
        <pre>
          {diff.map((line, i) => (
            <div key={i} class={line[0] === '+' ? 'add' : line[0] === '-' ? 'remove' : ''}>
              {line}
            </div>
          ))}
        </pre>
      )}
    </div>
  )
}

function Value({ mark, text }: { mark: '+' | '-'; text: string }) {
  return (
    <div>
      <code class={mark === '+' ? 'add' : 'remove'}>
        {mark} {text}
      </code>
    </div>
  )
}

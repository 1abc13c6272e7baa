import type { Counts, Rates } from '@sluice/core/traffic-rates'
import { useState } from 'preact/hooks'
import { Badge, Card, type Column, Figure, Problem, Table } from '../components/parts.js'
import type { Policy, Route, RouteTraffic } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { currentRates, useLive } from '../data/live.js'
import { latencyText, rateText, shareText } from '../data/text.js'

interface RoutesAnswer {
  readonly routes: readonly Route[]
}

/** A route with its figures. */
interface Row {
  readonly route: Route
  readonly rates: Rates
}

const NO_RATES: Rates = { requests: 0, errors: 0, clientErrors: 0, p50: null, p90: null, p99: null }
const RELOAD_MS = 10_000
/** Maximum number of rows; the filter finds the others. */
const MAX_ROWS = 500

const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'Route',
    cell: ({ route }) => <a href={`#/routes/${encodeURIComponent(route.id)}`}>{route.id}</a>,
    by: ({ route }) => route.id,
  },
  {
    title: 'Path',
    cell: ({ route }) => <code>{pathOf(route)}</code>,
    by: ({ route }) => pathOf(route),
    isExtra: true,
  },
  {
    title: 'Goes to',
    cell: ({ route }) => destinationOf(route),
    by: ({ route }) => destinationOf(route),
    isExtra: true,
  },
  {
    title: 'Requests/s',
    cell: ({ rates }) => rateText(rates.requests),
    by: ({ rates }) => rates.requests,
    isNumber: true,
  },
  {
    title: '5xx',
    cell: ({ rates }) => <span class={rates.errors > 0 ? 'bad' : ''}>{shareText(errorShare(rates))}</span>,
    by: ({ rates }) => errorShare(rates),
    isNumber: true,
  },
  {
    title: 'p50',
    cell: ({ rates }) => latencyText(rates.p50),
    by: ({ rates }) => rates.p50 ?? -1,
    isNumber: true,
  },
  {
    title: 'p99',
    cell: ({ rates }) => latencyText(rates.p99),
    by: ({ rates }) => rates.p99 ?? -1,
    isNumber: true,
  },
]

/** All routes with their figures of the last ten seconds. */
export function Routes() {
  const { value, problem } = useAnswer<RoutesAnswer>('/v1/routes', RELOAD_MS)
  const { metrics } = useLive()
  const [filter, setFilter] = useState('')
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  const rates = metrics === null ? new Map<string, Rates>() : currentRates(metrics).routes
  const wanted = value.routes.filter((route) => matches(route, filter.toLowerCase()))
  const rows = wanted.map((route) => ({ route, rates: rates.get(route.id) ?? NO_RATES }))
  const shown = rows.toSorted((a, b) => b.rates.requests - a.rates.requests).slice(0, MAX_ROWS)
  return (
    <>
      <div class="filter">
        <label for="filter">Filter</label>
        <input
          id="filter"
          type="search"
          placeholder="route, path, host or upstream"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <span role="status">
          {shown.length} of {value.routes.length} routes
        </span>
      </div>
      <Card title="Routes" note="figures of the last 10 s">
        <Table
          caption="Routes"
          columns={COLUMNS}
          rows={shown}
          keyOf={({ route }) => route.id}
          sortedBy="Requests/s"
          empty="No route matches the filter."
        />
      </Card>
    </>
  )
}

const POLICY_COLUMNS: readonly Column<Policy>[] = [
  {
    title: 'Policy',
    cell: ({ id, use }) =>
      id === use ? (
        <b>{use}</b>
      ) : (
        <>
          <b>{use}</b> <span class="soft">{id}</span>
        </>
      ),
  },
  {
    title: 'Condition',
    cell: ({ when }) => (when === null ? <span class="soft">always</span> : <code>{when}</code>),
  },
  {
    title: 'Configuration',
    cell: ({ with: settings }) => <code class="json">{JSON.stringify(settings)}</code>,
  },
]

/** Returns a column with the mean duration of each policy that was measured. */
function meanColumn(policies: RouteTraffic['policies']): Column<Policy> {
  const meanMs = ({ id }: Policy): number => {
    const { count = 0, seconds = 0 } = policies[id] ?? {}
    return count === 0 ? -1 : (seconds / count) * 1000
  }
  const cell = (policy: Policy): string => (meanMs(policy) < 0 ? '–' : `${meanMs(policy).toFixed(3)} ms`)
  return { title: 'Mean time', cell, by: meanMs, isNumber: true }
}

/** One route: its figures, its match criteria and its policies. */
export function RoutePage({ id }: { id: string }) {
  const { value, problem } = useAnswer<RoutesAnswer>('/v1/routes', RELOAD_MS)
  const { metrics } = useLive()
  const route = value?.routes.find((each) => each.id === id)
  const back = <a href="#/routes">All routes</a>
  if (value === null) return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  if (route === undefined) return <p class="empty">The active plan has no such route. {back}</p>
  const rates = (metrics === null ? undefined : currentRates(metrics).routes.get(id)) ?? NO_RATES
  const traffic = metrics?.routes.find((each) => each.id === id)
  const { hosts, methods, when } = route.match
  return (
    <>
      <p>{back}</p>
      <dl class="figures">
        <Figure name="Requests/s" value={rateText(rates.requests)} />
        <Figure name="4xx" value={rateText(rates.clientErrors)} />
        <Figure name="5xx" value={rateText(rates.errors)} tone={rates.errors > 0 ? 'bad' : ''} />
        <Figure name="p50" value={latencyText(rates.p50)} />
        <Figure name="p90" value={latencyText(rates.p90)} />
        <Figure name="p99" value={latencyText(rates.p99)} />
      </dl>
      <div class="columns">
        <Card title="Match">
          <ul class="list">
            <li>
              Path <code>{pathOf(route)}</code>
            </li>
            <li>
              Hosts <code>{hosts.join(' ') || '*'}</code>
            </li>
            <li>
              Methods <code>{methods.join(' ') || '*'}</code>
            </li>
            {when === null ? null : (
              <li>
                Condition <code>{when}</code>
              </li>
            )}
            <li>
              Goes to <b>{destinationOf(route)}</b>
            </li>
          </ul>
        </Card>
        <CountsCard title="Responses" counts={traffic?.requests ?? {}} empty="No requests yet." />
        {Object.keys(traffic?.errors ?? {}).length === 0 ? null : (
          <CountsCard title="Error codes" counts={traffic!.errors} empty="" />
        )}
      </div>
      <Card title="Policies" note="in the order of the document">
        <Table
          caption={`Policies of ${id}`}
          columns={[...POLICY_COLUMNS, meanColumn(traffic?.policies ?? {})]}
          rows={route.policies}
          keyOf={(policy) => policy.id}
          empty="The route has no policies."
        />
      </Card>
    </>
  )
}

function CountsCard({ title, counts, empty }: { title: string; counts: Counts; empty: string }) {
  const rows = Object.entries(counts).filter(([, count]) => count > 0)
  return (
    <Card title={title} note="since the start">
      {rows.length === 0 ? <p class="empty">{empty}</p> : null}
      <ul class="list">
        {rows.map(([name, count]) => (
          <li key={name}>
            <Badge tone={name.startsWith('5') ? 'bad' : name.startsWith('2') ? 'good' : 'plain'}>
              {name}
            </Badge>{' '}
            <b>{count.toLocaleString('en')}</b>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function pathOf({ match }: Route): string {
  return match.path.text || '/*'
}

function destinationOf({ action }: Route): string {
  return action.upstream ?? `${action.kind} ${action.status ?? ''}`
}

function errorShare({ requests, errors }: Rates): number {
  return requests === 0 ? 0 : errors / requests
}

function matches(route: Route, filter: string): boolean {
  const texts = [route.id, pathOf(route), destinationOf(route), ...route.match.hosts]
  return texts.some((text) => text.toLowerCase().includes(filter))
}

import { growth, type Rates } from '@sluice/core/traffic-rates'
import { Chart } from '../components/chart.js'
import { Badge, Card, type Column, Figure, Problem, Table } from '../components/parts.js'
import { isActive } from '../data/active-deploy.js'
import type { Deploys, Metrics, Status, Worker } from '../data/admin-api.js'
import { useAnswer } from '../data/answer.js'
import { currentRates, liveFigures, useLive } from '../data/live.js'
import { ageText, latencyText, rateText, shareText, sizeText } from '../data/text.js'

/** Number of deploys and of error codes to show. */
const MAX_ROWS = 6
const DEPLOYS_MS = 10_000
const DAY_S = 86_400

/** Traffic, workers, certificates and deploys at a glance. */
export function Overview() {
  const { status, metrics, problem } = useLive()
  if (status === null || metrics === null)
    return problem === null ? <p class="empty">Loading …</p> : <Problem text={problem} />
  return (
    <>
      <Figures rates={currentRates(metrics).total} status={status} />
      {status.warnings.map((warning) => (
        <p key={warning} class="warning">
          {warning}
        </p>
      ))}
      <Charts />
      <Card title="Workers" note={`version ${status.version}, up ${ageText(status.uptimeMs)}`}>
        <Table
          caption="Workers"
          columns={WORKER_COLUMNS}
          rows={status.workers}
          keyOf={({ id }) => String(id)}
          empty=""
        />
      </Card>
      <div class="columns">
        <LastDeploys />
        <Errors metrics={metrics} />
        <Certificates metrics={metrics} />
      </div>
    </>
  )
}

function Figures({ rates, status }: { rates: Rates; status: Status }) {
  const { requests, errors, p50, p90, p99 } = rates
  const share = requests === 0 ? 0 : errors / requests
  const inFlight = status.workers.reduce((sum, worker) => sum + worker.inFlight, 0)
  const ready = status.workers.filter(({ state }) => state === 'ready').length
  return (
    <dl class="figures">
      <Figure name="Requests/s" value={rateText(requests)} />
      <Figure name="Errors (5xx)" value={shareText(share)} tone={share > 0.01 ? 'bad' : ''} />
      <Figure name="p50" value={latencyText(p50)} />
      <Figure name="p90" value={latencyText(p90)} />
      <Figure name="p99" value={latencyText(p99)} />
      <Figure name="In flight" value={String(inFlight)} />
      <Figure
        name="Workers ready"
        value={`${ready} of ${status.workers.length}`}
        tone={ready < status.workers.length ? 'bad' : ''}
      />
    </dl>
  )
}

function Charts() {
  const { points } = liveFigures.live
  const timesMs = points.map(({ atMs }) => atMs)
  return (
    <div class="columns">
      <Card title="Requests per second">
        <Chart
          title="Requests per second"
          timesMs={timesMs}
          format={rateText}
          lines={[
            { name: 'all', colour: 'blue', values: points.map((point) => point.requests), isFilled: true },
            { name: '4xx', colour: 'amber', values: points.map((point) => point.clientErrors) },
            { name: '5xx', colour: 'red', values: points.map((point) => point.errors) },
          ]}
        />
      </Card>
      <Card title="Latency">
        <Chart
          title="Latency"
          timesMs={timesMs}
          format={latencyText}
          lines={[
            { name: 'p99', colour: 'red', values: points.map((point) => point.p99) },
            { name: 'p90', colour: 'amber', values: points.map((point) => point.p90) },
            { name: 'p50', colour: 'blue', values: points.map((point) => point.p50) },
          ]}
        />
      </Card>
    </div>
  )
}

const WORKER_COLUMNS: readonly Column<Worker>[] = [
  { title: 'Worker', cell: ({ id }) => id, by: ({ id }) => id },
  { title: 'State', cell: ({ state }) => <Badge tone={state === 'ready' ? 'good' : 'warn'}>{state}</Badge> },
  { title: 'In flight', cell: ({ inFlight }) => inFlight, by: ({ inFlight }) => inFlight, isNumber: true },
  { title: 'Connections', cell: ({ connections }) => connections, isNumber: true, isExtra: true },
  {
    title: 'Memory',
    cell: ({ rssBytes }) => sizeText(rssBytes),
    by: ({ rssBytes }) => rssBytes,
    isNumber: true,
  },
  {
    title: 'Loop lag',
    cell: ({ loopLagMs }) => `${loopLagMs.toFixed(0)} ms`,
    by: ({ loopLagMs }) => loopLagMs,
    isNumber: true,
  },
  { title: 'Restarts', cell: ({ restarts }) => restarts, isNumber: true, isExtra: true },
  { title: 'Up', cell: ({ uptimeMs }) => ageText(uptimeMs), isNumber: true, isExtra: true },
]

function LastDeploys() {
  const { value } = useAnswer<Deploys>('/v1/deploys', DEPLOYS_MS)
  const deploys = value?.deploys.slice(0, MAX_ROWS) ?? []
  return (
    <Card title="Last deploys">
      <ul class="list">
        {deploys.map((deploy) => (
          <li key={deploy.id}>
            <span>
              #{deploy.id} <code>{deploy.digest.slice(0, 12)}</code>{' '}
              {isActive(deploy, value!) ? <Badge tone="good">active</Badge> : null}
              <span class="soft">
                {' '}
                {deploy.note === '' ? '' : `${deploy.note}, `}by {deploy.actor}
              </span>
            </span>
            <time dateTime={deploy.at}>{ageText(Date.now() - Date.parse(deploy.at))} ago</time>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Errors({ metrics }: { metrics: Metrics }) {
  const recent = growth(liveFigures.first?.errors ?? {}, metrics.errors)
  const rows = Object.entries(metrics.errors).sort((a, b) => recent[b[0]]! - recent[a[0]]! || b[1] - a[1])
  return (
    <Card title="Error codes" note="since the start">
      {rows.length === 0 ? <p class="empty">No errors.</p> : null}
      <ul class="list">
        {rows.slice(0, MAX_ROWS).map(([code, count]) => (
          <li key={code}>
            <code>{code}</code> <b>{count.toLocaleString('en')}</b>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Certificates({ metrics }: { metrics: Metrics }) {
  return (
    <Card title="Certificates">
      {metrics.certificates.length === 0 ? <p class="empty">No certificates are in use.</p> : null}
      <ul class="list">
        {metrics.certificates.map(({ file, expiresSeconds }) => (
          <li key={file}>
            <span class="path">{file}</span> <Expiry seconds={expiresSeconds} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Expiry({ seconds }: { seconds: number | null }) {
  if (seconds === null) return <Badge tone="bad">unusable</Badge>
  const days = Math.floor(seconds / DAY_S)
  if (days < 0) return <Badge tone="bad">expired</Badge>
  return <Badge tone={days > 30 ? 'good' : days > 7 ? 'warn' : 'bad'}>{days} days left</Badge>
}

import { Badge, Card } from './components/parts.js'
import type { Address } from './data/address.js'
import type { Session } from './data/admin-api.js'
import { liveFigures, useLive } from './data/live.js'
import { Configuration } from './pages/configuration.js'
import { Explain } from './pages/explain.js'
import { Log } from './pages/log.js'
import { Overview } from './pages/overview.js'
import { RecordPage } from './pages/record.js'
import { RoutePage, Routes } from './pages/routes.js'
import { StepTraces } from './pages/step-trace.js'
import { TracePage, Traces } from './pages/trace.js'
import { Upstreams } from './pages/upstreams.js'
import { Shell } from './shell.js'

/** Names of the pages by the first part of the address. */
const PAGES: Readonly<Record<string, string>> = {
  '': 'Overview',
  routes: 'Routes',
  upstreams: 'Upstreams',
  log: 'Log',
  traces: 'Traces',
  configuration: 'Configuration',
  explain: 'Explain',
  steps: 'Step trace',
}

/** The whole dashboard of a gateway. */
export function Dashboard() {
  return (
    <Shell
      pages={PAGES}
      page={(address, session: Session) => <Page address={address} session={session} />}
      state={<GatewayState />}
      login={<p>Log in with a token of the admin API. Its role decides what you can change.</p>}
      onSession={(session) => (session === null ? liveFigures.stop() : liveFigures.start())}
    />
  )
}

function Page({ address, session }: { address: Address; session: Session }) {
  const { page, id, query } = address
  const isViewer = session.role === 'viewer'
  switch (page) {
    case '':
      return <Overview />
    case 'routes':
      return id === null ? <Routes /> : <RoutePage id={id} />
    case 'upstreams':
      return <Upstreams session={session} />
    case 'configuration':
      return <Configuration session={session} />
    case 'explain':
      return <Explain key={String(query)} query={query} />
    case 'log':
      if (isViewer) return <NotAllowed />
      return id === null ? <Log query={query} /> : <RecordPage key={id} id={id} />
    case 'traces':
      if (isViewer) return <NotAllowed />
      return id === null ? <Traces /> : <TracePage key={id} id={id} />
    case 'steps':
      return <StepTraces session={session} />
    default:
      return <p class="empty">There is no such page.</p>
  }
}

function NotAllowed() {
  return (
    <Card title="Not allowed">
      <p>Records of requests may contain personal data. Reading them needs a token with the role operator.</p>
    </Card>
  )
}

/** Shows whether the gateway is ready, and whether the figures are current. */
function GatewayState() {
  const { status, problem } = useLive()
  if (problem !== null) return <Badge tone="bad">{problem}</Badge>
  if (status === null) return <Badge tone="plain">connecting</Badge>
  if (status.draining) return <Badge tone="warn">draining</Badge>
  return status.ready ? (
    <Badge tone="good">ready</Badge>
  ) : (
    <Badge tone="bad">not ready: {status.reason}</Badge>
  )
}

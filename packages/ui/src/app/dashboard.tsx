import { useEffect, useRef, useState } from 'preact/hooks'
import { Announcement } from './components/announcement.js'
import { Badge, Card } from './components/parts.js'
import { type Address, useAddress } from './data/address.js'
import type { Session } from './data/admin-api.js'
import { liveFigures, useLive } from './data/live.js'
import { type Refused, request } from './data/request.js'
import { Configuration } from './pages/configuration.js'
import { Explain } from './pages/explain.js'
import { Log } from './pages/log.js'
import { Login } from './pages/login.js'
import { Overview } from './pages/overview.js'
import { RecordPage } from './pages/record.js'
import { RoutePage, Routes } from './pages/routes.js'
import { StepTraces } from './pages/step-trace.js'
import { TracePage, Traces } from './pages/trace.js'
import { Upstreams } from './pages/upstreams.js'

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

/** The whole dashboard: the login, or a page with its navigation. */
export function Dashboard() {
  const [session, setSession] = useState<Session | null>(null)
  const [problem, setProblem] = useState<string | null>('')
  const load = (): void => {
    request<Session>('GET', '/v1/session').then(setSession, (error: Refused) =>
      setProblem(error.status === 401 ? null : error.message),
    )
  }
  useEffect(load, [])
  useEffect(() => {
    liveFigures.onLoggedOut = () => {
      setSession(null)
      setProblem(null)
    }
    if (session === null) liveFigures.stop()
    else liveFigures.start()
  }, [session])
  if (session !== null) return <Pages session={session} onLogout={() => void logOut()} />
  if (problem === '') return <p class="empty">Loading …</p>
  return <Login problem={problem} onLogin={setSession} />

  async function logOut(): Promise<void> {
    await request('DELETE', '/v1/session').catch((error: unknown) => error)
    setSession(null)
    setProblem(null)
  }
}

function Pages({ session, onLogout }: { session: Session; onLogout: () => void }) {
  const address = useAddress()
  const { page: name, id } = address
  const title = PAGES[name] ?? 'Not found'
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${id === null ? title : id} · Sluice`
    if (!isFirst.current) heading.current?.focus()
    isFirst.current = false
  }, [name, id])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header>
        <span class="brand">Sluice</span>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([page, label]) => (
            <a key={page} href={`#/${page}`} {...(page === name ? { 'aria-current': 'page' as const } : {})}>
              {label}
            </a>
          ))}
        </nav>
        <GatewayState />
        <div class="user">
          <span>
            {session.name} <span class="role">{session.role}</span>
          </span>
          {session.isLoginRequired ? (
            <button type="button" onClick={onLogout}>
              Log out
            </button>
          ) : null}
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <h1 ref={heading} tabIndex={-1}>
          {id === null ? title : id}
        </h1>
        <Page address={address} session={session} />
      </main>
      <Announcement />
    </>
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

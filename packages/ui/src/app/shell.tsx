import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Announcement } from './components/announcement.js'
import { type Address, useAddress } from './data/address.js'
import { type Refused, request, sessionEnd } from './data/request.js'
import { Login } from './pages/login.js'

/** Fields that the sessions of gateways and controllers share. */
interface ShellSession {
  readonly name: string
  readonly role: string
  readonly isLoginRequired: boolean
}

interface ShellProps<S> {
  /** Titles of the pages by the first part of the address. */
  readonly pages: Readonly<Record<string, string>>
  readonly page: (address: Address, session: S) => ComponentChildren
  /** State to show in the header. */
  readonly state: ComponentChildren
  /** Explains the login. */
  readonly login: ComponentChildren
  /** Called when a session begins, and with null when it ends. */
  readonly onSession?: (session: S | null) => void
}

/** The frame of a dashboard: the login, or a page with its navigation. */
export function Shell<S extends ShellSession>(props: ShellProps<S>) {
  const [session, setSession] = useState<S | null>(null)
  const [problem, setProblem] = useState<string | null>('')
  useEffect(() => {
    request<S>('GET', '/v1/session').then(setSession, (error: Refused) =>
      setProblem(error.status === 401 ? null : error.message),
    )
    sessionEnd.listener = end
  }, [])
  useEffect(() => props.onSession?.(session), [session])
  if (session !== null) return <Pages {...props} session={session} onLogout={() => void logOut()} />
  if (problem === '') return <p class="empty">Loading …</p>
  return (
    <Login problem={problem} onLogin={setSession}>
      {props.login}
    </Login>
  )

  function end(): void {
    setSession(null)
    setProblem(null)
  }

  async function logOut(): Promise<void> {
    const { logoutUrl } = await request<{ readonly logoutUrl?: string | null }>(
      'DELETE',
      '/v1/session',
    ).catch(() => ({ logoutUrl: null }))
    end()
    // Without this, the provider would log the person in again without asking.
    if (typeof logoutUrl === 'string') location.assign(logoutUrl)
  }
}

interface PagesProps<S> extends ShellProps<S> {
  readonly session: S
  readonly onLogout: () => void
}

function Pages<S extends ShellSession>({ pages, page, state, session, onLogout }: PagesProps<S>) {
  const address = useAddress()
  const { page: name, id } = address
  const title = pages[name] ?? 'Not found'
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
          {Object.entries(pages).map(([each, label]) => (
            <a key={each} href={`#/${each}`} {...(each === name ? { 'aria-current': 'page' as const } : {})}>
              {label}
            </a>
          ))}
        </nav>
        {state}
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
        {page(address, session)}
      </main>
      <Announcement />
    </>
  )
}

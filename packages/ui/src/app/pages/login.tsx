import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Problem } from '../components/parts.js'
import { request } from '../data/request.js'

/** Asks for a token. The children explain what it is for. */
export function Login<S>({
  problem,
  onLogin,
  children,
}: {
  problem: string | null
  onLogin: (session: S) => void
  children: ComponentChildren
}) {
  const [token, setToken] = useState('')
  const [failure, setFailure] = useState<string | null>(problem)
  const logIn = (event: Event): void => {
    event.preventDefault()
    request<S>('POST', '/v1/session', { token }).then(onLogin, (error: Error) => setFailure(error.message))
  }
  return (
    <main class="login">
      <form class="card" onSubmit={logIn}>
        <h1>Sluice</h1>
        {children}
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <Problem text={failure} />
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
    </main>
  )
}

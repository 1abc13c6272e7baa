import { useState } from 'preact/hooks'
import { Problem } from '../components/parts.js'
import type { Session } from '../data/admin-api.js'
import { request } from '../data/request.js'

/** Asks for an admin token. */
export function Login({ problem, onLogin }: { problem: string | null; onLogin: (session: Session) => void }) {
  const [token, setToken] = useState('')
  const [failure, setFailure] = useState<string | null>(problem)
  const logIn = (event: Event): void => {
    event.preventDefault()
    request<Session>('POST', '/v1/session', { token }).then(onLogin, (error: Error) =>
      setFailure(error.message),
    )
  }
  return (
    <main class="login">
      <form class="card" onSubmit={logIn}>
        <h1>Sluice</h1>
        <p>Log in with a token of the admin API. Its role decides what you can change.</p>
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
